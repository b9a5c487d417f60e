// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The extents of tensors and of their blocks in the body of os::shard_map, where manual mesh axes come off an
/// axis and go back on. os::shard_map does both at its doors. A collective inside the body turns its block into a
/// tensor, moves that, and turns the result into a block again.

#include <cstdint>
#include <string>

#include <ostraka/engine/collectives/counts.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/tensors/block_extents.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::detail {

/// The mesh axes of an axis that are manual, which come first, and the others.
struct manual_division {
  planner::mesh_order manual{};   ///< in the plan's numbers
  planner::mesh_order running{};  ///< the same in the numbers of the running mesh, without those of size 1
  std::int64_t ways = 1;          ///< blocks along the manual ones
  std::int64_t rest = 1;          ///< parts of each along the others

  manual_division(engine::execution_context const& w, planner::mesh_order over, planner::mesh_set leaving) {
    for (int k = 0; k < over.size(); ++k) {
      if (leaving.contains(over[k])) {
        manual.push_back(over[k]);
        if (w.sizes.mesh[over[k]] > 1) running.push_back(w.axis[over[k]]);
        ways *= w.sizes.mesh[over[k]];
      } else {
        rest *= w.sizes.mesh[over[k]];
      }
    }
  }
};

[[noreturn, gnu::cold]] inline void throw_not_nested(std::string_view operation, std::string_view axis,
                                                     std::int64_t extent, std::int64_t ways) {
  throw_error(operation,
              ": where an axis stays divided over further mesh axes inside, all of them divide it "
              "evenly, but ",
              axis, " = ", extent, " is divided in ", ways,
              "; choose an extent that they divide, or make all its mesh axes manual");
}

[[noreturn, gnu::cold]] inline void throw_extents_differ(std::string_view operation, std::string_view axis) {
  throw_error(operation, ": blocks have the same extents on all devices that they are combined over, but ", axis,
              " was divided unevenly, or differently from how the result is divided; pad it, or choose an "
              "extent that the mesh axes divide evenly");
}

/// Computes the extents, and their origins, of the block as which the tensor of spec `s` enters a body, without the
/// mesh axes `leaving`. `whole` has the labels' extents.
[[gnu::noinline]] inline void enter_extents_of_block(engine::execution_context const& w, planner::spec const& s,
                                                     planner::mesh_set leaving, std::int64_t const* whole,
                                                     std::int64_t* own, extent_origin* origins) {
  for (int i = 0; i < s.rank; ++i) {
    manual_division const d(w, s.over[i], leaving);
    std::int64_t const n = whole[i];
    own[i] = n;
    if (d.ways == 1) continue;
    if (!origins[i].is_alike() && d.rest > 1)  // other devices may divide it evenly
      throw_not_nested(w.operation, w.names.labels[s.label[i]], n, d.ways * d.rest);
    if (n % d.ways == 0 && n % (d.ways * d.rest) == 0) {
      own[i] = n / d.ways;
      if (!origins[i].is_alike()) origins[i] = {extent_origin::of_its_own};
      continue;
    }
    if (d.rest > 1) throw_not_nested(w.operation, w.names.labels[s.label[i]], n, d.ways * d.rest);
    std::int64_t const number = w.here.nowhere ? 0 : planner::block_number(d.manual, w.here, w.sizes);
    own[i] = planner::block(n, number, d.ways).size();
    origins[i] = origins[i].is_alike() ? extent_origin{n, d.running} : extent_origin{extent_origin::of_its_own};
  }
}

/// The extent of an axis whose blocks have extents of their own and are concatenated over these mesh axes. Collective
/// over these. Throws, on all devices alike, unless the extents are those of the block distribution.
[[gnu::cold]] inline std::int64_t joined_extent(engine::execution_context const& w, planner::mesh_set leaving,
                                                manual_division const& d, std::int64_t own, std::string_view axis) {
  if (w.here.nowhere) return own * d.ways;  // this device has no block
  engine::communicator const& members = w.group(leaving);
  engine::short_array<std::int64_t> all;
  for (int k = 0; k < members.size(); ++k) all.push_back(0);
  engine::gather_counts(members, &own, all.data());
  // Members are numbered by their coordinates in the order of the running mesh.
  planner::mesh_set along;
  for (int k = 0; k < d.manual.size(); ++k) along.insert(d.manual[k]);
  std::int64_t whole = 0;
  auto const each = [&](auto const& f) {
    for (int k = 0; k < members.size(); ++k) {
      planner::coordinates c;
      std::int64_t rest = k;
      for (int a = w.mesh->axes() - 1; a >= 0; --a)
        for (int m = 0; m < w.sizes.mesh_axes; ++m)
          if (w.axis[m] == a && leaving.contains(m)) {
            c.at[m] = rest % w.sizes.mesh[m];
            rest /= w.sizes.mesh[m];
          }
      bool others_are_here = true;  // along mesh axes that leave, and do not divide this axis
      for (int m = 0; m < w.sizes.mesh_axes; ++m)
        others_are_here = others_are_here && (!leaving.contains(m) || along.contains(m) || c.at[m] == 0);
      f(all.data()[k], planner::block_number(d.manual, c, w.sizes), others_are_here);
    }
  };
  each([&](std::int64_t n, std::int64_t, bool counts_once) { whole += counts_once ? n : 0; });
  bool fits = d.rest == 1 || whole % (d.ways * d.rest) == 0;
  each([&](std::int64_t n, std::int64_t number, bool) {
    fits = fits && n == planner::block(whole, number, d.ways).size();
  });
  if (!fits) throw_extents_differ(w.operation, axis);
  return whole;
}

/// Computes the labels' extents of the tensor of spec `s` as which a block leaves a body, over the mesh axes `leaving`,
/// and updates their origins. Collective over `leaving` only if a block's extent is each device's own.
[[gnu::noinline]] inline void leave_extents_of_block(engine::execution_context const& w, planner::spec const& s,
                                                     planner::mesh_set leaving, std::int64_t const* own,
                                                     extent_origin* origins, std::int64_t* whole) {
  std::uint32_t const running = w.bits_of(leaving);
  for (int i = 0; i < s.rank; ++i) {
    manual_division const d(w, s.over[i], leaving);
    extent_origin const o = origins[i];
    std::string_view const axis = w.names.labels[s.label[i]];
    whole[i] = own[i] * d.ways;
    if (o.is_alike()) {
      if (d.rest > 1 && own[i] % d.rest != 0 && d.ways > 1)
        throw_not_nested(w.operation, axis, whole[i], d.ways * d.rest);
    } else if (o.whole == extent_origin::of_its_own) {
      whole[i] = joined_extent(w, leaving, d, own[i], axis);  // along other mesh axes it may still differ
    } else if (d.running == o.over && o.shifted == 0 && o.halo == 0 && d.ways > 1) {
      if (d.rest > 1) throw_not_nested(w.operation, axis, o.whole, d.ways * d.rest);
      whole[i] = o.whole;
      origins[i] = {};
    } else {
      bool involved = d.ways > 1;
      for (int k = 0; k < o.over.size(); ++k) involved = involved || (running >> o.over[k] & 1u) != 0;
      if (involved) throw_extents_differ(w.operation, axis);
    }
  }
}

/// Checks that a tensor has its static extents, which do not follow from those of its blocks. Throws on all devices
/// alike.
template <class... As>
void require_static_extents([[maybe_unused]] std::string_view operation,
                            [[maybe_unused]] engine::device_mesh const& mesh,
                            [[maybe_unused]] std::int64_t const* whole, type_list<As...>) {
  if constexpr (((As::extent != dynamic_extent) || ...)) {
    constexpr std::int64_t wanted[] = {As::extent...};
    constexpr std::string_view axis[] = {As::name...};
    for (int i = 0; i < static_cast<int>(sizeof...(As)); ++i)
      if (wanted[i] != dynamic_extent && wanted[i] != whole[i] && !mesh.absent())
        throw_error(operation, ": a result has the static extents of its axes, but ", axis[i], " = ", whole[i],
                    " instead of ", wanted[i], "; return blocks of that, or name an axis without a static extent");
  }
}

}  // namespace ostraka::detail
