// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The local array that ScaLAPACK needs for an os::block_cyclic: its rows and columns, its leading dimension,
/// and the descriptor. These are numbers, so ScaLAPACK itself is not needed.
///
///     auto const cyclic = os::block_cyclic(I = 64, J = 64);
///     auto const there = os::scalapack_array_of<I/X, J/Y>(mesh, I = n, J = n, cyclic, context);
///     std::vector<double> local(there.elements());
///     os::copy_to_blocks(A, cyclic, os::strided(local.data(), I = 1, J = there.leading_dimension));
///     pdpotrf_("L", &order, local.data(), &one, &one, there.descriptor.data(), &info);

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include <ostraka/arrays/foreign/copy_blocks.hpp>

namespace ostraka {

/// This device's part of a matrix, column-major.
struct scalapack_array {
  std::int64_t rows = 0;  ///< numroc of ScaLAPACK
  std::int64_t columns = 0;            ///< numroc of the columns
  std::int64_t leading_dimension = 1;  ///< rows, but 1 at least
  std::array<int, 9> descriptor{};     ///< the argument of ScaLAPACK's functions

  /// The number of elements of the array, at least 1, so that a pointer to them is valid.
  [[nodiscard]] std::size_t elements() const {
    return static_cast<std::size_t>(leading_dimension * std::max<std::int64_t>(columns, 1));
  }
};

namespace detail {

template <class TensorType>
consteval auto check_matrix() {
  if constexpr (TensorType::rank != 2)
    return found<reason::scalapack_array_is_not_a_matrix<typename TensorType::sharding_type>>{};
  else
    return found<reason::ok>{};
}

inline int entry_of_descriptor(std::int64_t n) {
  if (n > std::numeric_limits<int>::max())
    throw_error("scalapack_array_of: a descriptor holds numbers of 32 bits, but one of the matrix is ", n,
                "; distribute a smaller matrix, or use a ScaLAPACK of 64-bit integers by a descriptor of your own");
  return static_cast<int>(n);
}

template <class TensorType, class Cyclic, class Mesh, class... Extents>
scalapack_array describe_matrix(Mesh const& m, Cyclic const& cyclic, int context, Extents const&... extents) {
  using mesh_axes = typename axes_of_exchange<TensorType, Cyclic>::type;
  char const* const name = "scalapack_array_of";
  constexpr planner::spec s = spec_of<TensorType, axes_in<TensorType>, mesh_axes>;
  TensorType const shape = shape_of_blocks<TensorType>(name, m, extents...);
  engine::execution_context const w = context_of<axes_in<TensorType>, mesh_axes>(name, shape);
  engine::foreign_layout const layout = dealt_layout<TensorType, mesh_axes>(w, s, cyclic);
  for (int d = 0; d < 2; ++d)
    if (layout.block[d] < 1)
      throw_error(name, ": a block that is dealt has one index at least, but along ", w.names.labels[s.label[d]],
                  " it has ", layout.block[d], "; give os::block_cyclic a positive number");
  dynamic_array<planner::box> const own = engine::own_of_dealt(w, s, layout);
  scalapack_array there;
  if (!own.empty()) {
    there.rows = own[0].at[0].size();
    there.columns = own[0].at[1].size();
    there.leading_dimension = std::max<std::int64_t>(there.rows, 1);
  }
  // Dense matrix, context, rows, columns, rows and columns of a block, the first block's process, leading dimension.
  std::int64_t const entries[9] = {1,
                                   w.mesh->absent() ? -1 : context,
                                   w.sizes.label[s.label[0]],
                                   w.sizes.label[s.label[1]],
                                   layout.block[0],
                                   layout.block[1],
                                   0,
                                   0,
                                   there.leading_dimension};
  for (std::size_t k = 0; k < 9; ++k) there.descriptor[k] = entry_of_descriptor(entries[k]);
  return there;
}

template <class TensorType, class Arguments, class Mesh, std::size_t... Is>
scalapack_array scalapack_array_of(Mesh const& m, Arguments const& arguments, std::index_sequence<Is...>) {
  constexpr std::size_t n = sizeof...(Is);
  using cyclic = std::remove_cvref_t<std::tuple_element_t<n, Arguments>>;
  using verdict =
      first_fault<typename decltype(check_matrix<TensorType>())::type,
                  creation_verdict<TensorType, Mesh, std::remove_cvref_t<std::tuple_element_t<Is, Arguments>>...>,
                  typename dealt_verdict<TensorType, cyclic>::type>;
  if constexpr (reason::ok_or_raise<verdict>())
    return describe_matrix<TensorType>(m, std::get<n>(arguments), std::get<n + 1>(arguments),
                                       std::get<Is>(arguments)...);
  else
    return {};
}

}  // namespace detail

/// The local array of a matrix with these two dimensions as rows and columns. After the extents, the last two arguments
/// are an os::block_cyclic and a context of BLACS. The context is that of a row-major grid with as many rows as there
/// are devices that divide the matrix's rows. Not collective.
/// @throws ostraka::error for blocks without indices, and for numbers that an int cannot hold
template <auto... Dims, class Mesh, class... ExtentsCyclicContext>
[[nodiscard]] scalapack_array scalapack_array_of(Mesh const& m, ExtentsCyclicContext const&... extents_cyclic_context) {
  using tensor_type = tensor<double, Dims...>;
  constexpr int n = static_cast<int>(sizeof...(ExtentsCyclicContext)) - 2;
  if constexpr (n < 0 || !detail::is_block_cyclic<detail::argument_at<n, ExtentsCyclicContext...>> ||
                !std::is_same_v<detail::argument_at<n + 1, ExtentsCyclicContext...>, int>) {
    reason::raise<reason::scalapack_array_is_not_a_matrix<typename tensor_type::sharding_type>>();
    return {};
  } else {
    return detail::scalapack_array_of<tensor_type>(m, std::forward_as_tuple(extents_cyclic_context...),
                                                   std::make_index_sequence<static_cast<std::size_t>(n)>{});
  }
}

}  // namespace ostraka
