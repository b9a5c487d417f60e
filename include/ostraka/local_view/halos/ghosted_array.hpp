// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::ghosted_array<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>`: a program's own array with ghost layers,
/// as the padded block double[I(1), J(1)] {V_XY}. Unlike a tensor's block it may have any layout: column-major, or a
/// part of a larger array. A program keeps it between bodies, and may pass it to them.

#include <Kokkos_Core.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>

#include <ostraka/calls/shared_memory.hpp>
#include <ostraka/engine/spmd/ended.hpp>
#include <ostraka/local_view/shard_map.hpp>
#include <ostraka/plan/typed/inside.hpp>
#include <ostraka/tensors/tensor.hpp>
#include <ostraka/types/shardings/halo.hpp>

namespace ostraka {

/// A program's array with ghost layers; os::from_local makes it. `Divided` has the axes with their halos and the mesh
/// axes that divide them. It is an operand of os::exchange_halo_into, os::stencil, os::stencil_into,
/// os::for_each_point, os::sum_over_points and os::own, in a body and outside, and of os::shard_map, which passes it to
/// the body unchanged. Copies are shallow.
template <class T, class Divided, class Space = Kokkos::DefaultExecutionSpace::device_type>
class basic_ghosted_array {
 public:
  using value_type = std::remove_const_t<T>;  ///< Kokkos::complex for a program's std::complex
  using element_type = T;                     ///< constant in a read-only array
  using divided_type = Divided;               ///< the axes with their halos and the mesh axes that divide them
  using sharding_type = detail::inside_of<Divided, mesh_axes_in<Divided>>;  ///< of the padded block
  using space = Space;                                                      ///< the Kokkos device of the array's memory
  using axes = typename sharding_traits<sharding_type>::axes;  ///< the list of its axes, os::halo<I, 1> among them
  using mesh_axes = type_list<>;                               ///< none: the padded block is divided no further
  using has_own_layout = void;                                 ///< operations that need a row-major block refuse it
  static constexpr int rank = axes::size;                      ///< the number of its axes

  /// This device's array with its ghost layers: one dimension for each axis, in the order of the axes.
  using view_type = Kokkos::View<typename detail::add_pointers<T, rank>::type, Kokkos::LayoutStride, Space>;
  using extents_type = std::array<std::int64_t, static_cast<std::size_t>(rank)>;  ///< one extent per axis

  /// For each axis, where the blocks of all devices begin, then the end of the last block; null for the block
  /// distribution.
  using begins_type = std::array<std::int64_t const*, static_cast<std::size_t>(rank)>;

  /// An empty handle, until an array is assigned.
  basic_ghosted_array() = default;

  /// Wraps an array. `first`: the global indices of the first element that this device owns. @pre the view has the
  /// padded extents of this device's block; os::from_local checks this
  basic_ghosted_array(std::shared_ptr<engine::device_mesh const> mesh, extents_type const& extents,
                      detail::extent_origins<rank> const& origins, extents_type const& first, view_type local,
                      begins_type const& begins = {})
      : mesh_(std::move(mesh)),
        extents_(extents),
        origins_(origins),
        first_(first),
        begins_(begins),
        local_(std::move(local)) {}

  basic_ghosted_array(basic_ghosted_array const&) = default;
  basic_ghosted_array(basic_ghosted_array&&) noexcept = default;
  basic_ghosted_array& operator=(basic_ghosted_array other) noexcept {
    std::swap(mesh_, other.mesh_);
    std::swap(extents_, other.extents_);
    std::swap(origins_, other.origins_);
    std::swap(first_, other.first_);
    std::swap(begins_, other.begins_);
    std::swap(local_, other.local_);
    return *this;
  }
  ~basic_ghosted_array() { engine::leak_view(local_); }

  /// The array. Writing to it writes to the program's memory.
  [[nodiscard]] view_type const& local() const { return local_; }

  /// This device's extents, ghost layers included, in the order of the axes.
  [[nodiscard]] extents_type const& extents() const { return extents_; }

  /// The number of indices of an axis that this device owns, without ghost layers; named as os::halo<I, 1>, with them.
  template <Axis A>
  [[nodiscard]] own_extent extent(A) const {
    constexpr auto at = dimension<A>();
    constexpr int more =
        position_in<A, axes> >= 0
            ? 0
            : detail::unpadded_axis<typename detail::type_at<axes, static_cast<int>(at)>::type>::margins.both();
    return {extents_[at] - more, origins_[at].padded_by(-more)};
  }

  /// The global index of the first index of an axis that this device owns.
  template <Axis A>
  [[nodiscard]] std::int64_t global_offset(A) const {
    return first_[dimension<A>()];
  }

  /// The mesh of the array, with the mesh axes that divide it.
  [[nodiscard, gnu::cold]] auto mesh() const {
    return detail::tensor_mesh_of(mesh_, typename sharding_traits<sharding_type>::varying{});
  }
  /// For the library: the mesh of the array; null for an empty handle.
  [[nodiscard]] std::shared_ptr<engine::device_mesh const> const& mesh_handle() const { return mesh_; }

  /// The origins of the extents.
  [[nodiscard]] detail::extent_origins<rank> const& origins() const { return origins_; }

  /// For the library: where blocks begin if the program divides an axis by a rule of its own. Equal begins have one
  /// address.
  [[nodiscard]] begins_type const& begins() const { return begins_; }

  /// The memory from its first element to the end of its last one.
  [[nodiscard]] detail::memory_range memory() const {
    std::int64_t last = local_.size() == 0 ? -1 : 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(rank) && last >= 0; ++d)
      last += static_cast<std::int64_t>((local_.extent(d) - 1) * local_.stride(d));
    auto const* const begin = reinterpret_cast<char const*>(local_.data());
    return {begin, begin + (last + 1) * static_cast<std::int64_t>(sizeof(T))};
  }

 private:
  template <class A>
  static constexpr std::size_t dimension() {
    using own = axes_in<sharding_without_halos<sharding_type>>;
    if constexpr (position_in<A, own> < 0 && position_in<A, axes> < 0) {
      reason::raise<reason::axis_missing<A, sharding_type>>();
      return 0;
    } else {
      return static_cast<std::size_t>(position_in<A, own> >= 0 ? position_in<A, own> : position_in<A, axes>);
    }
  }

  std::shared_ptr<engine::device_mesh const> mesh_;
  extents_type extents_{};
  detail::extent_origins<rank> origins_{};
  extents_type first_{};
  begins_type begins_{};
  view_type local_;
};

/// An array of T with these dimensions, named as for a tensor. Axes named os::halo have ghost layers.
template <class T, auto... Dims>
  requires(detail::names_ghosts<Dims...>)
using ghosted_array = basic_ghosted_array<typename detail::element<T>::type, sharding_of<Dims...>>;

template <class T, class Divided, class Space>
inline constexpr bool is_operand<basic_ghosted_array<T, Divided, Space>> = true;

namespace detail {

template <class T>
inline constexpr bool is_ghosted = false;
template <class T, class Divided, class Space>
inline constexpr bool is_ghosted<basic_ghosted_array<T, Divided, Space>> = true;

template <class T>
concept Ghosted = is_ghosted<T>;

// The operands of halos and stencils: blocks, and arrays with ghost layers.
template <class T>
concept BlockOrArray = TensorOrVariable<T> || is_ghosted<T>;

// A body gets the array unchanged.
template <class T, class Divided, class Space>
struct tensors_in<basic_ghosted_array<T, Divided, Space>> {
  using type = type_list<>;
  using tree = basic_ghosted_array<T, Divided, Space>;
  static constexpr bool found = true;

  template <class Manual>
  static tree enter(char const*, tree const& a) {
    return a;
  }
};

// True if two operands share memory. Components of an array of structs interleave: they share no element if all strides
// are multiples of a number and the distance between the two arrays is not.
template <class A, class B>
bool share_memory(A const& a, B const& b) {
  if (!memory_of(a).overlaps(memory_of(b))) return false;
  if constexpr (is_ghosted<A> && is_ghosted<B>) {
    std::int64_t common = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(A::rank); ++d) {
      common = std::gcd(common, static_cast<std::int64_t>(a.local().stride(d)));
      common = std::gcd(common, static_cast<std::int64_t>(b.local().stride(d)));
    }
    auto const bytes =
        reinterpret_cast<char const*>(a.local().data()) - reinterpret_cast<char const*>(b.local().data());
    auto const size = static_cast<std::int64_t>(sizeof(typename A::value_type));
    return common == 0 || bytes % size != 0 || bytes / size % common == 0;
  } else {
    return true;
  }
}

}  // namespace detail

}  // namespace ostraka
