// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The operations on blocks, other than moves, in the derivatives of collectives: rows of a block and rows
/// among zeros, which are each other's transpose; a block that was not sent; the product of the other devices' blocks.

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/fill.hpp>
#include <ostraka/engine/moves/copy_block.hpp>
#include <ostraka/gradient/cotangents/as.hpp>
#include <ostraka/local_view/collectives/gather_and_scatter.hpp>
#include <ostraka/local_view/collectives/ppermute.hpp>
#include <ostraka/local_view/collectives/psum.hpp>
#include <ostraka/local_view/collectives/scans.hpp>

namespace ostraka {

namespace detail {

/// The tensor of a variable, of a variable of variables, or x itself.
template <class X>
constexpr auto const& tensor_of(X const& x) {
  if constexpr (is_variable<X>)
    return tensor_of(x.value());
  else
    return x;
}

/// The origins of the extents of a tensor, block or variable.
template <class X>
constexpr auto origins_of_operand(X const& x) {
  auto const& t = tensor_of(x);
  using type = std::remove_cvref_t<decltype(t)>;
  if constexpr (varying_in<type>::size > 0)
    return t.origins();
  else
    return extent_origins<type::rank>{};
}

// The box of these indices of the axis, with all indices of the other axes.
template <class I, class A>
engine::box rows_box(A const& a, std::int64_t begin, std::int64_t size) {
  engine::box b;
  b.rank = A::rank;
  for (int i = 0; i < A::rank; ++i) {
    if (i == position_in<I, axes_in<A>>)
      b.at[i] = {begin, begin + size};
    else
      b.at[i] = {0, static_cast<std::int64_t>(a.local().extent(static_cast<std::size_t>(i)))};
  }
  return b;
}

template <class I, class To, class From>
constexpr void copy_rows(To const& to, std::int64_t to_row, From const& from, std::int64_t from_row,
                         std::int64_t rows) {
  engine::copy_part(execution_space_of<To>(), writable_block(to), rows_box<I>(to, to_row, rows), readable_block(from),
                    rows_box<I>(from, from_row, rows));
}

// A block like `a`, but with `rows` rows along I, uninitialised. It also varies along `Ms`.
template <class I, class... Ms, class A>
constexpr auto block_with_rows(A const& a, std::int64_t rows, extent_origin const& origin) {
  using block = basic_tensor<typename A::value_type, typename with_varying<sharding_in<A>, type_list<Ms...>>::type,
                             typename A::space>;
  constexpr int along = position_in<I, axes_in<A>>;
  auto extents = a.extents();
  auto origins = origins_of_operand(a);
  extents[static_cast<std::size_t>(along)] = rows;
  origins[static_cast<std::size_t>(along)] = origin;
  return make_block_like<block>(a, extents, origins, along);
}

}  // namespace detail

namespace operation {

/// Rows of a block along I, as this device's own block.
template <class I, class... Ms>
struct rows_of : detail::internal_step<rows_of<I, Ms...>> {
  static constexpr char const* name = "rows_of";
  std::int64_t begin, size;
  detail::extent_origin origin;

  template <class A>
  constexpr auto run(detail::at_once, A const& a) const {
    auto const rows = detail::block_with_rows<I, Ms...>(a, size, origin);
    detail::copy_rows<I>(rows, 0, a, begin, size);
    return rows;
  }
};

/// A block of a given number of rows along I: the rows of the operand at `begin`, all others zero.
template <class I>
struct rows_among_zeros : detail::internal_step<rows_among_zeros<I>> {
  static constexpr char const* name = "rows_among_zeros";
  std::int64_t begin, whole;
  detail::extent_origin origin;

  template <class A>
  constexpr auto run(detail::at_once, A const& a) const {
    auto const all = detail::block_with_rows<I>(a, whole, origin);
    detail::fill_block("gradient", all, typename A::value_type(0));
    detail::copy_rows<I>(all, begin, a, 0, a.extents()[static_cast<std::size_t>(position_in<I, axes_in<A>>)]);
    return all;
  }
};

/// The block itself if it has these extents. If not, nothing was sent to this device, and the result is zeros.
template <int Rank>
struct zeros_unless_sent : detail::internal_step<zeros_unless_sent<Rank>> {
  static constexpr char const* name = "zeros_unless_sent";
  std::array<std::int64_t, static_cast<std::size_t>(Rank)> extents;
  detail::extent_origins<Rank> origins;
  bool is_sent;

  template <class A>
  constexpr auto run(detail::at_once, A const& a) const {
    if (is_sent) {
      A same = a;
      if constexpr (varying_in<A>::size > 0) same.set_origins(origins);
      return same;
    }
    detail::local_extents_array local = detail::local_extents_of(a);
    for (std::size_t i = 0; i < extents.size(); ++i)
      if (a.extents()[i] != extents[i]) local[i] = extents[i];
    auto const zero = detail::make_block<A>(a.mesh_handle(), extents, local.data(), origins);
    detail::fill_block("gradient", zero, typename A::value_type(0));
    return zero;
  }
};

}  // namespace operation

namespace detail {

/// The number of blocks that are sent among n devices, so that device d has the block of device n − 1 − d.
constexpr std::int64_t messages_of_reversal(std::int64_t n) { return n - n % 2; }

}  // namespace detail

namespace operation {

/// The sum of the blocks of the devices from this one to the last, or of those after this one.
template <engine::scan_kind Kind, reduction How, class M>
struct scan_from_behind : detail::internal_step<scan_from_behind<Kind, How, M>> {
  static constexpr char const* name = "scan_from_behind";

  template <class A>
  using reversal = detail::moves_of_messages<A, type_list<M>, &detail::messages_of_reversal>;
  template <class A>
  using moves = detail::moves_in_turn<reversal<A>, typename scan<Kind, How, M>::template moves<A>, reversal<A>>;

  template <class A>
  constexpr auto run(detail::at_once, A const& a) const {
    ppermute<M> turn;
    int const n = a.mesh_handle()->size(a.mesh_handle()->find(M::name));
    for (int d = 0; d < n; ++d) turn.hops.push_back({d, n - 1 - d});
    return turn(scan<Kind, How, M>{}(turn(a)));
  }
};

}  // namespace operation

namespace detail {

/// The moves of the product of the other devices' blocks: two scans, and a product over M if there are further mesh
/// axes.
template <class A, class M, class... Ms>
struct moves_of_others {
  static constexpr engine::scan_kind kind = engine::scan_kind::exclusive;
  using type =
      moves_in_turn<typename ostraka::operation::scan<kind, reduction::prod, M>::template moves<A>,
                    typename ostraka::operation::scan_from_behind<kind, reduction::prod, M>::template moves<A>>;
};
template <class A, class M, class Next, class... Ms>
struct moves_of_others<A, M, Next, Ms...> {
  using combine = ostraka::operation::combine_blocks<reduction::prod, M>;
  using row = std::remove_cvref_t<decltype(combine{}(std::declval<A const&>()))>;
  using type = moves_in_turn<typename moves_of_others<A, M>::type, typename combine::template moves<A>,
                             typename moves_of_others<row, Next, Ms...>::type>;
};

}  // namespace detail

namespace operation {

/// The product of the blocks of all other devices along several mesh axes.
template <class M, class... Ms>
struct product_of_others : detail::internal_step<product_of_others<M, Ms...>> {
  static constexpr char const* name = "product_of_others";
  template <class A>
  using moves = typename detail::moves_of_others<A, M, Ms...>::type;

  template <class A>
  constexpr auto run(detail::at_once, A const& a) const {
    auto const before = scan<engine::scan_kind::exclusive, reduction::prod, M>{}(a);
    auto const behind = scan_from_behind<engine::scan_kind::exclusive, reduction::prod, M>{}(a);
    auto const others = ostraka::multiply(before, behind);
    if constexpr (sizeof...(Ms) == 0)
      return others;
    else  // and the blocks along the other mesh axes
      return ostraka::multiply(others, product_of_others<Ms...>{}(combine_blocks<reduction::prod, M>{}(a)));
  }
};

}  // namespace operation

namespace detail {

/// The position of a block's rows among those of the devices along `Ms`, one block after the other.
struct own_rows {
  std::int64_t begin = 0, size = 0;
  extent_origin origin{};
  bool is_regular = true;  ///< true if the rows follow the block distribution
};

/// The position of this device's rows. Collective over `Ms` if extents are each device's own.
template <class I, class... Ms, class A>
own_rows rows_among_members(char const* operation, A const& a) {
  auto const& t = tensor_of(a);
  own_rows own;
  own.size = t.extents()[static_cast<std::size_t>(position_in<I, axes_in<A>>)];
  own.origin = origin_in<I>(t);
  own.is_regular = own.origin.whole != extent_origin::of_its_own && own.origin.shifted == 0;
  if (t.mesh_handle()->absent()) return own;
  if (own.is_regular) {
    named_group const g = group_of<std::remove_cvref_t<decltype(t)>, Ms...>(operation, t);
    own.begin = own.origin.is_alike() ? g.number * own.size : planner::block(own.origin.whole, g.number, g.size).begin;
    return own;
  }
  blocks_along<I, std::remove_cvref_t<decltype(t)>, Ms...> const all(operation, t);
  for (int d = 0; d < all.g.number; ++d) own.begin += all.lengths.data()[d];
  return own;
}

/// x with the axes in the operand's order.
template <class Wanted, class X>
constexpr auto in_order_of(X const& x) {
  if constexpr (std::is_same_v<axes_in<X>, axes_in<Wanted>>)
    return summed_to<Wanted>(x);
  else
    return einsum_as<sharding_in<Wanted>>(x);
}

}  // namespace detail

template <class I, class... Ms>
struct derivative_of<operation::rows_of<I, Ms...>> {
  struct among_zeros {
    operation::rows_among_zeros<I> back;
    template <int, class Wanted, class G>
    constexpr auto pull(G const& g) const {
      return detail::summed_to<Wanted>(back(g));
    }
  };
  template <class Result, class A>
  static constexpr auto pullback(operation::rows_of<I, Ms...> const& rows, Result const&, A const& a) {
    constexpr auto along = static_cast<std::size_t>(position_in<I, axes_in<A>>);
    return among_zeros{{{}, rows.begin, a.extents()[along], detail::origins_of_operand(a)[along]}};
  }
};

template <class I>
struct derivative_of<operation::rows_among_zeros<I>> {
  struct of_them {
    operation::rows_of<I> back;
    template <int, class Wanted, class G>
    constexpr auto pull(G const& g) const {
      return detail::summed_to<Wanted>(back(g));
    }
  };
  template <class Result, class A>
  static constexpr auto pullback(operation::rows_among_zeros<I> const& all, Result const&, A const& a) {
    constexpr auto along = static_cast<std::size_t>(position_in<I, axes_in<A>>);
    return of_them{{{}, all.begin, a.extents()[along], detail::origins_of_operand(a)[along]}};
  }
};

}  // namespace ostraka
