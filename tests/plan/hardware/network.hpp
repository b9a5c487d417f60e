// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Devices and directed links in plain loops: collectives go over them block by block and hop by hop; the bytes of each
/// link, and the rounds, are counted. The oracle of plan/hardware/collective_time.hpp; it uses none of its formulas.

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace network {

/// Bytes by device and the side on which they leave it, +1 or −1 along an axis: two devices of a ring have two links.
class loads {
 public:
  explicit loads(int n) : n_(n) {}
  void add(int from, int side, double bytes) { carried_[{from, side}] += bytes; }
  [[nodiscard]] double most() const {
    double most = 0;
    for (auto const& [way, bytes] : carried_) most = std::max(most, bytes);
    return most;
  }
  /// The most bytes of both directions of a link together.
  [[nodiscard]] double most_of_both() const {
    double most = 0;
    for (auto const& [way, bytes] : carried_) {
      auto const back = carried_.find({(way.first + way.second + n_) % n_, -way.second});
      most = std::max(most, bytes + (back == carried_.end() ? 0 : back->second));
    }
    return most;
  }

 private:
  int n_;
  std::map<std::pair<int, int>, double> carried_;
};

/// The outcome of a collective: the bytes of the busiest link, and the rounds of neighbours' messages until all had
/// arrived.
struct outcome {
  double most = 0;
  double most_of_both = 0;
  int rounds = 0;
  bool complete = true;
};

inline outcome outcome_of(loads const& l, int rounds, bool complete) {
  return {l.most(), l.most_of_both(), rounds, complete};
}

/// Every device passes on what came from the left to the right and the reverse; a block that would arrive from both
/// sides at once comes half from each. At a line's ends nothing goes further.
inline outcome gather(int n, double bytes, bool wraps) {
  loads carried(n);
  std::vector<std::vector<double>> has(std::size_t(n), std::vector<double>(std::size_t(n), 0));  // of each block
  struct message {
    int at, block;
    double part;
  };
  std::vector<message> right;
  std::vector<message> left;
  for (int d = 0; d < n; ++d) {
    has[std::size_t(d)][std::size_t(d)] = 1;
    right.push_back({d, d, 1});
    left.push_back({d, d, 1});
  }
  int rounds = 0;
  auto const incomplete = [&] {
    for (auto const& of : has)
      for (double part : of)
        if (part < 1) return true;
    return false;
  };
  while (incomplete() && rounds < 2 * n) {
    ++rounds;
    std::vector<message> next[2];
    auto const pass = [&](std::vector<message> const& all, int step, int side) {
      for (message m : all) {
        int to = m.at + step;
        if (!wraps && (to < 0 || to >= n)) continue;
        to = (to + n) % n;
        if (wraps && 2 * rounds == n) m.part = 0.5;  // the opposite device gets it from both sides
        if (wraps && 2 * rounds > n) continue;
        carried.add(m.at, step, bytes / n * m.part);
        has[std::size_t(to)][std::size_t(m.block)] += m.part;
        next[side].push_back({to, m.block, m.part});
      }
    };
    pass(right, 1, 0);
    pass(left, -1, 1);
    right = next[0];
    left = next[1];
  }
  return outcome_of(carried, rounds, !incomplete());
}

/// One device after another along a route of neighbours.
inline int walk(loads& carried, int from, int hops, int step, int n, double bytes) {
  for (int h = 0; h < hops; ++h, from = (from + step + n) % n) carried.add(from, step, bytes);
  return hops;
}

/// Each device sends each other its part along the shorter way, half of it each way if they are equally long.
inline outcome all_to_all(int n, double bytes, bool wraps) {
  loads carried(n);
  int rounds = 0;
  for (int s = 0; s < n; ++s)
    for (int d = 0; d < n; ++d) {
      if (s == d) continue;
      double const part = bytes / n / n;
      int const up = (d - s + n) % n;
      int const down = n - up;
      if (!wraps)
        rounds = std::max(rounds, walk(carried, s, std::abs(d - s), d > s ? 1 : -1, n, part));
      else if (up == down) {
        rounds = std::max(rounds, walk(carried, s, up, 1, n, part / 2));
        walk(carried, s, down, -1, n, part / 2);
      } else {
        rounds = std::max(rounds, walk(carried, s, std::min(up, down), up < down ? 1 : -1, n, part));
      }
    }
  return outcome_of(carried, rounds, true);
}

/// Each device sends to the next one, the last to the first: over the wrap, or back over all others.
inline outcome shift(int n, double bytes, bool wraps) {
  loads carried(n);
  for (int d = 0; d + 1 < n; ++d) walk(carried, d, 1, 1, n, bytes);
  int const back = wraps ? walk(carried, n - 1, 1, 1, n, bytes) : walk(carried, n - 1, n - 1, -1, n, bytes);
  return outcome_of(carried, back, true);
}

/// A torus of n × n, or a grid that does not wrap: half of the bytes is gathered along rows, then along columns, the
/// other half the other way round. Both go on at once, on links of their own.
inline outcome gather_on_torus(int n, double bytes, bool wraps) {
  double row_links = 0;
  double column_links = 0;
  int rounds = 0;
  for (bool rows_first : {true, false}) {
    double const own = bytes / 2 / n / n;
    outcome const first = gather(n, own * n, wraps);       // of each device's own
    outcome const second = gather(n, own * n * n, wraps);  // of what its row or column has
    row_links += rows_first ? first.most : second.most;
    column_links += rows_first ? second.most : first.most;
    rounds = first.rounds + second.rounds;
  }
  return {std::max(row_links, column_links), 0, rounds, true};
}

/// The same of rows × columns: each part goes along the row first, then along the column, by the shorter way.
inline outcome all_to_all_on_torus(int rows, int columns, double bytes, bool wraps) {
  int const n = rows * columns;
  double const part = bytes / n / n;
  // A device sends each column of its row the parts for all devices of that column; then each has the parts of all
  // columns for its own.
  outcome const along_rows = all_to_all(columns, part * rows * columns * columns, wraps);
  outcome const along_columns = all_to_all(rows, part * columns * rows * rows, wraps);
  return {std::max(along_rows.most, along_columns.most), 0, along_rows.rounds + along_columns.rounds, true};
}

/// Through a switch: what goes into a device, message by message.
struct switched_outcome {
  double most_in = 0;
  int messages = 0;
};

inline switched_outcome gather_switched(int n, double bytes) {
  std::vector<double> in(std::size_t(n), 0);
  int messages = 0;
  for (int s = 0; s < n; ++s)
    for (int d = 0; d < n; ++d)
      if (s != d) {
        in[std::size_t(d)] += bytes / n;
        messages += d == 0;
      }
  return {*std::max_element(in.begin(), in.end()), messages};
}

inline switched_outcome all_to_all_switched(int n, double bytes) { return gather_switched(n, bytes / n); }

}  // namespace network
