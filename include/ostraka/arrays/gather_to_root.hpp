// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::gather_to_root(A)` returns the whole tensor on device 0, on the host. A[I_X, J_Y] → A[I, J] there.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ostraka/arrays/on_root.hpp>
#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/engine/root/gather_blocks.hpp>

namespace ostraka {

namespace detail {

template <class View, std::size_t... Is>
View whole_view([[maybe_unused]] std::int64_t const* n, std::index_sequence<Is...>) {
  return View(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ostraka gathered"), static_cast<std::size_t>(n[Is])...);
}

}  // namespace detail

/// All elements on device 0: a Kokkos::View in the host's memory, row-major in the order of the axes. Only device 0 can
/// read it (`if (whole) print(*whole)`). Each block is sent once, by the first of the devices that hold it. Collective
/// over the mesh.
template <Tensor A>
[[nodiscard]] auto gather_to_root(A const& a) {
  using value = typename A::value_type;
  using view = Kokkos::View<typename A::view_type::non_const_data_type, Kokkos::LayoutRight, Kokkos::HostSpace>;
  reason::raise<detail::first_fault<detail::no_block_verdict<A, operation::gather_to_root>,
                                    detail::values_verdict<A, operation::gather_to_root>>>();
  constexpr planner::spec s = spec_of<A, axes_in<A>, mesh_axes_in<A>>;
  engine::execution_context const w = detail::context_of<axes_in<A>, mesh_axes_in<A>>("gather_to_root", a);
  if (w.mesh->absent()) return on_root<view>(detail::no_device, view());
  engine::require_same_call<value>(w, s);
  view whole;
  auto const block = engine::on_host(a.local());
  engine::gather_blocks(w, s, static_cast<value const*>(block.data()), [&] {
    whole = detail::whole_view<view>(w.sizes.label, std::make_index_sequence<static_cast<std::size_t>(A::rank)>{});
    return whole.data();
  });
  return on_root<view>(w.mesh->device(), whole);
}

}  // namespace ostraka
