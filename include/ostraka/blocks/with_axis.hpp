// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Results that have a new axis, with its own extent, in place of an operand's axis: os::top_k, os::fft.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/along.hpp>

namespace ostraka::detail {

/// `reason::ok` if the axis K, which replaces the axis that is named, is new in A, or is that axis itself.
template <class Operation, class Dim, class K, class A>
consteval auto check_new_name() {
  if constexpr (position_in<K, axes_in<A>> >= 0 && !std::is_same_v<K, typename axis_argument<Dim>::axis>)
    return found<reason::new_axis_already_exists<K, sharding_in<A>, Operation>>{};
  else
    return found<reason::ok>{};
}

/// An uninitialised tensor like A with an axis K, of extent `extent`, in place of I.
template <class T, class I, class K, class A>
auto make_with_axis(char const* operation, A const& a, std::int64_t extent) {
  using sharding_type = typename replace_entry<sharding_in<A>, I, K>::type;
  using result_type = basic_tensor<T, sharding_type, typename A::space>;
  using view = typename result_type::view_type;
  constexpr auto at = static_cast<std::size_t>(position_in<I, axes_in<A>>);
  constexpr auto rank = static_cast<std::size_t>(A::rank);
  auto extents = a.extents();
  extents[at] = extent;
  std::int64_t local[max_rank + 1]{};
  for (std::size_t i = 0; i < rank; ++i) local[i] = i == at ? extent : static_cast<std::int64_t>(a.local().extent(i));
  if (common_mesh(operation, a)->absent()) local[at] = 0;
  result_type result(a.mesh_handle(), extents, make_view<view>(local, std::make_index_sequence<rank>{}));
  if constexpr (varying_in<result_type>::size > 0) {
    auto origins = a.origins();
    if constexpr (!std::is_same_v<I, K>) origins[at] = {};
    result.set_origins(origins);
  }
  return result;
}

}  // namespace ostraka::detail
