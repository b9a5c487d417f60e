// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The messages and local copies of an exchange between the blocks of a tensor and arrays of the program. All
/// pieces for one device form one message. If several devices hold the same elements, the sender is the device with the
/// receiver's coordinates along the mesh axes that do not divide these elements, so that no device serves all others.
/// Elements that the receiver holds itself are not sent. For A[I_X] on {X: 2, Z: 2}, into arrays of all four devices,
/// device (x, z) gets its parts from (·, z).

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/foreign_blocks/foreign_layout.hpp>

namespace ostraka::engine {

enum class foreign_way { from_arrays, to_arrays };

/// The common part of an array of the program and a block of the tensor: a stretch along each dimension.
struct foreign_piece {
  std::size_t array = 0;  ///< among those of its device
  std::int64_t elements = 0;
  planner::stretch at[max_rank]{};
};

/// A message to or from one device: pieces, one after the other.
struct foreign_message {
  int peer = 0;
  std::size_t first = 0;
  std::size_t pieces = 0;
  std::int64_t elements = 0;
};

/// The messages of one direction.
struct foreign_messages {
  dynamic_array<foreign_piece> pieces;
  dynamic_array<foreign_message> messages;
  std::int64_t elements = 0;
};

struct foreign_plan {
  foreign_messages sent, received;
  dynamic_array<foreign_piece> here;  ///< the pieces that stay on this device
};

namespace detail {

/// Makes the plan of one device for a tensor `s`, whose mesh axes are those of the execution context.
class foreign_planning {
 public:
  foreign_planning(execution_context const& w, planner::spec const& s, foreign_layout const& arrays)
      : w_(w),
        s_(s),
        arrays_(arrays),
        undivided_(~w.bits_of(s.splits())),
        undealt_(arrays.is_dealt ? ~w.bits_of(arrays.grid.splits()) : 0) {}

  foreign_plan make(foreign_way way) const {
    foreign_plan plan;
    if (w_.mesh->absent()) return plan;
    int const me = w_.mesh->device();
    bool const from = way == foreign_way::from_arrays;
    device_coordinates const here = coordinates_on(w_, me);
    std::uint32_t const free = from ? undealt_ : undivided_;  // along these axes, devices hold the same data
    for (int d = 0; d < w_.mesh->devices(); ++d) {
      device_coordinates const there = coordinates_on(w_, d);
      if (d == me) {
        add_pieces(plan.here, d, there, there);
      } else if (agree_along(free, here, there)) {
        foreign_messages& of_my_arrays = from ? plan.sent : plan.received;
        add_message(of_my_arrays, d, me, here, there);
        if (!arrays_.others_are_unknown) add_message(from ? plan.received : plan.sent, d, d, there, here);
      }
    }
    // On a dry mesh the elements that others take from this device are unknown. In total, all devices send as much as
    // they receive.
    if (arrays_.others_are_unknown && !from) plan.sent = plan.received;
    return plan;
  }

 private:
  bool agree_along(std::uint32_t axes, device_coordinates const& a, device_coordinates const& b) const {
    for (int m = 0; m < w_.mesh->axes(); ++m)
      if ((axes >> m & 1u) != 0 && a.at[m] != b.at[m]) return false;
    return true;
  }

  // Adds the common pieces of the arrays of `holder` and the block of the device at `block`.
  void add_pieces(dynamic_array<foreign_piece>& to, int holder, device_coordinates const& at,
                  device_coordinates const& block) const {
    planner::box const wanted = planner::box_of(s_, block.in_plan, w_.sizes);
    for (std::size_t k = 0; k < arrays_.arrays(holder); ++k) {
      held_combs const held = combs_of(w_, arrays_, s_.rank, holder, at, k);
      planner::stretches common[max_rank + 1];
      bool any = true;
      for (int d = 0; d < s_.rank && any; ++d) {
        common[d] = planner::common_stretches(held.of[d], wanted.at[d]);
        any = !common[d].empty();
      }
      foreign_piece piece{k, 1, {}};
      if (any) add_products(to, common, 0, piece);
    }
  }

  void add_products(dynamic_array<foreign_piece>& to, planner::stretches const* common, int d,
                    foreign_piece& piece) const {
    if (d == s_.rank) return to.push_back(piece);
    std::int64_t const elements = piece.elements;
    for (planner::stretch const& s : common[d]) {
      piece.at[d] = s;
      piece.elements = elements * s.elements();
      add_products(to, common, d + 1, piece);
    }
    piece.elements = elements;
  }

  void add_message(foreign_messages& to, int peer, int holder, device_coordinates const& at,
                   device_coordinates const& block) const {
    foreign_message m{peer, to.pieces.size(), 0, 0};
    add_pieces(to.pieces, holder, at, block);
    m.pieces = to.pieces.size() - m.first;
    if (m.pieces == 0) return;
    for (std::size_t k = m.first; k < to.pieces.size(); ++k) m.elements += to.pieces[k].elements;
    to.elements += m.elements;
    to.messages.push_back(m);
  }

  execution_context const& w_;
  planner::spec const& s_;
  foreign_layout const& arrays_;
  std::uint32_t undivided_, undealt_;  // axes of the running mesh along which devices hold the same data
};

}  // namespace detail

/// Returns this device's part of the exchange. Not collective.
[[gnu::cold]] inline foreign_plan plan_foreign(execution_context const& w, planner::spec const& s,
                                               foreign_layout const& arrays, foreign_way way) {
  return detail::foreign_planning(w, s, arrays).make(way);
}

}  // namespace ostraka::engine
