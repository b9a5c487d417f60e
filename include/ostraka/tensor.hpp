// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The tensor: `os::tensor<float, I/X, J>` is A[I_X, J]. Its axes and its sharding are its type; it holds this device's block.

#include <Kokkos_Core.hpp>

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <ostraka/engine/locale.hpp>
#include <ostraka/mesh.hpp>
#include <ostraka/plan/door.hpp>
#include <ostraka/types/operations.hpp>
#include <ostraka/types/sharding.hpp>

namespace ostraka {

namespace detail {

template <class T, int Rank>
struct add_pointers : add_pointers<T*, Rank - 1> {};

template <class T>
struct add_pointers<T, 0> {
  using type = T;
};

// std::complex is not for devices: its place is taken by Kokkos::complex, of the same layout.
template <class T>
struct element {
  using type = T;
};

template <class T>
struct element<std::complex<T>> {
  using type = Kokkos::complex<T>;
};

template <class T>
inline constexpr bool is_element = is_one_of<T, float, double, Kokkos::complex<float>, Kokkos::complex<double>, std::int32_t, std::int64_t>;

template <class T>
using element_verdict = std::conditional_t<is_element<T>, reason::ok, reason::element_type_unsupported<T>>;

}  // namespace detail

/// A block of a sharded tensor and what it is a block of. Copies are shallow, like Kokkos::View's.
/// `Sharding` is the canonical os::sharding<…>; write the alias os::tensor<T, dims…> instead.
template <class T, class Sharding, class Space = Kokkos::DefaultExecutionSpace::device_type>
class basic_tensor {
 public:
  using value_type = T;
  using sharding_type = Sharding;
  using space = Space;
  using axes = typename sharding_traits<Sharding>::axes;
  using mesh_axes = typename sharding_traits<Sharding>::mesh_axes;
  static constexpr int rank = axes::size;

  /// This device's block: row-major, one dimension per axis, in the order of the axes.
  using view_type = Kokkos::View<typename detail::add_pointers<T, rank>::type, Kokkos::LayoutRight, Space>;

  /// An empty handle, to be assigned to.
  basic_tensor() { validate(); }

  /// Takes a block as it is. @pre the view has the extents of this device's block; os::from_local checks it
  basic_tensor(std::shared_ptr<engine::device_mesh const> mesh, std::array<std::int64_t, rank> const& extents, view_type local)
      : mesh_(std::move(mesh)), extents_(extents), local_(std::move(local)) {
    validate();
  }

  /// This device's block; writing to it writes to the tensor.
  [[nodiscard]] view_type const& local() const { return local_; }

  /// The global extent of an axis.
  template <Axis A>
  [[nodiscard]] std::int64_t extent(A) const {
    return extents_[index<A>()];
  }

  /// The global index of this device's first element along an axis.
  template <Axis A>
  [[nodiscard]] std::int64_t global_offset(A) const {
    return range(static_cast<int>(index<A>())).begin;
  }

  /// The global indices of this device's block along dimension `i`.
  [[nodiscard]] planner::range range(int i) const {
    return planner::range_of(spec_of<Sharding, axes, mesh_axes>, i, where().here, where().sizes);
  }

  /// The extents of its axes and the sizes of its mesh axes by name, for the questions of a plan and for tensors alike.
  [[nodiscard]] auto sizes() const { return sizes(axes{}, mesh_axes{}); }

  [[nodiscard]] std::array<std::int64_t, rank> const& extents() const { return extents_; }

  /// The mesh that the tensor lives on; null for an empty handle.
  [[nodiscard]] std::shared_ptr<engine::device_mesh const> const& mesh_handle() const { return mesh_; }

 private:
  static consteval void validate() {
    reason::raise<typename sharding_traits<Sharding>::verdict>();
    reason::raise<detail::element_verdict<T>>();
  }

  template <class A>
  static constexpr std::size_t index() {
    if constexpr (position_in<A, axes> < 0) {
      reason::raise<reason::axis_missing<A, Sharding>>();
      return 0;
    } else {
      return static_cast<std::size_t>(position_in<A, axes>);
    }
  }

  template <class... As, class... Ms>
  [[nodiscard]] ostraka::sizes<As..., Ms...> sizes(type_list<As...>, type_list<Ms...>) const {
    return {named_extent<As>(As{}, extent(As{}))..., named_extent<Ms>(Ms{}, where().sizes.mesh[position_in<Ms, mesh_axes>])...};
  }

  [[nodiscard]] engine::locale where() const {
    static constexpr auto names = detail::names(mesh_axes{});
    auto w = engine::make_locale(*mesh_, names.data(), mesh_axes::size, "tensor");
    for (std::int64_t n : extents_) w.sizes.label[w.sizes.labels++] = n;
    return w;
  }

  std::shared_ptr<engine::device_mesh const> mesh_;
  std::array<std::int64_t, rank> extents_{};
  view_type local_;
};

/// A[I_X, J] is `tensor<float, I/X, J>`, in Kokkos' default memory.
template <class T, auto... Dims>
using tensor = basic_tensor<typename detail::element<T>::type, sharding_of<Dims...>, Kokkos::DefaultExecutionSpace::device_type>;

/// The same in host memory.
template <class T, auto... Dims>
using host_tensor = basic_tensor<typename detail::element<T>::type, sharding_of<Dims...>, Kokkos::DefaultHostExecutionSpace::device_type>;

/// Is it a tensor?
template <class T>
inline constexpr bool is_tensor = false;
template <class T, class Sharding, class Space>
inline constexpr bool is_tensor<basic_tensor<T, Sharding, Space>> = true;

template <class T>
concept Tensor = is_tensor<T>;

namespace detail {

template <class TensorType, std::size_t... Is>
typename TensorType::view_type make_view(TensorType const& shape, std::index_sequence<Is...>) {
  return typename TensorType::view_type(Kokkos::view_alloc(Kokkos::WithoutInitializing, "ostraka tensor"),
                                        static_cast<std::size_t>(shape.range(static_cast<int>(Is)).size())...);
}

// A fresh, uninitialised tensor. @pre the extents are checked
template <class TensorType>
TensorType allocate(std::shared_ptr<engine::device_mesh const> const& mesh, std::array<std::int64_t, TensorType::rank> const& extents) {
  return {mesh, extents, make_view(TensorType(mesh, extents, {}), std::make_index_sequence<TensorType::rank>{})};
}

}  // namespace detail

}  // namespace ostraka
