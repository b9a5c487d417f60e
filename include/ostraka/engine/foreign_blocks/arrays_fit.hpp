// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Checks that the arrays of a program have the extents of the boxes that their devices own. Each device sees
/// only its own arrays, so the devices agree before one of them throws.

#include <cstddef>
#include <cstdint>
#include <string>

#include <ostraka/engine/agreement/adopted_block.hpp>
#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/foreign_blocks/foreign_layout.hpp>
#include <ostraka/engine/memory/misaligned.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// An array that the program passes: its layout, and, if it is a box, where it begins in the tensor.
struct given_array_of_box {
  std::int64_t begin[max_rank]{};
  strided lies{};
  std::int64_t misaligned = 0;  ///< the alignment that its elements lack, or 0
};

namespace detail {

enum class array_fault : std::int64_t { none, number, begin, extent };

// The first fault of this device's arrays, as numbers that it can report to the others.
struct fault_report {
  array_fault kind = array_fault::none;
  std::int64_t array = 0, dimension = 0, wanted = 0, given = 0;
};

inline fault_report fault_of_arrays(dynamic_array<planner::box> const& own,
                                    dynamic_array<given_array_of_box> const& given, int rank, bool at_begins) {
  auto const count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  if (given.size() != own.size()) return {array_fault::number, 0, 0, count(own.size()), count(given.size())};
  for (std::size_t k = 0; k < own.size(); ++k)
    for (int d = 0; d < rank; ++d) {
      planner::range const wanted = own[k].at[d];
      if (given[k].lies.extent[d] != wanted.size())
        return {array_fault::extent, count(k), d, wanted.size(), given[k].lies.extent[d]};
      if (at_begins && own[k].size() > 0 && given[k].begin[d] != wanted.begin)
        return {array_fault::begin, count(k), d, wanted.begin, given[k].begin[d]};
    }
  return {};
}

inline bool are_unique(dynamic_array<given_array_of_box> const& given) {
  for (given_array_of_box const& g : given)
    if (!is_unique(g.lies)) return false;
  return true;
}

[[noreturn, gnu::cold]] inline void refuse_arrays(execution_context const& w, std::int64_t device,
                                                  fault_report const& mine, bool ask_others) {
  constexpr std::int64_t nothing = INT64_MIN;
  std::int64_t reported[5] = {nothing, nothing, nothing, nothing, nothing};
  if (w.mesh->device() == device) {
    std::int64_t const own[5] = {static_cast<std::int64_t>(mine.kind), mine.array, mine.dimension, mine.wanted,
                                 mine.given};
    for (int k = 0; k < 5; ++k) reported[k] = own[k];
  }
  if (ask_others) w.mesh->world().find_largest(reported, 5);
  std::string const which = join_text("array ", reported[1], " of device ", device);
  switch (static_cast<array_fault>(reported[0])) {
    case array_fault::number:
      throw_error(w.operation, ": each device gives the arrays that the plan was made for, but device ", device,
                  " gives ", reported[4], " and the plan has ", reported[3],
                  "; make a plan of these by os::plan_blocks");
    case array_fault::begin:
      throw_error(w.operation, ": each array begins where that of the plan does, but ", which, " begins at ",
                  reported[4], " along dimension ", reported[2], ", and that of the plan at ", reported[3],
                  "; make a plan of these by os::plan_blocks");
    default:
      throw_error(w.operation, ": each array has the extents of what its device holds, but ", which, " has ",
                  reported[4], " along dimension ", reported[2], " and the device holds ", reported[3],
                  "; give a view of these elements alone, or os::strided memory, which has no extents");
  }
}

[[noreturn, gnu::cold]] inline void refuse_shared_places(execution_context const& w) {
  throw_error(w.operation,
              ": each element of what is written has a place of its own, but a device gives an array in which elements "
              "share one; give it no stride of 0, and none that is too short for its extents, such as a leading "
              "dimension of less than its rows");
}

}  // namespace detail

/// Returns 0, the alignment that elements of an array lack, or 1 if elements share a place in an array that is written.
[[nodiscard]] inline std::int64_t fault_of_places(dynamic_array<given_array_of_box> const& given, bool written) {
  if (written && !detail::are_unique(given)) return 1;
  for (given_array_of_box const& g : given)
    if (g.misaligned != 0 && detail::has_elements(g.lies.extent, g.lies.rank)) return g.misaligned;
  return 0;
}
/// @throws ostraka::error, on all devices alike, if the arrays of some device have a fault. `fault`: the largest of all
/// devices.
inline void require_places(execution_context const& w, std::int64_t fault) {
  if (fault == 1) detail::refuse_shared_places(w);
  if (fault > 1) throw_error(w.operation, ": ", misaligned_in_words(fault, "an array of some device"));
}

/// @throws ostraka::error, on all devices alike, if the arrays of a device do not fit the boxes that it owns, or fail
/// require_places. `at_begins`: the arrays state where they begin. Collective over the mesh. If others are not asked,
/// nothing is sent, and only this device throws.
inline void require_arrays(execution_context const& w, dynamic_array<planner::box> const& own,
                           dynamic_array<given_array_of_box> const& given, int rank, bool at_begins, bool written,
                           bool ask_others = true) {
  detail::fault_report const mine = detail::fault_of_arrays(own, given, rank, at_begins);
  device_mesh const& mesh = *w.mesh;
  std::int64_t first[2] = {mine.kind == detail::array_fault::none ? 0 : mesh.devices() - mesh.device(),
                           fault_of_places(given, written)};
  if (ask_others) mesh.world().find_largest(first, 2);
  if (first[0] > 0) detail::refuse_arrays(w, mesh.devices() - first[0], mine, ask_others);
  require_places(w, first[1]);
}

/// Like require_same_call for one tensor. All devices must describe their arrays in the same way, as boxes or as
/// block-cyclic arrays, since each way exchanges different messages.
template <class T>
void require_same_distribution(execution_context const& w, planner::spec const& tensor, bool is_dealt) {
  require_agreement(
      w.mesh->world(),
      [&] {
        return detail::key_of_call(w, &tensor, 1, tensor, {}, element_name<T>).add(std::uint64_t{is_dealt ? 1u : 0u});
      },
      [&] {
        return join_text(detail::describe_call(w, &tensor, 1, tensor, {}, element_name<T>),
                         is_dealt ? ", with os::block_cyclic" : ", with os::at");
      });
}

/// @throws ostraka::error on a process that is not a device of the mesh and passes elements
inline void require_nothing(execution_context const& w, dynamic_array<given_array_of_box> const& given, int rank) {
  for (given_array_of_box const& g : given) {
    std::int64_t elements = 1;
    for (int d = 0; d < rank; ++d) elements *= g.lies.extent[d];
    if (elements > 0 && rank > 0)
      throw_error(w.operation,
                  ": this process is none of the mesh's devices and holds nothing of the tensor, but it "
                  "gives an array of ",
                  elements, " elements; give an empty view where mesh.absent()");
  }
}

/// @throws ostraka::error, on all devices alike, unless all devices deal blocks of the same sizes, with at least one
/// index each. Collective over the mesh.
inline void require_same_blocks(execution_context const& w, planner::spec const& s, std::int64_t const* block) {
  std::int64_t extremes[2 * max_rank]{};
  for (int d = 0; d < s.rank; ++d) extremes[2 * d] = block[d], extremes[2 * d + 1] = -block[d];
  w.mesh->world().find_largest(extremes, 2 * s.rank);
  for (int d = 0; d < s.rank; ++d) {
    std::int64_t const most = extremes[2 * d], least = -extremes[2 * d + 1];
    if (most != least)
      throw_error(w.operation, ": all devices deal blocks of the same size, but along ", w.names.labels[s.label[d]],
                  " it is ", least, " on one and ", most, " on another; give os::block_cyclic the same numbers");
    if (least < 1)
      throw_error(w.operation, ": a block that is dealt has one index at least, but along ", w.names.labels[s.label[d]],
                  " it has ", least, "; give os::block_cyclic a positive number");
  }
}

/// Returns the part of a dealt tensor that this device holds: one box, in its own numbering.
inline dynamic_array<planner::box> own_of_dealt(execution_context const& w, planner::spec const& s,
                                                foreign_layout const& dealt) {
  dynamic_array<planner::box> own;
  if (w.mesh->absent()) return own;
  int const me = w.mesh->device();
  held_combs const held = combs_of(w, dealt, s.rank, me, coordinates_on(w, me), 0);
  planner::box b{s.rank, {}};
  for (int d = 0; d < s.rank; ++d) b.at[d] = {0, held.of[d].size()};
  own.push_back(b);
  return own;
}

}  // namespace ostraka::engine
