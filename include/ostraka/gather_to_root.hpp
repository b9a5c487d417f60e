// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::gather_to_root(A)`: the whole tensor on device 0, on the host. A[I_X, J_Y] → A[I, J] there.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ostraka/create.hpp>
#include <ostraka/detail/operation.hpp>
#include <ostraka/engine/blocks/root_blocks.hpp>
#include <ostraka/engine/collectives/gather.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/on_root.hpp>

namespace ostraka {

namespace detail {

template <class View, std::size_t... Is>
View whole_view(std::int64_t const (&n)[max_rank], std::index_sequence<Is...>) {
  return View(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ostraka gathered"), static_cast<std::size_t>(n[Is])...);
}

}  // namespace detail

/// All elements on device 0: a Kokkos::View in the host's memory, row-major in the order of the axes, that only device
/// 0 can read
/// (`if (whole) print(*whole)`). Each block is sent once, by the first of the devices that hold it. Collective over the
/// mesh.
template <Tensor A>
[[nodiscard]] auto gather_to_root(A const& a) {
  using value = typename A::value_type;
  using view = Kokkos::View<typename A::view_type::non_const_data_type, Kokkos::LayoutRight, Kokkos::HostSpace>;
  using host = Kokkos::DefaultHostExecutionSpace;
  reason::raise<detail::wants_values<A, operation::gather_to_root>>();
  constexpr planner::spec s = spec_of<A, axes_in<A>, mesh_axes_in<A>>;
  engine::execution_context const w = detail::context_of<axes_in<A>, mesh_axes_in<A>>("gather_to_root", a);
  engine::device_mesh const& mesh = *a.mesh_handle();
  std::int64_t n[max_rank]{};
  if (mesh.absent()) return on_root<view>(detail::no_device, view());

  engine::require_same_call<value>(w, s);

  engine::root_blocks const blocks = engine::root_blocks_of(w, s);
  engine::profiled const region_of_run([&] { engine::push_root_blocks(w, s, blocks, sizeof(value)); });
  auto const local = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a.local());
  bool const root = mesh.device() == 0;
  for (int i = 0; i < s.rank; ++i) n[i] = w.sizes.label[i];
  view const whole =
      root ? detail::whole_view<view>(n, std::make_index_sequence<static_cast<std::size_t>(A::rank)>{}) : view();
  engine::scratch<value, Kokkos::HostSpace> const message(root ? blocks.elements() : 0);
  engine::gather(mesh.world(), static_cast<value const*>(local.data()), message.data(), blocks.counts);
  if (root) {
    engine::region<value> const to = engine::dense_region(whole.data(), engine::whole_box(w, s));
    blocks.for_each([&](engine::box const& b, std::int64_t at) {
      engine::copy(host(), to.part(b), engine::dense_region(static_cast<value const*>(message.data()) + at, b));
    });
    engine::fence(host());
  }
  return on_root<view>(mesh.device(), whole);
}

}  // namespace ostraka
