// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Results that have new axes, with their own extents, in place of axes of an operand: os::top_k, os::fft.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/along.hpp>

namespace ostraka::detail {

/// `reason::ok` if the axis K may replace the named axis: A has no axis K, or K is the named axis itself.
template <class Operation, class Dim, class K, class A>
consteval auto check_new_name() {
  if constexpr (position_in<K, axes_in<A>> >= 0 && !std::is_same_v<K, typename axis_argument<Dim>::axis>)
    return found<reason::new_axis_already_exists<K, sharding_in<A>, Operation>>{};
  else
    return found<reason::ok>{};
}

/// The sharding with the axes Ks, which are whole, in place of the axes Is, one for one.
template <class Sharding, class Is, class Ks>
struct with_new_axes {
  using type = Sharding;
};
template <class Sharding, class I, class... Is, class K, class... Ks>
struct with_new_axes<Sharding, type_list<I, Is...>, type_list<K, Ks...>>
    : with_new_axes<typename replace_entry<Sharding, I, K>::type, type_list<Is...>, type_list<Ks...>> {};

/// A tensor like A with the axes Ks in place of Is, whose block `make` returns: make(type of the view, its extents).
/// `extents`: those of the whole result, in the order of A.
/// @pre the axes Is are whole
template <class T, class Is, class Ks, class A, class Make>
auto tensor_with_axes(char const* operation, A const& a, typename A::extents_type const& extents, Make const& make) {
  using result_type = basic_tensor<T, typename with_new_axes<sharding_in<A>, Is, Ks>::type, typename A::space>;
  constexpr auto rank = static_cast<std::size_t>(A::rank);
  bool const absent = common_mesh(operation, a)->absent();
  std::int64_t local[max_rank + 1]{};
  for (std::size_t i = 0; i < rank; ++i) local[i] = static_cast<std::int64_t>(a.local().extent(i));
  auto const replace = [&](int at) { local[at] = absent ? 0 : extents[static_cast<std::size_t>(at)]; };
  [&]<class... I>(type_list<I...>) { (replace(position_in<I, axes_in<A>>), ...); }(Is{});
  result_type result(a.mesh_handle(), extents, make(std::type_identity<typename result_type::view_type>(), local));
  if constexpr (varying_in<result_type>::size > 0) {
    auto origins = a.origins();
    auto const forget = [&](int at, bool is_new) {
      if (is_new) origins[static_cast<std::size_t>(at)] = {};
    };
    [&]<class... I, class... K>(type_list<I...>, type_list<K...>) {
      (forget(position_in<I, axes_in<A>>, !std::is_same_v<I, K>), ...);
    }(Is{}, Ks{});
    result.set_origins(origins);
  }
  return result;
}

/// The maker of an uninitialised block.
struct make_new_block {
  template <class View>
  View operator()(std::type_identity<View>, std::int64_t const* extents) const {
    return make_view<View>(extents, std::make_index_sequence<static_cast<std::size_t>(View::rank)>{});
  }
};

/// An uninitialised tensor like A with an axis K, of extent `extent`, in place of I.
template <class T, class I, class K, class A>
auto make_with_axis(char const* operation, A const& a, std::int64_t extent) {
  auto extents = a.extents();
  extents[static_cast<std::size_t>(position_in<I, axes_in<A>>)] = extent;
  return tensor_with_axes<T, type_list<I>, type_list<K>>(operation, a, extents, make_new_block());
}

}  // namespace ostraka::detail
