// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::from_dlpack<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>(mesh, I = n, J = m, managed)`: uses another
/// library's array with ghost layers in place, as os::from_local uses one of the program.

#include <utility>

#include <ostraka/dlpack/from_dlpack.hpp>
#include <ostraka/local_view/halos/adopt_ghosted.hpp>

namespace ostraka {

namespace detail {

// A way to take a DLPack tensor, as adopts_dlpack.
template <class Ghosts>
struct adopts_ghosted_dlpack : adopts_dlpack {
  template <class TensorType, class Array, class Mesh, class... Extents>
  static Ghosts run(Mesh const& m, engine::dlpack_given given, Extents const&... extents) {
    Array array{checked_dlpack<TensorType, element<TensorType>>("from_dlpack", m, given, extents...)};
    auto const keep = [&](auto& block) { engine::keep_owner(block, std::move(given.owner), label_of_ours); };
    return adopt_ghosted<Ghosts>("from_dlpack", m, array, keep, of_distribution{}, extents...);
  }
};

}  // namespace detail

/// Uses another library's array with ghost layers as this device's os::ghosted_array. The array has any positive
/// strides, and its extents are those of the device's block plus its ghost layers; the extents in the call do not count
/// these. Everything else is as for a tensor.
/// @throws ostraka::error, on all devices alike, if an array has other elements, dimensions, extents or memory, or
/// strides that are not positive, or if a halo is wider than its axis
template <class T, auto... Dims, class Mesh, class... ExtentsThenTensor>
  requires(detail::names_ghosts<Dims...>)
[[nodiscard]] auto from_dlpack([[maybe_unused]] Mesh const& m,
                               [[maybe_unused]] ExtentsThenTensor&&... extents_then_tensor) {
  using ghosts = basic_ghosted_array<typename detail::element<T>::type, sharding_of<Dims...>>;
  using owned = basic_tensor<typename ghosts::element_type, typename detail::owned_tensor<ghosts>::sharding_type,
                             typename ghosts::space>;
  return detail::from_last_dlpack<detail::adopts_ghosted_dlpack<ghosts>, owned>(
      m, std::forward<ExtentsThenTensor>(extents_then_tensor)...);
}

}  // namespace ostraka
