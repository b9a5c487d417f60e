// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of operations with indices. os::take and os::scatter_add, and with it os::segment_sum, are
/// each other's derivative, computed in the sharding of the operand's cotangents. So the table is never gathered:
/// cotangents of rows move, or their sums, as os::scatter_add plans. The forward has already checked the indices.
/// Sorted elements are taken by the permutation.
///
///     take<V>(table, index)          scatter_add<V>(g, index)
///     scatter_add<V>(rows, index)    take<V>(g, index)
///     take<V>(a, at), stack<V>       zeros except at that index; take<V>(g, at)
///     sort, sort_by_key, top_k       as take<J>(A, permutation)
///     write_at(cache, t, row)        for the row, its positions; for the cache, the others

#include <cstdint>
#include <type_traits>

#include <ostraka/gradient/rules/moves/derivative_of_moves.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_shapes.hpp>
#include <ostraka/operations/indices/segment_sum.hpp>
#include <ostraka/operations/indices/take_at.hpp>
#include <ostraka/operations/indices/write_at.hpp>
#include <ostraka/operations/reductions/sort.hpp>
#include <ostraka/operations/shapes/stack.hpp>

namespace ostraka {

namespace detail {

/// Takes the place of an indexed axis if the index also has that axis.
struct place_axis : axis<"place"> {};

template <class V, class Index>
struct take_pullback {
  kept<true, Index> index;
  std::int64_t extent;
  extent_origin origin;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    ostraka::operation::scatter_add<V, sharding_in<Wanted>, promised_range> add;
    add.extent = extent;
    add.origin = origin;
    return operate(add, g, index.get());
  }
};

template <class V, class Index>
struct scatter_pullback {
  kept<true, Index> index;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return operate(ostraka::operation::take<V, sharding_in<Wanted>, promised_range>{}, g, index.get());
  }
};

template <class V>
struct take_at_pullback {
  std::int64_t at, extent;
  extent_origin origin;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return operate(ostraka::operation::put_at<V, sharding_in<Wanted>>{at, extent, origin}, g);
  }
};

/// The pullback of the operand at this index. The other operands, in the same memory, have pullbacks of their own.
template <class V, int Operand>
struct stack_pullback {
  std::int64_t at;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if constexpr (K == Operand)
      return operate(ostraka::operation::take_at<V, sharding_in<Wanted>>{at}, g);
    else
      return summed_to<Wanted>(g);
  }
};

/// Elements of `a` along I, by indices that also have the axis I, or another axis in its place.
template <class I, class A, class Index>
constexpr auto take_along(A const& a, Index const& index) {
  return operate(ostraka::operation::take<place_axis, void, promised_range>{}, ostraka::rename<I{}, place_axis{}>(a),
                 index);
}

/// take_along along a divided axis: each device looks up the indices of its own block, and a reduction combines the
/// elements.
template <class I, class K, class A, class Index>
constexpr auto take_along_divided(A const& a, Index const& index) {
  using out = typename replace_entry<sharding_in<A>, I, K>::type;
  return operate(ostraka::operation::take<place_axis, out, promised_range>{}, ostraka::rename<I{}, place_axis{}>(a),
                 index);
}

/// Writes the row into a copy of the cache, so that the cache keeps its values.
template <class Dim>
struct written_copy : moves_nothing {
  static constexpr char const* name = "write_at";
  std::int64_t position = 0;

  template <class Cache, class Row>
  using verdict = typename ostraka::operation::write_at<Dim>::template verdict<Cache, Row>;

  template <class How, class Cache, class Row>
  auto run(How const& how, Cache const& cache, Row const& row) const {
    return ostraka::operation::write_at<Dim>{{}, position}.run(how, copy(cache), row);
  }
};

/// A copy with zeros at the positions.
template <class Dim>
struct cleared_copy : moves_nothing {
  static constexpr char const* name = "write_at";
  std::int64_t position = 0, count = 0;

  template <class A>
  using verdict = reason::ok;

  template <class How, class A>
  auto run(How const& how, A const& a) const {
    using T = typename axis_argument<Dim>::axis;
    using rows = basic_tensor<typename A::value_type, with_entry<sharding_in<A>, T, T>, typename A::space>;
    auto extents = a.extents();
    extents[static_cast<std::size_t>(dimension_of<Dim, A>)] = count;
    auto const zeros = allocate<rows>(a.mesh_handle(), extents);
    fill_block(name, zeros, typename A::value_type(0.0f));
    return ostraka::operation::write_at<Dim>{{}, position}.run(how, copy(a), zeros);
  }
};

template <class Dim>
struct write_pullback {
  std::int64_t position, count;

  template <int K, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    if constexpr (K == 1) {
      ostraka::operation::window<Dim> const own{{}, position, position + count, 1};
      return summed_to<Wanted>(operate(own, g));
    } else {
      return summed_to<Wanted>(operate(cleared_copy<Dim>{{}, position, count}, g));
    }
  }
};

/// The positions of the largest elements.
template <class Along, class K>
struct largest_places : ostraka::operation::top_k<Along, K> {
  template <class A, class... Given>
  using refused = refused_tensor<std::int64_t, A>;

  template <class How, class A, class... Given>
  auto run(How const& how, A const& a, Given const&... given) const {
    return ostraka::operation::top_k<Along, K>{}.run(how, a, given...).indices;
  }
};

}  // namespace detail

template <class V, class Out, class Range>
struct derivative_of<operation::take<V, Out, Range>> {
  template <class Result, class Table, class Index>
  static constexpr auto pullback(operation::take<V, Out, Range> const&, Result const&, Table const& table,
                                 Index const& index) {
    return detail::take_pullback<V, Index>{detail::remember(index), detail::argument_extent<V>(table),
                                           detail::origin_in<V>(stop_gradient(table))};
  }
};

template <class V, class Out, class Range>
struct derivative_of<operation::scatter_add<V, Out, Range>> {
  template <class Operation, class Result, class Rows, class Index>
  static constexpr auto pullback(Operation const&, Result const&, Rows const&, Index const& index) {
    return detail::scatter_pullback<V, Index>{detail::remember(index)};
  }
};
template <class V, class Out, class Range>
struct derivative_of<operation::segment_sum<V, Out, Range>> : derivative_of<operation::scatter_add<V, Out, Range>> {};

template <class V, class Out>
struct derivative_of<operation::take_at<V, Out>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::take_at<V, Out> const& take, Result const&, A const& a) {
    return detail::take_at_pullback<V>{take.at, detail::argument_extent<V>(a), detail::origin_in<V>(stop_gradient(a))};
  }
};

template <class V, class Out>
struct derivative_of<operation::put_at<V, Out>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::put_at<V, Out> const& put, Result const&, A const&) {
    return detail::stack_pullback<V, 0>{put.at};
  }
};

template <class Named>
struct derivative_of<operation::stack<Named>> {
  template <class Result, class A>
  static constexpr auto pullback(operation::stack<Named> const&, Result const&, A const&) {
    return detail::stack_pullback<typename detail::stack_of<Named, A>::axis, 0>{0};
  }
};

template <class T>
struct derivative_of<operation::stack_next<T>> {
  template <class Result, class All, class A>
  static constexpr auto pullback(operation::stack_next<T> const& next, Result const&, All const&, A const&) {
    return detail::stack_pullback<T, 1>{next.at};
  }
};

template <class Dim>
struct derivative_of<detail::written_copy<Dim>> {
  template <class Result, class Cache, class Row>
  static constexpr auto pullback(detail::written_copy<Dim> const& write, Result const&, Cache const&, Row const& row) {
    std::int64_t count = 1;
    if constexpr (position_in<typename detail::axis_argument<Dim>::axis, axes_in<Row>> >= 0)
      count = detail::argument_extent<Dim>(row);
    return detail::write_pullback<Dim>{write.position, count};
  }
};

template <class Dim>
struct derivative_of<detail::cleared_copy<Dim>> {
  template <class Result, class A>
  static constexpr auto pullback(detail::cleared_copy<Dim> const& cleared, Result const&, A const&) {
    return detail::transposed_pullback<detail::cleared_copy<Dim>>{cleared};
  }
};

/// Variables are values, so the cache keeps its values.
template <class Dim>
struct derivative_of<operation::write_at<Dim>> {
  template <class Cache, class Row>
  static constexpr auto composed(operation::write_at<Dim> const& write, Cache const& cache, Row const& row) {
    return detail::operate(detail::written_copy<Dim>{{}, write.position}, cache, row);
  }
};

template <class Along>
struct derivative_of<operation::sort<Along>> {
  template <class A>
  static constexpr auto composed(operation::sort<Along> const&, A const& a) {
    using I = typename detail::axis_argument<Along>::axis;
    return detail::take_along<I>(a, detail::operate(operation::argsort<Along>{}, stop_gradient(a)));
  }
};

/// The permutation is a constant.
template <class Along>
struct derivative_of<operation::sort_by_key<Along>> {
  template <class A>
  static constexpr auto composed(operation::sort_by_key<Along> const&, A const& keys) {
    using I = typename detail::axis_argument<Along>::axis;
    auto const permutation = detail::operate(operation::argsort<Along>{}, stop_gradient(keys));
    auto const sorted = detail::take_along<I>(keys, permutation);
    return sorted_keys<std::remove_const_t<decltype(sorted)>, std::remove_const_t<decltype(permutation)>>{sorted,
                                                                                                          permutation};
  }
};

/// The indices are constants.
template <class Along, class K>
struct derivative_of<operation::top_k<Along, K>> {
  template <class A, class... Given>
  static constexpr auto composed(operation::top_k<Along, K> const&, A const& a, Given const&... given) {
    using I = typename detail::axis_argument<Along>::axis;
    auto const places = detail::operate(detail::largest_places<Along, K>{}, stop_gradient(a), given...);
    auto const values = [&] {
      if constexpr (operation::top_k<Along, K>::is_divided)
        return detail::take_along_divided<I, K>(a, places);
      else
        return detail::take_along<I>(a, places);
    }();
    return top_elements<std::remove_const_t<decltype(values)>, std::remove_const_t<decltype(places)>>{values, places};
  }
};

}  // namespace ostraka
