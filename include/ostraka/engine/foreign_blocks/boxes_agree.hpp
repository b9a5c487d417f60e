// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Checks that the boxes of all devices make up a tensor, each element once. Each device knows only its own
/// boxes, so the devices exchange them, and all find the same fault.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/engine/collectives/counts.hpp>
#include <ostraka/engine/foreign_blocks/foreign_layout.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

namespace detail {

// Returns "I = [4, 5), J = [0, 3)".
[[gnu::cold]] inline std::string box_in_words(execution_context const& w, planner::spec const& s,
                                              planner::box const& b) {
  std::string text;
  for (int d = 0; d < b.rank; ++d)
    append_text(text, d > 0 ? ", " : "", w.names.labels[s.label[d]], " = [", b.at[d].begin, ", ", b.at[d].end, ')');
  return b.rank == 0 ? "the one element" : text;
}

[[gnu::cold]] inline bool begins_before(planner::box const& a, planner::box const& b) {
  for (int d = 0; d < a.rank; ++d)
    if (a.at[d].begin != b.at[d].begin) return a.at[d].begin < b.at[d].begin;
  return false;
}

/// Looks for faults in the boxes of all devices.
class boxes_check {
 public:
  boxes_check(execution_context const& w, planner::spec const& s, foreign_layout const& arrays)
      : w_(w), s_(s), arrays_(arrays) {
    whole_.rank = s.rank;
    for (int d = 0; d < s.rank; ++d) whole_.at[d] = {0, w.sizes.label[s.label[d]]};
    for (std::size_t d = 0; d + 1 < arrays.first.size(); ++d)
      for (std::size_t k = arrays.first[d]; k < arrays.first[d + 1]; ++k)
        if (!is_empty(arrays.boxes[k])) boxes_.push_back({arrays.boxes[k], static_cast<int>(d)});
  }

  /// @throws ostraka::error for the first box that reaches beyond the tensor, otherwise for the first overlap,
  /// otherwise for the first gap, in the order of the indices
  void require_tiling() {
    std::int64_t elements = 0;
    for (held const& h : boxes_) {
      require_within(h);
      elements += h.where.size();
    }
    if (arrays_.others_are_unknown) return;
    find_overlaps();
    if (overlap_.where.size() > 0) refuse_overlap();
    if (elements != whole_.size()) refuse_gap();
  }

 private:
  struct held {
    planner::box where;
    int device;
  };
  struct shared {
    planner::box where{1, {}};
    int device[2]{};
  };

  // A box that ends before it begins is not empty: it is a fault, such as a negative extent.
  static bool is_empty(planner::box const& b) {
    bool empty = false;
    for (int d = 0; d < b.rank; ++d) {
      if (b.at[d].end < b.at[d].begin) return false;
      empty = empty || b.at[d].end == b.at[d].begin;
    }
    return empty;
  }

  void require_within(held const& h) const {
    for (int d = 0; d < s_.rank; ++d)
      if (h.where.at[d].begin < 0 || h.where.at[d].end < h.where.at[d].begin || h.where.at[d].end > whole_.at[d].end)
        throw_error(w_.operation, ": boxes lie within the tensor, but device ", h.device, " holds ",
                    box_in_words(w_, s_, h.where), ", and the tensor is ", box_in_words(w_, s_, whole_),
                    "; give the global index at which each array begins, and views of what the device owns, without "
                    "its ghost layers");
  }

  // Sorts the boxes along the dimension with the most different begins, and compares each box only with those that it
  // overlaps there.
  void find_overlaps() {
    int best = 0;
    std::size_t most = 0;
    for (int d = 0; d < s_.rank; ++d) {
      std::vector<std::int64_t> begins;
      for (held const& h : boxes_) begins.push_back(h.where.at[d].begin);
      std::sort(begins.begin(), begins.end());
      auto const apart = static_cast<std::size_t>(std::unique(begins.begin(), begins.end()) - begins.begin());
      if (apart > most) most = apart, best = d;
    }
    if (s_.rank > 0)
      std::sort(boxes_.begin(), boxes_.end(), [&](held const& a, held const& b) {
        if (a.where.at[best].begin != b.where.at[best].begin) return a.where.at[best].begin < b.where.at[best].begin;
        return a.device < b.device;
      });
    for (std::size_t i = 0; i < boxes_.size(); ++i)
      for (std::size_t k = i + 1; k < boxes_.size(); ++k) {
        if (s_.rank > 0 && boxes_[k].where.at[best].begin >= boxes_[i].where.at[best].end) break;
        meet(boxes_[i], boxes_[k]);
      }
  }

  void meet(held const& a, held const& b) {
    planner::box const both = planner::intersect(a.where, b.where);
    if (both.size() == 0) return;
    if (overlap_.where.rank == both.rank && overlap_.where.size() > 0 && !begins_before(both, overlap_.where)) return;
    overlap_ = {both, {std::min(a.device, b.device), std::max(a.device, b.device)}};
  }

  [[noreturn]] void refuse_overlap() const {
    bool const one = overlap_.device[0] == overlap_.device[1];
    throw_error(
        w_.operation, ": each element of the tensor is in one box, but ",
        one ? join_text("two boxes of device ", overlap_.device[0], " both hold ")
            : join_text("devices ", overlap_.device[0], " and ", overlap_.device[1], " both hold "),
        box_in_words(w_, s_, overlap_.where),
        "; give views of what the device owns, without its ghost layers, and an empty view on devices that hold a "
        "copy");
  }

  [[noreturn]] void refuse_gap() const {
    planner::box gap = whole_;
    std::vector<planner::box> all;
    for (held const& h : boxes_) all.push_back(h.where);
    find_gap(gap, 0, all);
    int before = -1, behind = -1;  // the devices whose boxes end and begin there
    for (held const& h : boxes_)
      for (int d = 0; d < s_.rank; ++d)
        if (touches(h.where, gap, d)) {
          if (h.where.at[d].end == gap.at[d].begin && (before < 0 || h.device < before)) before = h.device;
          if (h.where.at[d].begin == gap.at[d].end && (behind < 0 || h.device < behind)) behind = h.device;
        }
    std::string const between = before >= 0 && behind >= 0 && before != behind
                                    ? join_text(", between those of devices ", before, " and ", behind)
                                : before >= 0 ? join_text(", beside that of device ", before)
                                : behind >= 0 ? join_text(", beside that of device ", behind)
                                              : std::string();
    throw_error(w_.operation, ": the boxes of all devices hold every element of the tensor, but none holds ",
                box_in_words(w_, s_, gap), between,
                "; give the global index at which each array begins, and every "
                "array that a device holds");
  }

  // True if a box lies beside the gap in this dimension.
  static bool touches(planner::box const& b, planner::box const& gap, int dimension) {
    for (int d = 0; d < gap.rank; ++d)
      if (d != dimension && planner::intersect(b.at[d], gap.at[d]).size() == 0) return false;
    return b.at[dimension].end == gap.at[dimension].begin || b.at[dimension].begin == gap.at[dimension].end;
  }

  // Narrows `gap`, dimension d and those after it, to the first part that none of the boxes covers.
  static bool find_gap(planner::box& gap, int d, std::vector<planner::box> const& boxes) {
    if (boxes.empty()) return gap.size() > 0;
    if (d == gap.rank) return false;
    planner::range const all = gap.at[d];
    std::vector<std::int64_t> cuts{all.begin, all.end};
    for (planner::box const& b : boxes)
      for (std::int64_t at : {b.at[d].begin, b.at[d].end})
        if (at > all.begin && at < all.end) cuts.push_back(at);
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
      gap.at[d] = {cuts[k], cuts[k + 1]};
      std::vector<planner::box> covering;
      for (planner::box const& b : boxes)
        if (b.at[d].begin <= cuts[k] && b.at[d].end >= cuts[k + 1]) covering.push_back(b);
      if (find_gap(gap, d + 1, covering)) return true;
    }
    gap.at[d] = all;
    return false;
  }

  execution_context const& w_;
  planner::spec const& s_;
  foreign_layout const& arrays_;
  planner::box whole_{};
  std::vector<held> boxes_;
  shared overlap_{};
};

// Gathers the boxes. In the first round each device sends the number of its boxes, `fault`, and its first box. Further
// boxes, if there are any, follow in a second round.
[[gnu::cold]] inline foreign_layout gather_boxes(execution_context const& w, int rank,
                                                 dynamic_array<planner::box> const& own, std::int64_t& fault) {
  communicator const& all = w.mesh->world();
  auto const devices = static_cast<std::size_t>(all.size());
  int const each = 2 + 2 * rank;
  auto const width = static_cast<std::size_t>(each);
  auto const write = [&](planner::box const& b, std::int64_t* to) {
    for (int d = 0; d < rank; ++d) to[2 * d] = b.at[d].begin, to[2 * d + 1] = b.at[d].end;
  };
  auto const read = [&](std::int64_t const* from) {
    planner::box b{rank, {}};
    for (int d = 0; d < rank; ++d) b.at[d] = {from[2 * d], from[2 * d + 1]};
    return b;
  };
  std::vector<std::int64_t> sent(width), received(devices * width);
  sent[0] = static_cast<std::int64_t>(own.size());
  sent[1] = fault;
  if (!own.empty()) write(own[0], sent.data() + 2);
  gather_counts(all, sent.data(), received.data(), each);

  std::vector<std::int64_t> counts, more(1), theirs;
  std::int64_t total = 0;
  for (std::size_t d = 0; d < devices; ++d) {
    std::int64_t const n = received[d * width];
    counts.push_back(n > 1 ? (n - 1) * 2 * rank : 0);
    total += counts.back();
    fault = std::max(fault, received[d * width + 1]);
  }
  theirs.resize(static_cast<std::size_t>(total) + 1);
  if (total > 0 && !all.is_dry()) {
    more.resize(own.size() * width);
    for (std::size_t k = 1; k < own.size(); ++k)
      write(own[k], more.data() + (k - 1) * 2 * static_cast<std::size_t>(rank));
    all_gather(all, static_cast<std::int64_t const*>(more.data()), theirs.data(), counts_view(counts));
  }

  foreign_layout arrays;
  arrays.others_are_unknown = all.is_dry() && devices > 1;
  std::int64_t const* next = theirs.data();
  for (std::size_t d = 0; d < devices; ++d) {
    arrays.first.push_back(arrays.boxes.size());
    if (arrays.others_are_unknown) {
      if (static_cast<int>(d) == w.mesh->device())
        for (planner::box const& b : own) arrays.boxes.push_back(b);
      continue;
    }
    for (std::int64_t k = 0; k < received[d * width]; ++k) {
      arrays.boxes.push_back(read(k == 0 ? received.data() + d * width + 2 : next));
      if (k > 0) next += 2 * rank;
    }
  }
  arrays.first.push_back(arrays.boxes.size());
  return arrays;
}

}  // namespace detail

/// Returns the boxes of all devices; `own` are this device's. `fault` becomes the largest over all devices. Collective
/// over the mesh. @throws ostraka::error, on all devices alike, unless each element of the tensor `s` is in exactly one
/// box
[[gnu::cold]] inline foreign_layout agree_on_boxes(execution_context const& w, planner::spec const& s,
                                                   dynamic_array<planner::box> const& own, std::int64_t& fault) {
  foreign_layout arrays = detail::gather_boxes(w, s.rank, own, fault);
  detail::boxes_check(w, s, arrays).require_tiling();
  return arrays;
}

}  // namespace ostraka::engine
