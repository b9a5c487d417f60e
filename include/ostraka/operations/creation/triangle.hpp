// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Triangles: `os::lower_triangle<T, Q/X, K>(mesh, Q = n, K = m)` is 1 where k ≤ q, a causal mask, and
/// `os::lower_triangle<Q, K>(x)` is x there and 0 elsewhere. Each device knows its own indices; nothing moves.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/calls/along.hpp>
#include <ostraka/creation/creation_options.hpp>
#include <ostraka/creation/generate.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/plan/typed/inside.hpp>

namespace ostraka {

namespace detail {

/// 1 if column k is at or left of the diagonal of row q (lower), or at or right of it (upper); else 0.
template <class T, bool Lower>
struct in_triangle {
  std::int64_t diagonal;
  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t q, std::int64_t k) const {
    return (Lower ? k - q <= diagonal : k - q >= diagonal) ? T(1) : T(0);
  }
};

template <class T, bool Lower>
struct in_triangle_of_columns {
  in_triangle<T, Lower> of_rows;
  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t k, std::int64_t q) const { return of_rows(q, k); }
};

struct keep_where {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& x, std::int32_t const& kept) const {
    return kept != 0 ? x : T(0);
  }
};

template <class TensorType, class Operation>
consteval auto check_two_axes() {
  if constexpr (TensorType::rank != 2)
    return found<reason::triangle_has_two_axes<typename TensorType::sharding_type>>{};
  else
    return found<values_verdict<TensorType, Operation>>{};
}

template <bool Lower, class Operation, class T, auto... Dims, class Mesh, class... Given>
auto make_triangle(Mesh const& m, Given const&... given) {
  using tensor_type = typename named_tensor<T, Dims...>::type;
  using verdict = first_fault<typename decltype(check_two_axes<tensor_type, Operation>())::type,
                              typename options_given<Operation, type_list<diagonal>, Given...>::verdict>;
  auto t = make_uninitialised<tensor_type, verdict>(Operation::name, m, extents_beside<is_option<Given>>(given)...);
  if constexpr (std::is_same_v<decltype(t), tensor_type>)
    generate_elements(Operation::name, t,
                      in_triangle<typename tensor_type::value_type, Lower>{option_among(diagonal(0), given...).value});
  return t;
}

}  // namespace detail

namespace operation {

/// The operation on a tensor. `Row` and `Column`: the axes as the call names them.
template <bool Lower, class Row = void, class Column = void>
struct triangle : detail::moves_nothing {
  static constexpr char const* name = Lower ? "lower_triangle" : "upper_triangle";

  std::int64_t diagonal = 0;

  template <class A>
  using verdict =
      detail::first_fault<typename sharding_traits<sharding_in<A>>::verdict, detail::blocks_verdict<sharding<>, A>,
                          detail::whole_values_verdict<triangle, A>, detail::bare_axis_verdict<triangle, Row, A>,
                          detail::bare_axis_verdict<triangle, Column, A>>;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    using q = typename detail::axis_argument<Row>::axis;
    using k = typename detail::axis_argument<Column>::axis;
    return kept<q, k>(a);
  }

 private:
  // The mask of the two axes, divided as the tensor is, in its order.
  template <class Q, class K, class A>
  auto kept(A const& a) const {
    constexpr int row = position_in<Q, axes_in<A>>;
    constexpr int column = position_in<K, axes_in<A>>;
    if constexpr (row < column) {
      return masked<Q, K>(a, detail::in_triangle<std::int32_t, Lower>{diagonal});
    } else {
      return masked<K, Q>(a, detail::in_triangle_of_columns<std::int32_t, Lower>{{diagonal}});
    }
  }

  template <class First, class Second, class A, class F>
  auto masked(A const& a, F const& f) const {
    using s = sharding_in<A>;
    using mask_sharding =
        detail::canonical_sharding<typename detail::divided_over<First, detail::splits_of<First, s>>::type,
                                   typename detail::divided_over<Second, detail::splits_of<Second, s>>::type>;
    using mask_type = basic_tensor<std::int32_t, varying_as<mask_sharding, A>, typename A::space>;
    constexpr auto first = static_cast<std::size_t>(position_in<First, axes_in<A>>);
    constexpr auto second = static_cast<std::size_t>(position_in<Second, axes_in<A>>);
    auto mask = detail::allocate<mask_type>(detail::common_mesh(name, a), {a.extents()[first], a.extents()[second]});
    if constexpr (varying_in<A>::size > 0) mask.set_origins({a.origins()[first], a.origins()[second]});
    detail::generate_elements(name, mask, f);
    return ostraka::map(detail::keep_where{}, a, mask);
  }
};

}  // namespace operation

/// 1 where the column is at or left of the row's diagonal, else 0: `os::lower_triangle<int, Q/X, K>(mesh, Q = n, K =
/// m)`. The first axis counts rows. os::diagonal(d) moves the diagonal d columns to the right, as for queries that
/// begin at position d. Give extents by name.
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] constexpr auto lower_triangle(Mesh const& m, Given const&... given) {
  return detail::make_triangle<true, operation::triangle<true>, T, Dims...>(m, given...);
}

/// 1 where the column is at or right of the row's diagonal.
template <class T, auto... Dims, class Mesh, class... Given>
[[nodiscard]] constexpr auto upper_triangle(Mesh const& m, Given const&... given) {
  return detail::make_triangle<false, operation::triangle<false>, T, Dims...>(m, given...);
}

/// The tensor where the column is at or left of the row's diagonal, and 0 elsewhere: `os::lower_triangle<Q, K>(x)`, for
/// each of the matrices along its other axes. However x is divided, nothing moves.
template <auto Row, auto Column, TensorOrVariable A>
[[nodiscard]] constexpr auto lower_triangle(A const& a, diagonal d = diagonal(0)) {
  return detail::operate(operation::triangle<true, detail::type_of<Row>, detail::type_of<Column>>{{}, d.value}, a);
}

/// The tensor where the column is at or right of the row's diagonal.
template <auto Row, auto Column, TensorOrVariable A>
[[nodiscard]] constexpr auto upper_triangle(A const& a, diagonal d = diagonal(0)) {
  return detail::operate(operation::triangle<false, detail::type_of<Row>, detail::type_of<Column>>{{}, d.value}, a);
}

}  // namespace ostraka
