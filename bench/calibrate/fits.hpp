// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Fits the numbers of a machine to times measured at many sizes: rates by size, and the overhead of a message besides
/// its bytes.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <ostraka/foresight/machine.hpp>

namespace calibrate {

namespace os = ostraka;

struct timed {
  double bytes, seconds;
};

inline double distance(double a, double b) { return std::abs(std::log(a / b)); }

/// The rate of the sizes up to `short_bytes`, as a geometric mean; adds the rate of each longer size to `longer`.
inline double rates_of(std::vector<timed> const& all, double short_bytes, os::planner::rates_by_size& longer) {
  double sum = 0;
  int number = 0;
  for (timed const& t : all)
    if (double const rate = t.bytes / t.seconds; t.bytes <= short_bytes)
      sum += std::log(rate), ++number;
    else
      longer.add({t.bytes, rate});
  return std::exp(sum / number);
}

/// α, β, and the size from which messages take a handshake, fitted to short messages: the fit that is nearest to the
/// times in the geometric mean. For a given rate and size, the overheads without and with a handshake are those whose
/// times are nearest to the messages'.
inline os::link link_of(std::vector<timed> const& all) {
  os::link best;
  double least = 1e300;
  for (std::size_t cut = 2; cut < all.size(); ++cut)  // the first `cut` sizes have no handshake
    for (double rate = 1e7; rate < 1e12; rate *= 1.03) {
      auto const beside = [&](std::size_t from, std::size_t to) {
        double best_of_all = 0;
        double off_least = 1e300;
        for (double alpha = 1e-8; alpha < 1e-3; alpha *= 1.05) {
          double off = 0;
          for (std::size_t i = from; i < to; ++i) off += distance(alpha + all[i].bytes / rate, all[i].seconds);
          if (off < off_least) off_least = off, best_of_all = alpha;
        }
        return timed{off_least, best_of_all};
      };
      timed const without = beside(0, cut);
      timed const with = beside(cut, all.size());
      if (without.bytes + with.bytes >= least || with.seconds < without.seconds) continue;
      least = without.bytes + with.bytes;
      best = {
          rate, without.seconds, os::link_shape::switched, true, with.seconds - without.seconds, all[cut - 1].bytes};
    }
  return best;
}

/// The same, with the measured rates of longer messages.
inline os::link link_of(std::vector<timed> const& all, double short_bytes) {
  std::vector<timed> short_ones;
  for (timed const& t : all)
    if (t.bytes <= short_bytes) short_ones.push_back(t);
  os::link l = link_of(short_ones);
  for (timed const& t : all)
    if (t.bytes > short_bytes)
      l.of_size.add({t.bytes, t.bytes / std::max(t.seconds - message_seconds(l, t.bytes), t.seconds / 2)});
  return l;
}

}  // namespace calibrate
