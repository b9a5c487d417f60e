// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The boxes of a block and of its padded block that an exchange of halos sends, receives and copies, device
/// by device. All boxes for one device, corners included, form one message, so that all messages are sent at once. A
/// loop over the same blocks computes the plan once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/plan/blocks/halo_overlaps.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// The inputs of a plan of an exchange.
struct halo_shape {
  int rank = 0;
  planner::padded_axis axis[max_rank]{};
  std::int64_t number[max_rank]{};       ///< number of this device's block along each axis
  planner::mesh_order over[max_rank]{};  ///< the mesh axes that divide it
  int mesh_axes = 0;
  int running[planner::max_mesh_axes]{};  ///< the same axes in the numbering of the running mesh
  std::int64_t ways[planner::max_mesh_axes]{};
  bool is_strided = false;          ///< the padded block has strides of its own; otherwise it is row-major
  std::int64_t stride[max_rank]{};  ///< those strides
  bool in_place = false;     ///< the block is the inner part of the padded one
  bool corners = true;       ///< otherwise the margins of two axes are left out
  bool zero_copy = false;    ///< MPI takes runs of memory in place
  bool nowhere = false;      ///< this process holds no block

  friend bool operator==(halo_shape const&, halo_shape const&) = default;

  /// Returns the mesh axes of the exchange, in the numbering of the running mesh.
  [[nodiscard]] std::uint32_t group() const {
    std::uint32_t bits = 0;
    for (int m = 0; m < mesh_axes; ++m)
      if (running[m] >= 0) bits |= std::uint32_t{1} << running[m];
    return bits;
  }

  [[nodiscard]] std::int64_t own(int d) const { return axis[d].block_of(number[d]).size(); }
  [[nodiscard]] std::int64_t padded(int d) const { return own(d) + axis[d].before + axis[d].behind; }
};

/// A box of a block: where it begins, and its loops.
struct halo_box {
  std::int64_t begin = 0;
  strided loops{};
  std::int64_t elements = 0;
  bool is_plane = false;                  ///< two loops cover it, as for most faces
  std::int64_t count[2]{}, step[2]{};  ///< their counts and steps, the outer loop first
};

/// The message to or from one device: boxes, one after the other.
struct halo_message {
  int peer = 0;
  std::size_t first = 0;  ///< number of its first box
  std::size_t boxes = 0;
  std::int64_t elements = 0;
  std::int64_t begin = 0;    ///< its begin among the elements of all messages
  std::int64_t packed = -1;  ///< its begin in the buffer; −1: a run of memory, sent in place
};

/// The messages of one direction.
struct halo_messages {
  dynamic_array<halo_box> boxes;
  dynamic_array<halo_message> messages;
  std::int64_t elements = 0;
  std::int64_t packed = 0;  ///< number of elements in the buffer
};

struct halo_plan {
  halo_shape shape{};
  halo_messages sent, received;
  dynamic_array<halo_box> copied_from, copied_to;  ///< boxes for a neighbour that is this device itself
  halo_box source{}, inner{};                      ///< the block, and its place in the padded one
  dynamic_array<halo_box> beyond;                  ///< the part of the padded block that belongs to no device
  int in_flight = 0;
};

namespace detail {

// Computes the strides of the block or of the padded one.
inline void strides_of(halo_shape const& s, bool padded, std::int64_t* stride) {
  if (padded && s.is_strided) return static_cast<void>(std::copy_n(s.stride, s.rank, stride));
  std::int64_t step = 1;
  for (int d = s.rank - 1; d >= 0; --d) {
    stride[d] = step;
    step *= padded ? s.padded(d) : s.own(d);
  }
}

inline halo_box box_at(halo_shape const& s, std::int64_t const* stride, planner::range const* where) {
  halo_box b;
  for (int d = 0; d < s.rank; ++d) {
    b.begin += where[d].begin * stride[d];
    b.loops.add(where[d].size(), stride[d]);
  }
  loop_nest<1> loops = loops_along(b.loops);
  loops.merge();
  b.elements = loops.size();
  b.is_plane = loops.rank <= 2;
  for (int k = 0; k < 2; ++k) {
    int const d = loops.rank - 2 + k;
    b.count[k] = b.is_plane && d >= 0 ? loops.extent[d] : 1;
    b.step[k] = b.is_plane && d >= 0 ? loops.stride[0][d] : 1;
  }
  return b;
}

inline bool is_run(halo_box const& b) { return b.is_plane && b.count[0] == 1 && b.step[1] == 1; }

// Returns the device, by its number in the group, that has these blocks.
inline int member_of(halo_shape const& s, std::int64_t const* numbers) {
  std::int64_t at[planner::max_mesh_axes]{};
  for (int d = 0; d < s.rank; ++d) {
    std::int64_t rest = numbers[d];
    for (int k = s.over[d].size() - 1; k >= 0; --k) {
      int const m = s.over[d][k];
      at[m] = rest % s.ways[m];
      rest /= s.ways[m];
    }
  }
  std::int64_t member = 0;
  for (int a = 0; a < device_mesh::max_axes; ++a)  // members are numbered in the order of the running mesh
    for (int m = 0; m < s.mesh_axes; ++m)
      if (s.running[m] == a) member = member * s.ways[m] + at[m];
  return static_cast<int>(member);
}

/// Makes the boxes of a plan.
class halo_planning {
 public:
  explicit halo_planning(halo_plan& plan) : plan_(plan), s_(plan.shape) {
    strides_of(s_, s_.in_place, source_);
    strides_of(s_, true, target_);
    planner::range own[max_rank], inner[max_rank];
    for (int d = 0; d < s_.rank; ++d) {
      inner[d] = {s_.axis[d].before, s_.axis[d].before + s_.own(d)};
      own[d] = s_.in_place ? inner[d] : planner::range{0, s_.own(d)};
    }
    plan_.source = box_at(s_, source_, own);
    plan_.inner = box_at(s_, target_, inner);
  }

  void make() {
    std::int64_t peer[max_rank]{};
    if (s_.nowhere) return;
    add_peers(0, peer);
    add_beyond();
  }

 private:
  // Visits each peer whose block overlaps this device's padded block, or vice versa.
  void add_peers(int d, std::int64_t* peer) {
    if (d == s_.rank) return add_peer(peer);
    for (peer[d] = 0; peer[d] < s_.axis[d].ways; ++peer[d]) {
      comes_[d] = planner::overlaps_of(s_.axis[d], peer[d], s_.number[d]);
      goes_[d] = planner::overlaps_of(s_.axis[d], s_.number[d], peer[d]);
      if (comes_[d].count + goes_[d].count > 0) add_peers(d + 1, peer);
    }
  }

  void add_peer(std::int64_t const* peer) {
    int const member = member_of(s_, peer);
    bool oneself = true;
    for (int d = 0; d < s_.rank; ++d) oneself = oneself && peer[d] == s_.number[d];
    if (oneself) {
      each_box(comes_, 0, 0, [&](planner::overlap const* o) {
        plan_.copied_from.push_back(box_of(o, false));
        plan_.copied_to.push_back(box_of(o, true));
      });
      return;
    }
    add_message(plan_.sent, member, goes_, false);
    add_message(plan_.received, member, comes_, true);
  }

  void add_message(halo_messages& to, int member, planner::overlaps const* overlaps, bool in_padded) {
    halo_message m{member, to.boxes.size(), 0, 0, to.elements, -1};
    each_box(overlaps, 0, 0, [&](planner::overlap const* o) {
      to.boxes.push_back(box_of(o, in_padded));
      ++m.boxes;
      m.elements += to.boxes.back().elements;
    });
    if (m.boxes == 0) return;
    to.elements += m.elements;
    if (!s_.zero_copy || m.boxes > 1 || !is_run(to.boxes.back())) {
      m.packed = to.packed;
      to.packed += m.elements;
    }
    to.messages.push_back(m);
  }

  template <class F>
  void each_box(planner::overlaps const* overlaps, int d, int margins, F const& f) {
    if (d == s_.rank) {
      if (margins > 0) f(chosen_);
      return;
    }
    for (int i = 0; i < overlaps[d].count; ++i) {
      chosen_[d] = overlaps[d].of[i];
      int const more = margins + (chosen_[d].is_margin ? 1 : 0);
      if (s_.corners || more <= 1) each_box(overlaps, d + 1, more, f);
    }
  }

  halo_box box_of(planner::overlap const* o, bool in_padded) const {
    planner::range where[max_rank];
    for (int d = 0; d < s_.rank; ++d) {
      std::int64_t const shift = !in_padded && s_.in_place ? s_.axis[d].before : 0;
      planner::range const r = in_padded ? o[d].received : o[d].sent;
      where[d] = {r.begin + shift, r.end + shift};
    }
    return box_at(s_, in_padded ? target_ : source_, where);
  }

  void add_beyond() {
    for (int d = 0; d < s_.rank; ++d) {
      planner::beyond_ends const b = planner::beyond(s_.axis[d], s_.number[d]);
      planner::range where[max_rank];
      for (int e = 0; e < s_.rank; ++e) where[e] = {0, s_.padded(e)};
      std::int64_t const n = s_.padded(d);
      for (planner::range const r : {planner::range{0, b.before}, planner::range{n - b.behind, n}})
        if (r.size() > 0) {
          where[d] = r;
          plan_.beyond.push_back(box_at(s_, target_, where));
        }
    }
  }

  halo_plan& plan_;
  halo_shape const& s_;
  std::int64_t source_[max_rank]{}, target_[max_rank]{};
  planner::overlaps comes_[max_rank]{}, goes_[max_rank]{};
  planner::overlap chosen_[max_rank]{};
};

}  // namespace detail

/// The plans of one call in a program.
class halo_plans {
 public:
  halo_plan& of(halo_shape const& shape) {
    for (std::unique_ptr<halo_plan>& p : plans_)
      if (p->shape == shape) return *p;
    for (std::size_t i = plans_.size(); plans_.size() >= most && i-- > 0;)
      if (plans_[i]->in_flight == 0) plans_.erase(&plans_[i]), ++dropped_;
    auto made = std::make_unique<halo_plan>();
    made->shape = shape;
    detail::halo_planning(*made).make();
    plans_.push_back(std::move(made));
    return *plans_.back();
  }

  /// Returns the number of plans that the cache has dropped.
  [[nodiscard]] std::int64_t dropped() const { return dropped_; }

 private:
  static constexpr std::size_t most = 8;
  dynamic_array<std::unique_ptr<halo_plan>> plans_;
  std::int64_t dropped_ = 0;
};

}  // namespace ostraka::engine
