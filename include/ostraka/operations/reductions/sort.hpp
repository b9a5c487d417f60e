// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::sort<J>(A)`, `os::argsort<J>(A)`, `os::sort_by_key<J>(keys)` along an axis that is whole on every
/// device: nothing moves, and a divided axis is refused. `os::top_k<J, K>(A, K = 5)` takes a divided axis, too.
///
///     sort<J>          [I_X, J]      → [I_X, J]                               nothing moved
///     top_k<J, K>      [I_X, J]      → [I_X, K], twice: values and indices    nothing moved
///     top_k<J/Y, K>    [I_X, J_Y]    → [I_X, K], twice                        K of each row of each device along Y

#include <cstdint>
#include <string>
#include <type_traits>

#include <ostraka/blocks/create.hpp>
#include <ostraka/blocks/with_axis.hpp>
#include <ostraka/calls/along.hpp>
#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/engine/blocks/sort_block.hpp>
#include <ostraka/engine/divided_rows/top_rows.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

/// The result of os::sort_by_key.
template <class Keys, class Permutation>
struct sorted_keys {
  Keys keys;                ///< in order
  Permutation permutation;  ///< their former indices
};

/// The result of os::top_k.
template <class Values, class Indices>
struct top_elements {
  Values values;    ///< the largest, largest first
  Indices indices;  ///< their indices
};

namespace detail {

template <class Operation, class Dim, class A>
consteval auto check_whole_axis() {
  using I = typename axis_argument<Dim>::axis;
  if constexpr (std::is_void_v<I>) {
    return found<reason::not_an_axis<Dim, Operation>>{};
  } else if constexpr (position_in<I, axes_in<A>> < 0) {
    return found<reason::axis_missing<I, sharding_in<A>>>{};
  } else if constexpr (splits_of<I, sharding_in<A>>::size > 0) {
    return found<reason::axis_must_be_whole<I, sharding_in<A>, Operation>>{};
  } else {
    return found<axis_argument_verdict<Operation, Dim, A>>{};
  }
}

/// The requirements of sorting along an axis.
template <class Operation, class Dim, class A>
using sort_verdict =
    first_fault<typename sharding_traits<sharding_in<A>>::verdict, blocks_verdict<sharding<>, A>,
                typename decltype(check_whole_axis<Operation, Dim, A>())::type, whole_values_verdict<Operation, A>,
                reducible_verdict<typename A::value_type, reduction::max, Operation>>;

/// The verdict on the operand of top_k, whose axis may be divided.
template <class Operation, class Dim, class A>
using top_verdict =
    along_verdict<Operation, Dim, A, reducible_verdict<typename A::value_type, reduction::max, Operation>>;

template <bool Largest, class Dim, class A>
void run_sort(char const* name, A const& a, engine::sorted_output<typename A::value_type> const& out) {
  using labels = axes_in<A>;
  using mesh = mesh_axes_in<A>;
  engine::execution_context const w = context_of<labels, mesh>(name, a);
  engine::sort_block<Largest>(execution_space_of<A>(), w, spec_of<A, labels, mesh>, dimension_of<Dim, A>,
                              elements_of(a), out);
}

template <class Dim, class A>
std::int64_t extent_along(A const& a) {
  return a.extents()[static_cast<std::size_t>(dimension_of<Dim, A>)];
}

/// A tensor for a sorted result, with the extents of A.
template <class T, class Dim, class A>
auto sorted_like(char const* name, A const& a) {
  using I = typename axis_argument<Dim>::axis;
  common_mesh(name, a);
  return make_with_axis<T, I, I>(name, a, extent_along<Dim>(a));
}

/// A refused result with A's sharding.
template <class T, class A>
using refused_tensor = after_error_of<T, sharding_in<A>, typename A::space>;

[[noreturn, gnu::cold]] inline void throw_too_few(std::string_view axis, std::int64_t extent, std::string_view wanted,
                                                  std::int64_t k) {
  throw_error("top_k: the result has at most as many elements as the axis, but ", wanted, " = ", k, " and ", axis,
              " = ", extent, "; ask for fewer, or pad the axis with os::pad");
}

}  // namespace detail

namespace operation {

template <class Along>
struct sort : detail::moves_nothing {
  static constexpr char const* name = "sort";
  template <class A>
  using verdict = detail::sort_verdict<sort, Along, A>;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    auto const result = detail::sorted_like<typename A::value_type, Along>(name, a);
    detail::run_sort<false, Along>(name, a, {result.local().data(), nullptr, detail::extent_along<Along>(a)});
    return result;
  }
};

template <class Along>
struct argsort : detail::moves_nothing {
  static constexpr char const* name = "argsort";
  template <class A>
  using verdict = detail::sort_verdict<argsort, Along, A>;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    auto const result = detail::sorted_like<std::int64_t, Along>(name, a);
    detail::run_sort<false, Along>(name, a, {nullptr, result.local().data(), detail::extent_along<Along>(a)});
    return result;
  }
};

template <class Along>
struct sort_by_key : detail::moves_nothing {
  static constexpr char const* name = "sort_by_key";
  template <class A>
  using verdict = detail::sort_verdict<sort_by_key, Along, A>;
  template <class A>
  using refused =
      sorted_keys<detail::refused_tensor<typename A::value_type, A>, detail::refused_tensor<std::int64_t, A>>;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    auto const keys = detail::sorted_like<typename A::value_type, Along>(name, a);
    auto const permutation = detail::sorted_like<std::int64_t, Along>(name, a);
    detail::run_sort<false, Along>(name, a,
                                   {keys.local().data(), permutation.local().data(), detail::extent_along<Along>(a)});
    return sorted_keys<std::remove_const_t<decltype(keys)>, std::remove_const_t<decltype(permutation)>>{keys,
                                                                                                        permutation};
  }
};

/// The operation of os::top_k. `K` takes the place of the axis; its extent is an argument unless its type has it.
template <class Along, class K>
struct top_k {
  static constexpr char const* name = "top_k";
  static constexpr bool is_divided = detail::axis_argument<Along>::mesh::size > 0;

  template <class...>
  using moves = detail::moves_if_whole<Along>;
  /// Each device along the mesh axes that divide the axis sends K elements and indices of each row to the others.
  template <class A, class... Given>
  [[nodiscard]] constexpr detail::moves_of_call moved(A const& a, Given const&... given) const {
    using row = detail::moves_of_rows<A, detail::rows_of<Along, A>, typename detail::axis_argument<Along>::mesh, 1>;
    using mesh = mesh_axes_in<A>;
    planner::extents const e = detail::extents_by_name<axes_in<A>, mesh>::of(detail::sizes_of_call(a));
    std::int64_t const n = e.ways(detail::mesh_axes_numbered<mesh>(typename detail::axis_argument<Along>::mesh{}));
    std::int64_t const k = detail::checked_extent<false, K>(collect_sizes(given...), name);
    constexpr int width = static_cast<int>(sizeof(engine::row_candidate<typename A::value_type>));
    return {row::bytes_moved(e) / 2 * n * k * width, e.devices()};
  }

  template <class A, class... Given>
  using verdict = detail::first_fault<
      detail::top_verdict<top_k, Along, A>, typename decltype(detail::check_new_name<top_k, Along, K, A>())::type,
      typename decltype(detail::check_extents_given<false>(type_list<K>{}, type_list<Given...>{}))::type>;
  template <class A, class... Given>
  using refused =
      top_elements<detail::refused_tensor<typename A::value_type, A>, detail::refused_tensor<std::int64_t, A>>;

  template <class How, class A, class... Given>
  auto run(How const&, A const& a, Given const&... given) const {
    using I = typename detail::axis_argument<Along>::axis;
    std::int64_t const k = detail::checked_extent<false, K>(collect_sizes(given...), name);
    detail::common_mesh(name, a);
    std::int64_t const there = is_divided ? detail::extent_along<Along>(a) : detail::least_extent<Along>(name, a);
    if (there < k) detail::throw_too_few(I::name, there, K::name, k);
    auto const values = detail::make_with_axis<typename A::value_type, I, K>(name, a, k);
    auto const indices = detail::make_with_axis<std::int64_t, I, K>(name, a, k);
    if constexpr (is_divided)
      largest(a, k, values.local().data(), indices.local().data());
    else
      detail::run_sort<true, Along>(name, a, {values.local().data(), indices.local().data(), k});
    return top_elements<std::remove_const_t<decltype(values)>, std::remove_const_t<decltype(indices)>>{values, indices};
  }

 private:
  template <class A>
  static void largest(A const& a, std::int64_t k, typename A::value_type* values, std::int64_t* indices) {
    using labels = axes_in<A>;
    using mesh = mesh_axes_in<A>;
    engine::execution_context const w = detail::context_of<labels, mesh>(name, a);
    engine::top_rows(detail::execution_space_of<A>(), w, spec_of<A, labels, mesh>, detail::dimension_of<Along, A>,
                     detail::elements_of(a), k, values, indices);
  }
};

}  // namespace operation

/// The elements of each row in ascending order along an axis that is whole on every device. NaN comes last. Stable.
/// `os::sort<J>(A)`
template <auto Along, TensorOrVariable A>
[[nodiscard]] constexpr auto sort(A const& a) {
  return detail::operate(operation::sort<detail::type_of<Along>>{}, a);
}

/// The former indices of the elements in the order of os::sort; equal elements keep their order.
template <auto Along, TensorOrVariable A>
[[nodiscard]] constexpr auto argsort(A const& a) {
  return detail::operate(operation::argsort<detail::type_of<Along>>{}, a);
}

/// The sorted elements and their former indices: `auto [sorted, permutation] = os::sort_by_key<J>(keys)`. To put
/// another tensor B in the order of the keys, call os::take<J>(B, permutation).
template <auto Along, TensorOrVariable A>
[[nodiscard]] constexpr auto sort_by_key(A const& keys) {
  return detail::operate(operation::sort_by_key<detail::type_of<Along>>{}, keys);
}

/// The K largest elements of each row, largest first, and their indices. Equal elements keep their order, and NaN is
/// larger than all numbers. The axis K takes the place of J: `auto [values, indices] = os::top_k<J, K>(A, K = 5)`. If Y
/// divides J, `os::top_k<J/Y, K>` finds the largest over all devices along Y, and each has the result.
/// @throws ostraka::error, on all devices alike, if J has fewer elements
template <auto J, auto K, TensorOrVariable A, class... Given>
[[nodiscard]] constexpr auto top_k(A const& a, Given const&... given) {
  return detail::operate(operation::top_k<detail::type_of<J>, detail::type_of<K>>{}, a, given...);
}

}  // namespace ostraka
