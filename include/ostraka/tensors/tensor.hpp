// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The tensor: `os::tensor<float, I/X, J>` is A[I_X, J]. Its axes and its sharding are its type; it holds this
/// device's block.

#include <Kokkos_Core.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/meshes/mesh.hpp>
#include <ostraka/plan/typed/varying_results.hpp>
#include <ostraka/tensors/element_types.hpp>
#include <ostraka/tensors/elements_elsewhere.hpp>
#include <ostraka/tensors/unnamed_tensor.hpp>
#include <ostraka/types/reasons/operation_names.hpp>
#include <ostraka/types/shardings/halo.hpp>
#include <ostraka/types/shardings/sharding.hpp>

namespace ostraka {

template <class T, class Sharding, class Space>
class basic_tensor;

namespace detail {

// True if the verdict is ok; else raises the reason. It is a function because clang drops a declaration with an error,
// but not a function's name.
template <class T, class Sharding>
consteval bool require_well_sharded() {
  return reason::ok_or_raise<tensor_verdict<T, Sharding>>();
}

// The sharding in the program's notation, even if it has been refused, so that every use of it finds this fault and no
// other.
template <class Sharding, bool>
struct checked_sharding {
  using type = Sharding;
};

template <class T, auto... Dims>
using checked_sharding_of =
    typename checked_sharding<sharding_of<Dims...>,
                              require_well_sharded<typename element<T>::type, sharding_of<Dims...>>()>::type;

// The parts of a tensor's type. A refused type gets no axes, so that Kokkos does not also report ranks and elements.
template <class T, class Sharding, class Space, bool = require_well_sharded<T, Sharding>()>
struct tensor_parts {
  using type = unnamed_tensor<float, 0, Space>;
};

template <class T, class Sharding, class Space>
struct tensor_parts<T, Sharding, Space, true> {
  static constexpr int rank = sharding_traits<Sharding>::axes::size;
  using type = std::conditional_t<(sharding_traits<Sharding>::varying::size > 0), unnamed_block<T, rank, Space>,
                                  unnamed_tensor<T, rank, Space>>;
};

// True if the two are the same except for mesh axes along which only the second varies.
template <class From, class To>
inline constexpr bool varies_less = false;
template <class... From, class... To>
inline constexpr bool varies_less<sharding<From...>, sharding<To...>> =
    !std::is_same_v<sharding<From...>, sharding<To...>> && varying_in<sharding<To...>>::size > 0 &&
    std::is_same_v<varying_as<sharding<From...>, sharding<To...>>, sharding<To...>>;

// True for a tensor of another type in the same memory space.
template <class Other, class TensorType>
inline constexpr bool is_other_tensor = false;
template <class T, class From, class U, class To, class Space>
inline constexpr bool is_other_tensor<basic_tensor<T, From, Space>, basic_tensor<U, To, Space>> =
    (!std::is_same_v<T, U> && !std::is_same_v<T const, U>) || (!std::is_same_v<From, To> && !varies_less<From, To>);

// An invalid type raises its own error, and no further one.
template <class Other, class TensorType>
consteval auto check_assignment() {
  using from = typename Other::element_type;
  using to = typename TensorType::element_type;
  using given = typename Other::sharding_type;
  using wanted = typename TensorType::sharding_type;
  if constexpr (!std::is_same_v<first_fault<tensor_verdict<from, given>, tensor_verdict<to, wanted>>, reason::ok>)
    return found<reason::ok>{};
  else if constexpr (!std::is_same_v<std::remove_const_t<from>, std::remove_const_t<to>>)
    return found<reason::element_types_differ<from, to>>{};
  else if constexpr (!std::is_same_v<typename Other::axes, typename TensorType::axes>)
    return found<reason::assigned_other_axes<given, wanted>>{};
  else if constexpr (varies_less<wanted, given>)
    return found<reason::loop_changes_variance<
        typename type_at<difference_of<varying_in<given>, varying_in<wanted>>, 0>::type, given, wanted>>{};
  else if constexpr (!std::is_same_v<given, wanted>)
    return found<reason::assigned_another_sharding<given, wanted>>{};
  else
    return found<reason::elements_are_constant<from>>{};
}

// The reason why `Other` cannot be assigned to `TensorType`.
template <class Other, class TensorType>
using assignment_verdict = typename decltype(check_assignment<Other, TensorType>())::type;

// True if the list has the axis with a halo: `extent(I)` of float[I(1), J].
template <class Axes, class A>
inline constexpr bool pads = false;
template <class... As, class A>
inline constexpr bool pads<type_list<As...>, A> = !std::is_void_v<typename halo_of<A, type_list<As...>>::type>;

template <class A, class Axes>
using padding_of = typename halo_of<A, Axes>::type;

template <class Padded, class TensorType>
auto own_extent_of_padded(TensorType const& t) {
  constexpr auto at = static_cast<std::size_t>(position_in<Padded, axes_in<TensorType>>);
  std::int64_t const own = t.extents()[at] - unpadded_axis<Padded>::margins.both();
  if constexpr (varying_in<TensorType>::size > 0)
    return own_extent(own, t.origins()[at].padded_by(-unpadded_axis<Padded>::margins.both()));
  else
    return own;
}

// The execution context of a tensor with these mesh axes and extents.
inline engine::execution_context context_of_tensor(char const* operation, engine::device_mesh const& mesh,
                                                   std::string_view const* mesh_axes, int count,
                                                   std::int64_t const* extents, int rank) {
  auto w = engine::make_context(mesh, mesh_axes, count, operation);
  for (int i = 0; i < rank; ++i) w.sizes.label[w.sizes.labels++] = extents[i];
  return w;
}

// Returns the mesh; throws unless it also has these axes.
[[gnu::cold]] inline std::shared_ptr<engine::device_mesh const> mesh_that_has(
    std::shared_ptr<engine::device_mesh const> const& mesh, std::string_view const* names, int count) {
  if (!mesh) throw_error("mesh: an empty handle lives on no mesh; assign a tensor to it first");
  for (int i = 0; i < count; ++i)
    if (mesh->find(names[i]) < 0)
      throw_error("mesh: the tensor's mesh has the mesh axes that are asked for, but ", mesh->describe(), " has no ",
                  names[i], "; leave it out, or make the mesh with it");
  return mesh;
}

template <class... Ms>
auto tensor_mesh_of(std::shared_ptr<engine::device_mesh const> const& mesh, type_list<Ms...>) {
  return tensor_mesh<Ms...>(mesh_that_has(mesh, names_of<type_list<Ms...>>.data(), sizeof...(Ms)));
}

}  // namespace detail

/// This device's block of a sharded tensor, with its mesh and global extents. Copies are shallow, as for Kokkos::View.
/// An invalid tensor type does not compile: its first use is refused. With elements `T const`, as in a View of constant
/// elements, a tensor is read only. `Sharding` is the canonical os::sharding<…>; write the alias os::tensor<T, dims…>
/// instead.
template <class T, class Sharding, class Space = Kokkos::DefaultExecutionSpace::device_type>
class basic_tensor : public detail::tensor_parts<T, Sharding, Space>::type,
                     public detail::elements_elsewhere<std::remove_const_t<T>, Sharding> {
  using unnamed = typename detail::tensor_parts<T, Sharding, Space>::type;

 public:
  using value_type = std::remove_const_t<T>;                        ///< Kokkos::complex for a program's std::complex
  using element_type = T;                                           ///< constant in a read-only tensor
  using sharding_type = Sharding;                                   ///< the canonical os::sharding
  using space = Space;                                              ///< the Kokkos device of the block's memory
  using axes = typename sharding_traits<Sharding>::axes;            ///< the list of its axes
  using mesh_axes = typename sharding_traits<Sharding>::mesh_axes;  ///< the list of the mesh axes that its type names
  static constexpr int rank = axes::size;                           ///< the number of its axes

  using typename unnamed::extents_type;
  using typename unnamed::view_type;

  /// An empty handle, until a tensor is assigned.
  basic_tensor() = default;

  /// Takes a block without a copy. @pre the view has the extents of this device's block; os::from_local checks this
  basic_tensor(std::shared_ptr<engine::device_mesh const> mesh, extents_type const& extents, view_type local)
      : unnamed(std::move(mesh), extents, std::move(local)) {}

  /// Gives names to an unnamed tensor.
  explicit basic_tensor(unnamed&& tensor) : unnamed(std::move(tensor)) {}
  explicit basic_tensor(unnamed const& tensor) : unnamed(tensor) {}

  /// The same block, read only, or as a block that varies along more mesh axes.
  template <class U, class From>
    requires((std::is_same_v<U const, T> && std::is_same_v<From, Sharding>) ||
             ((std::is_same_v<U const, T> || std::is_same_v<U, T>)&&detail::varies_less<From, Sharding>))
  basic_tensor(basic_tensor<U, From, Space> const& a) : unnamed(a.mesh_handle(), a.extents(), a.local()) {
    this->share_label(a);
    if constexpr (varying_in<From>::size > 0) this->set_origins(a.origins());
  }

  /// Does not compile: the error says how another tensor differs in elements or sharding. An assignment does not move
  /// or convert anything.
  template <class Other>
    requires(detail::is_other_tensor<Other, basic_tensor>)
  basic_tensor(Other const&) { reason::raise<detail::assignment_verdict<Other, basic_tensor>>(); }

  /// The global extent of an axis. For a block, the extent on this device; for a padded axis, the extent without the
  /// halo.
  template <Axis A>
  [[nodiscard]] auto extent(A) const {
    if constexpr (detail::pads<axes, A>)
      return detail::own_extent_of_padded<detail::padding_of<A, axes>>(*this);
    else if constexpr (sharding_traits<Sharding>::varying::size > 0)
      return own_extent(this->extents()[index<A>()], this->origins()[index<A>()]);
    else
      return this->extents()[index<A>()];
  }

  /// The global index of this device's first element along an axis.
  template <Axis A>
  [[nodiscard]] std::int64_t global_offset(A) const {
    return range(static_cast<int>(index<A>())).begin;
  }

  /// The global indices of this device's block along dimension `i`.
  [[nodiscard, gnu::cold]] planner::range range(int i) const {
    return planner::range_of(spec_of<Sharding, axes, mesh_axes>, i, where().here, where().sizes);
  }

  /// The tensor's mesh, with the mesh axes in its type and `more` of them: `os::zeros<T>(A.mesh(), …)` on the same
  /// mesh, `A.mesh().coordinate(X)`. Write `A.mesh(X, Y)` if A divides no axis over Y.
  /// @throws ostraka::error for an empty handle, and if the mesh lacks one of `more`
  template <MeshAxis... More>
  [[nodiscard, gnu::cold]] auto mesh(More...) const {
    using named = union_of<mesh_axes, typename sharding_traits<Sharding>::varying, type_list<More...>>;
    return detail::tensor_mesh_of(this->mesh_handle(), named{});
  }

  /// The extents of its axes and the sizes of its mesh axes by name, for plans and for new tensors.
  [[nodiscard]] auto sizes() const { return sizes(axes{}, mesh_axes{}); }

 private:
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
    return {named_extent<As>(As{}, this->extents()[index<As>()])...,
            named_extent<Ms>(Ms{}, where().sizes.mesh[position_in<Ms, mesh_axes>])...};
  }

  [[nodiscard]] engine::execution_context where() const {
    return detail::context_of_tensor("tensor", *this->mesh_handle(), detail::names_of<mesh_axes>.data(),
                                     mesh_axes::size, this->extents().data(), rank);
  }
};

/// A[I_X, J] is `tensor<float, I/X, J>`, in Kokkos' default memory.
template <class T, auto... Dims>
using tensor = basic_tensor<typename detail::element<T>::type, detail::checked_sharding_of<T, Dims...>,
                            Kokkos::DefaultExecutionSpace::device_type>;

/// The same in host memory.
template <class T, auto... Dims>
using host_tensor = basic_tensor<typename detail::element<T>::type, detail::checked_sharding_of<T, Dims...>,
                                 Kokkos::DefaultHostExecutionSpace::device_type>;

/// True for a tensor.
template <class T>
inline constexpr bool is_tensor = false;
template <class T, class Sharding, class Space>
inline constexpr bool is_tensor<basic_tensor<T, Sharding, Space>> = true;

/// A tensor with any elements and sharding.
template <class T>
concept Tensor = is_tensor<T>;

namespace detail {

// `reason::ok` if the elements of a tensor may be written.
template <class A>
consteval auto check_writable() {
  using element = typename A::element_type;
  if constexpr (std::is_const_v<element>)
    return found<reason::elements_are_constant<element>>{};
  else
    return found<reason::ok>{};
}

template <class A>
using writable_verdict = typename decltype(check_writable<A>())::type;

}  // namespace detail

}  // namespace ostraka
