// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The places where blocks begin along an axis that a program divides by a rule of its own. The devices
/// exchange them once. All blocks of a grid's row begin at the same index, so an axis has one list: the begin of each
/// block, then the end of the last. Equal lists have one address, by which plans and operands are compared.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <ostraka/calls/context.hpp>
#include <ostraka/engine/collectives/counts.hpp>
#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

// The indices of this device's block, given where all blocks begin.
inline planner::range own_range(engine::execution_context const& w, planner::spec const& s, int d,
                                std::int64_t const* begins) {
  std::int64_t const number = planner::block_number(s.over[d], w.here, w.sizes);
  return {begins[number], begins[number + 1]};
}

// Returns the address of the list with these numbers. It is never freed, because cached plans hold it.
[[gnu::cold, gnu::visibility("default")]] inline std::int64_t const* address_of_begins(
    std::vector<std::int64_t> const& begins) {
  static std::mutex access;
  static auto& lists = *new std::set<std::vector<std::int64_t>>;
  std::scoped_lock const lock(access);
  return lists.insert(begins).first->data();
}

[[noreturn, gnu::cold]] inline void throw_no_block_begins(std::string_view operation, std::string_view axis,
                                                          std::int64_t whole, int device, std::int64_t begin,
                                                          std::string const& why) {
  throw_error(operation, ": os::at gives the global index of the first element that each device owns, but along ", axis,
              " = ", whole, " device ", device, " gives ", begin, ", ", why,
              "; blocks follow each other without gaps, the first one from 0 on");
}

/// Lets the devices agree where the blocks of each axis begin, given this device's `begin`. Sets `begins` of an axis,
/// or null if its blocks are those of the block distribution. Collective over the mesh.
/// @throws ostraka::error, on all devices alike, if the blocks do not follow each other
[[gnu::cold]] inline void agree_on_begins(engine::execution_context const& w, planner::spec const& s,
                                          std::int64_t const* whole, std::int64_t const* begin,
                                          std::int64_t const** begins) {
  engine::communicator const& all = w.mesh->world();
  auto const rank = static_cast<std::size_t>(s.rank);
  std::vector<std::int64_t> given(rank * static_cast<std::size_t>(all.size()));
  engine::gather_counts(all, begin, given.data(), s.rank);
  if (all.is_dry()) return;  // others are unknown
  for (int d = 0; d < s.rank; ++d) {
    auto const ways = static_cast<std::size_t>(w.sizes.ways(s.over[d]));
    auto const axis = w.names.labels[s.label[d]];
    std::vector<std::int64_t> list(ways + 1, -1);
    std::vector<int> holder(ways);  // the first device that has the block
    list[ways] = whole[d];
    for (int device = 0; device < all.size(); ++device) {
      planner::coordinates const c = engine::coordinates_on(w, device).in_plan;
      auto const number = static_cast<std::size_t>(planner::block_number(s.over[d], c, w.sizes));
      std::int64_t const b = given[static_cast<std::size_t>(device) * rank + static_cast<std::size_t>(d)];
      if (list[number] == -1)
        list[number] = b, holder[number] = device;
      else if (list[number] != b)
        throw_no_block_begins(w.operation, axis, whole[d], device, b,
                              join_text("and device ", holder[number], ", which has the same indices, ", list[number]));
    }
    bool is_distribution = true;
    for (std::size_t k = 0; k < ways; ++k) {
      std::int64_t const b = list[k];
      if (k == 0 ? b != 0 : b < list[k - 1])
        throw_no_block_begins(
            w.operation, axis, whole[d], holder[k], b,
            k == 0 ? std::string("and has the first block")
                   : join_text("and device ", holder[k - 1], ", which has the block before, ", list[k - 1]));
      if (b > whole[d]) throw_no_block_begins(w.operation, axis, whole[d], holder[k], b, "which is beyond the end");
      is_distribution =
          is_distribution &&
          b == planner::block(whole[d], static_cast<std::int64_t>(k), static_cast<std::int64_t>(ways)).begin;
    }
    begins[d] = is_distribution ? nullptr : address_of_begins(list);
  }
}

}  // namespace ostraka::detail
