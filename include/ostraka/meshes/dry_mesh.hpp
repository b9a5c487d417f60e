// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A mesh without devices: `os::dry_mesh(X = 256, Y = 256)`. It has the type of os::make_mesh's result, so the
/// same program runs on it, in one process, which plays one of the devices. Nothing is sent; the messages are counted
/// instead (cost_of.hpp).
///
///     auto const mesh = os::dry_mesh(X = 4, Y = 2);
///     os::cost const c = os::cost_of(mesh, [&] { step(mesh); });
///     std::printf("%lld bytes a step, %lld at once\n", (long long)c.bytes, (long long)c.peak_memory);

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include <ostraka/meshes/make_mesh.hpp>

namespace ostraka {

namespace detail {

template <class... Ms>
mesh<Ms...> make_dry_mesh(std::int64_t device, engine::node_request const& nodes, named_extent<Ms>... sizes) {
  using twice = first_repeated<type_list<Ms...>>;
  if constexpr (!std::is_void_v<twice>) reason::raise<reason::extent_given_twice<twice>>();
  return mesh<Ms...>(std::shared_ptr<engine::device_mesh const>(new engine::device_mesh const(
      engine::device_mesh::dry({std::string(Ms::name)...}, {checked_mesh_size(sizes)...}, device, nodes))));
}

}  // namespace detail

/// The device that a process plays on a dry mesh: `os::dry_mesh(os::as_device(5), X = 4, Y = 2)`.
struct dry_device {
  std::int64_t number = 0;
};
[[nodiscard]] constexpr dry_device as_device(std::int64_t number) { return {number}; }

/// A mesh of any size whose only device is this process, which plays the device of this number. Operations on it
/// allocate and compute the share of that device, and send nothing. Received elements are zeros; a sum is this device's
/// part; numbers that other devices would send are assumed to equal its own. So values have no meaning on a dry mesh,
/// and a program's control flow must not depend on them. Not collective. @throws ostraka::error if the mesh has no such
/// device
template <class... Sizes>
  requires(detail::names_a_size<Sizes> && ...)
[[nodiscard]] auto dry_mesh(dry_device device, Sizes... sizes) {
  detail::require_running();
  return detail::make_dry_mesh(device.number, {}, detail::as_mesh_size(sizes)...);
}

/// A dry mesh with several nodes (the other overloads have one node): `os::dry_mesh(os::as_device(5),
/// os::devices_per_node(8), X = 256, Y = 8)`, `os::dry_mesh(os::as_device(5), os::within_node(X = 2, Y = 4), X = 256, Y
/// = 8)`.
template <class Nodes, class... Sizes>
  requires(detail::is_node_option<Nodes> && (detail::names_a_size<Sizes> && ...))
[[nodiscard]] auto dry_mesh(dry_device device, Nodes nodes, Sizes... sizes) {
  detail::require_running();
  return detail::make_dry_mesh(device.number, detail::nodes_of(nodes, detail::as_mesh_size(sizes)...),
                               detail::as_mesh_size(sizes)...);
}

/// The same as device 0: `os::dry_mesh(X = 4, Y = 2)`.
template <class... Sizes>
  requires(detail::names_a_size<Sizes> && ...)
[[nodiscard]] auto dry_mesh(Sizes... sizes) { return dry_mesh(dry_device{}, sizes...); }
template <class Nodes, class... Sizes>
  requires(detail::is_node_option<Nodes> && (detail::names_a_size<Sizes> && ...))
[[nodiscard]] auto dry_mesh(Nodes nodes, Sizes... sizes) { return dry_mesh(dry_device{}, nodes, sizes...); }

/// True if the mesh has no devices.
template <class... Ms>
[[nodiscard]] bool is_dry(mesh<Ms...> const& m) {
  return m.handle()->is_dry();
}

}  // namespace ostraka
