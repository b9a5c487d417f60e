// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of os::ragged_all_to_all<I/X>(a, out, from, rows, to): the rows' cotangents go back to where
/// the rows came from, and the cotangents of overwritten rows are zero. The senders tell the receiver which rows they
/// sent: three numbers from each. Also the derivative of os::gather_to<I/X>: it is os::scatter_from<I/X>, or, if blocks
/// have extents of their own, rows that go back.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <ostraka/creation/copy.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_exchanges.hpp>
#include <ostraka/local_view/collectives/all_to_all_blocks.hpp>
#include <ostraka/local_view/collectives/ragged_all_to_all.hpp>

namespace ostraka {

namespace operation {

/// A copy of a block in which some rows along I are zero.
template <class I>
struct without_rows : detail::internal_step<without_rows<I>> {
  static constexpr char const* name = "without_rows";
  detail::row_numbers begin, count;

  template <class A>
  auto run(detail::at_once, A const& a) const {
    auto const rest = ostraka::copy(a);
    for (std::size_t k = 0; k < begin.size(); ++k) {
      auto const zero = detail::block_with_rows<I>(a, count[k], {detail::extent_origin::of_its_own});
      detail::fill_block("gradient", zero, typename A::value_type(0));
      detail::copy_rows<I>(rest, begin[k], zero, 0, count[k]);
    }
    return rest;
  }
};

}  // namespace operation

namespace detail {

// The axis of the numbers that devices send each other.
struct count_axis : declared<count_axis, axis<"received">> {};

/// The numbers that device d sends to device e: d sent it `rows` rows, from its row `from`, to e's row `to`. Their
/// cotangents go to d's row `back`, in its block or in a block that concatenates them.
struct peer_rows {
  row_numbers from, rows, to, back;
};

// True if a device sends a row twice.
inline bool sends_twice(row_numbers const& from, row_numbers const& rows) {
  for (std::size_t i = 0; i < from.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (rows[i] > 0 && rows[k] > 0 && from[i] < from[k] + rows[k] && from[k] < from[i] + rows[i]) return true;
  return false;
}

/// Sends part d of the numbers to device d, and returns the parts that arrive. Collective over `Ms`.
template <class... Ms, class A>
row_numbers exchange_numbers(A const& a, row_numbers const& mine) {
  using block = basic_tensor<std::int64_t, canonical_sharding<count_axis, varying<Ms...>>,
                             Kokkos::DefaultHostExecutionSpace::device_type>;
  auto const n = static_cast<std::int64_t>(mine.size());
  block const numbers = make_block<block>(a.mesh_handle(), {n}, &n, {});
  for (std::size_t k = 0; k < mine.size(); ++k) numbers.local().data()[k] = mine[k];
  using exchange = ostraka::operation::all_to_all<over<count_axis, Ms...>, over<count_axis, Ms...>>;
  block const received = exchange{}(numbers);
  row_numbers all;
  for (std::size_t k = 0; k < mine.size(); ++k) all.push_back(received.local().data()[k]);
  return all;
}

template <class I, class A, class Out, class... Ms>
struct ragged_pullback {
  ostraka::operation::ragged_all_to_all<over<I, Ms...>> forward;
  plain_type<A> a;  // used for its extents

  template <class G>
  auto pull_all(G const& g) const {
    bool const twice = sends_twice(forward.from, forward.rows);
    auto const& own = tensor_of(a);
    row_numbers const received = exchange_numbers<Ms...>(own, numbers_for_peers(twice));
    peer_rows there;
    for (std::size_t d = 0; d < forward.rows.size(); ++d) {
      there.to.push_back(received[3 * d]);
      there.rows.push_back(received[3 * d + 1]);
      there.back.push_back(received[3 * d + 2]);
    }
    auto const of_rows = rows_back(tensor_of(g), g, there, twice);
    if constexpr (is_variable<Out>)
      return std::tuple(of_rows, ostraka::operation::without_rows<I>{{}, there.to, there.rows}(g));
    else
      return std::tuple(of_rows, not_kept(own));
  }

 private:
  [[nodiscard]] row_numbers numbers_for_peers(bool twice) const {
    row_numbers mine;
    std::int64_t sum = 0;
    for (std::size_t e = 0; e < forward.rows.size(); ++e) {
      mine.push_back(forward.to[e]);
      mine.push_back(forward.rows[e]);
      mine.push_back(twice ? sum : forward.from[e]);
      sum += forward.rows[e];
    }
    return mine;
  }

  template <class T, class G>
  auto rows_back(T const& like, G const& g, peer_rows const& there, bool twice) const {
    constexpr auto along = static_cast<std::size_t>(position_in<I, axes_in<A>>);
    std::int64_t const own = a.extents()[along];
    std::int64_t all = own;
    if (twice) {
      all = 0;
      for (std::size_t e = 0; e < forward.rows.size(); ++e) all += forward.rows[e];
    }
    auto const zero = block_with_rows<I>(like, all, {extent_origin::of_its_own});
    fill_block("gradient", zero, typename T::value_type(0));
    auto const back =
        operate(ostraka::operation::ragged_all_to_all<over<I, Ms...>>{there.to, there.rows, there.back}, g, zero);
    extent_origin const origin = origins_of_operand(a)[along];
    using rows_of = ostraka::operation::rows_of<I>;
    using among_zeros = ostraka::operation::rows_among_zeros<I>;
    using result = decltype(rows_of{{}, 0, own, origin}(back));
    if (!twice) return rows_of{{}, 0, own, origin}(back);
    result sum = among_zeros{{}, 0, own, origin}(rows_of{{}, 0, 0, origin}(back));
    std::int64_t at = 0;
    for (std::size_t e = 0; e < forward.rows.size(); at += forward.rows[e], ++e)
      if (forward.rows[e] > 0)
        sum = ostraka::add(sum, among_zeros{{}, forward.from[e], own, origin}(
                                    rows_of{{}, at, forward.rows[e], {extent_origin::of_its_own}}(back)));
    return sum;
  }
};

}  // namespace detail

template <class I, class... Ms>
struct derivative_of<operation::ragged_all_to_all<over<I, Ms...>>> {
  template <class Result, class A, class Out>
  static auto pullback(operation::ragged_all_to_all<over<I, Ms...>> const& forward, Result const&, A const& a,
                       Out const&) {
    return detail::ragged_pullback<I, A, Out, Ms...>{forward, detail::plain(a)};
  }
};

namespace detail {

/// The pullback of os::gather_to. `lengths` holds the lengths of all devices' blocks if extents are each device's own;
/// else it is empty.
template <class I, int Rank, class... Ms>
struct gather_pullback {
  shape_before<Rank> before;
  int root;
  row_numbers lengths;
  int here;

  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    if (lengths.empty())
      return settled_cotangent<Wanted>(before.of(ostraka::operation::scatter_from<over<I, Ms...>>{}(g, root)));
    ostraka::operation::ragged_all_to_all<over<I, Ms...>> back;
    std::int64_t begin = 0;
    for (std::size_t d = 0; d < lengths.size(); ++d) {
      back.from.push_back(here == root ? begin : 0);
      back.rows.push_back(here == root ? lengths[d] : 0);
      back.to.push_back(0);
      begin += lengths[d];
    }
    constexpr auto along = static_cast<std::size_t>(position_in<I, axes_in<G>>);
    auto const zero = block_with_rows<I>(tensor_of(g), before.extents[along], before.origins[along]);
    fill_block("gradient", zero, typename G::value_type(0));
    return settled_cotangent<Wanted>(operate(back, g, zero));
  }
};

}  // namespace detail

template <class I, class... Ms>
struct derivative_of<operation::gather_to<over<I, Ms...>>> {
  template <class Result, class A>
  static auto pullback(operation::gather_to<over<I, Ms...>> const&, Result const&, A const& a, int root) {
    auto const& t = detail::tensor_of(a);
    using tensor = std::remove_cvref_t<decltype(t)>;
    detail::gather_pullback<I, A::rank, Ms...> pullback{detail::shape_before_move(a, true), root, {}, 0};
    auto const& origin = pullback.before.origins[static_cast<std::size_t>(position_in<I, axes_in<A>>)];
    bool const is_regular = origin.whole != detail::extent_origin::of_its_own && origin.shifted == 0;
    if (!is_regular && !t.mesh_handle()->absent()) {
      detail::blocks_along<I, tensor, Ms...> const all("gather_to", t);
      pullback.here = all.g.number;
      for (int d = 0; d < all.g.size; ++d) pullback.lengths.push_back(all.lengths.data()[d]);
    }
    return pullback;
  }
};

template <class I>
struct derivative_of<operation::without_rows<I>> {
  struct again {
    operation::without_rows<I> rest;
    template <int, class Wanted, class G>
    auto pull(G const& g) const {
      return detail::summed_to<Wanted>(rest(g));
    }
  };
  template <class Result, class A>
  static auto pullback(operation::without_rows<I> const& rest, Result const&, A const&) {
    return again{rest};
  }
};

}  // namespace ostraka
