// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. For collectives that are not moves of a tensor: the devices that take part, numbered in the order in which
/// a program names the mesh axes, and blocks as the engine takes them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <ostraka/blocks/make_block.hpp>
#include <ostraka/engine/moves/copy_block.hpp>
#include <ostraka/local_view/collectives/collective.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::detail {

// The devices along some mesh axes, numbered in the order in which the axes are named, the first one major.
struct named_group {
  engine::execution_context w;
  planner::mesh_set axes{};
  int size = 1;
  int number = 0;  // this device's

  /// The number of a device in the engine's group, which counts as the mesh does.
  [[nodiscard]] int member(int named) const {
    int at[planner::max_mesh_axes]{};
    for (int m = w.sizes.mesh_axes - 1; m >= 0; --m) {
      if (!axes.contains(m)) continue;
      at[m] = named % static_cast<int>(w.sizes.mesh[m]);
      named /= static_cast<int>(w.sizes.mesh[m]);
    }
    int member = 0;
    for (int a = 0; a < w.mesh->axes(); ++a)
      for (int m = 0; m < w.sizes.mesh_axes; ++m)
        if (axes.contains(m) && w.axis[m] == a) member = member * static_cast<int>(w.sizes.mesh[m]) + at[m];
    return member;
  }
};

// The devices along `Ms`, for an operation on the block `a`. Its extents serve to compare calls.
template <class A, class... Ms>
named_group group_of(char const* operation, A const& a) {
  using mesh = union_of<type_list<Ms...>, mesh_axes_in<A>>;
  named_group g;
  g.w = engine::make_context(*common_mesh(operation, a), names_of<mesh>.data(), mesh::size, operation);
  g.w.names.labels = names_of<axes_in<A>>.data();
  g.w.sizes.labels = A::rank;
  for (int i = 0; i < A::rank; ++i) {
    auto const d = static_cast<std::size_t>(i);
    g.w.sizes.label[i] = a.extents()[d];
    if constexpr (varying_in<A>::size > 0) g.w.sizes.label[i] = a.origins()[d].compared(a.extents()[d]);
  }
  g.axes = mesh_axes_numbered<mesh>(type_list<Ms...>{});
  for (int m = 0; m < static_cast<int>(sizeof...(Ms)); ++m) {
    g.size *= static_cast<int>(g.w.sizes.mesh[m]);
    g.number = g.number * static_cast<int>(g.w.sizes.mesh[m]) + static_cast<int>(g.w.here.at[m]);
  }
  return g;
}

[[noreturn, gnu::cold]] inline void throw_no_root(engine::execution_context const& w, int root, int devices) {
  throw_error(w.operation, ": the root is one of the ", devices, " devices along the mesh axes, but it is ", root,
              "; count from 0");
}

inline void require_root(named_group const& g, int root) {
  if (root < 0 || root >= g.size) throw_no_root(g.w, root, g.size);
}

// Runs the move that `begin` begins, or only begins it. A process that holds no block does nothing. `a` is read until
// the move ends.
template <class When, class Result, class A, class Begin>
auto launch_on(named_group const& g, Result const& result, A const& a, Begin const& begin) {
  return When::launch(result, std::tuple(a.local()),
                      [&] { return g.w.mesh->absent() ? engine::run_in_flight() : begin(); });
}

// Elements of one dense block.
template <class T>
engine::strided_block<T*> dense_block(T* data, std::int64_t const* extents, int rank) {
  engine::box b;
  b.rank = rank;
  for (int i = 0; i < rank; ++i) b.at[i] = {0, extents[i]};
  return engine::dense_block(data, b);
}

// This device's block of a tensor or block, to be read or written.
template <class A>
auto readable_block(A const& a) {
  return dense_block<typename A::value_type const>(a.local().data(), local_extents_of(a).data(), A::rank);
}
template <class A>
auto writable_block(A const& a) {
  return dense_block(a.local().data(), local_extents_of(a).data(), A::rank);
}

/// Throws, on all devices of the group alike, unless blocks have equal extents there, except in dimension `but`.
/// Communicates only if an extent is each device's own.
inline void require_equal_extents(named_group const& g, int rank, std::int64_t const* extents, extent_origin* origins,
                                  int but = -1) {
  std::uint32_t const running = g.w.bits_of(g.axes);
  for (int i = 0; i < rank; ++i) {
    if (i == but || origins[i].is_alike() || g.w.mesh->absent()) continue;
    bool differs = false;
    for (int k = 0; k < origins[i].over.size(); ++k) differs = differs || (running >> origins[i].over[k] & 1u) != 0;
    if (origins[i].whole == extent_origin::of_its_own) {
      std::int64_t extremes[2] = {extents[i], ~extents[i]};
      g.w.group(g.axes).find_largest(extremes, 2);
      differs = extremes[0] != ~extremes[1];
    }
    if (differs) throw_extents_differ(g.w.operation, g.w.names.labels[i]);
  }
}

}  // namespace ostraka::detail
