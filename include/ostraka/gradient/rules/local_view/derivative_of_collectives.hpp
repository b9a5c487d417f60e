// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of the collectives that combine, gather and exchange blocks in the body of os::shard_map.
/// The result of a reduction is invariant, that of an all-gather replicated (cotangent_kinds.hpp).
///
///     forward                         backward
///     psum, pmean                     the same cotangent on all devices: nothing moves
///     pmax, pmin                      divided equally among the devices that have the extreme
///     all_gather<I/X>                 psum_scatter<I/X>
///     all_gather_invariant<I/X>       each device's own part
///     psum_scatter<I/X>               all_gather<I/X>
///     all_to_all<I/X, J/X>            all_to_all<J/X, I/X>
///     pbroadcast<X> from a device     the cotangent, on that device
///     pvary<X>                        psum of an invariant operand, else nothing

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/gradient/cotangents/as.hpp>
#include <ostraka/gradient/rules/local_view/rows_among_zeros.hpp>
#include <ostraka/local_view/collectives/all_gather_blocks.hpp>
#include <ostraka/local_view/collectives/all_to_all_blocks.hpp>
#include <ostraka/local_view/collectives/pargmax.hpp>
#include <ostraka/local_view/collectives/pbroadcast.hpp>
#include <ostraka/local_view/collectives/psum_scatter.hpp>

namespace ostraka {

namespace detail {

// The number of devices along these mesh axes.
template <class... Ms, class A>
int devices_along(A const& a) {
  int n = 1;
  ((n *= a.mesh_handle()->size(a.mesh_handle()->find(Ms::name))), ...);
  return n;
}

struct mean_of_blocks_pullback {
  int devices;
  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    using number = real_of<accumulator_of_t<typename G::value_type>>;
    return summed_to<Wanted>(ostraka::divide(g, number(devices)));
  }
};

/// 1 if two elements are equal, else 0; a constant for derivatives.
struct has_extreme {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& a, T const& b) const {
    return a == b ? T(1) : T(0);
  }
  template <int, class T>
  KOKKOS_INLINE_FUNCTION T derivative(T const&, T const&) const {
    return T(0);
  }
};

// Divides the cotangent of an extreme among the devices that have it.
template <class Block, class Extreme, class... Ms>
struct extreme_of_blocks_pullback {
  remembered<Block> block;
  remembered<Extreme> extreme;

  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    auto const has_it = ostraka::map(has_extreme{}, block.get(), extreme.get());
    auto const devices = ostraka::operation::combine_blocks<reduction::sum, Ms...>{}(has_it);
    auto const share = ostraka::multiply(has_it, ostraka::divide(g, devices));
    return summed_to<cotangent_along<Wanted, varying_in<decltype(share)>>>(share);
  }
};

// The product of the blocks of other devices: those before this one, and those after it.
template <class Block, class... Ms>
struct product_of_blocks_pullback {
  remembered<Block> block;

  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    auto const share = ostraka::multiply(g, ostraka::operation::product_of_others<Ms...>{}(block.get()));
    return summed_to<cotangent_along<Wanted, varying_in<decltype(share)>>>(share);
  }
};

/// The transpose of a collective is another one, which takes `Dim`.
template <class Transpose, class... Dim>
struct collective_pullback {
  template <int, class Wanted, class G>
  auto pull(G const& g) const {
    auto const moved = Transpose{}(g, Dim{}...);
    return in_order_of<cotangent_along<Wanted, varying_in<decltype(moved)>>>(moved);
  }
};

// The pullback for blocks with extents of their own: each device finds its rows in the sum.
template <class I, int Rank, class... Ms>
struct gathered_pullback {
  std::int64_t begin, size;
  extent_origin origin;
  bool is_regular;

  template <int K, class Wanted, class G>
  auto pull(G const& g) const {
    using scattered = collective_pullback<ostraka::operation::psum_scatter<over<I, Ms...>>>;
    using result = decltype(scattered{}.template pull<K, Wanted>(g));
    if (is_regular) return scattered{}.template pull<K, Wanted>(g);
    auto const all = ostraka::operation::combine_blocks<reduction::sum, Ms...>{}(g);
    auto const own = ostraka::operation::rows_of<I, Ms...>{{}, begin, size, origin}(all);
    return result(summed_to<result>(own));
  }
};

}  // namespace detail

template <reduction How, class... Ms>
struct derivative_of<operation::combine_blocks<How, Ms...>> {
  using invariant_along = type_list<Ms...>;

  template <class Result, class A>
  static auto pullback(operation::combine_blocks<How, Ms...> const&, Result const& result, A const& a) {
    if constexpr (How == reduction::sum)
      return detail::identity_pullback{};
    else if constexpr (How == reduction::prod)
      return detail::product_of_blocks_pullback<detail::plain_type<A>, Ms...>{detail::remember(a)};
    else
      return detail::extreme_of_blocks_pullback<detail::plain_type<A>, detail::plain_type<Result>, Ms...>{
          detail::remember(a), detail::remember(result)};
  }
};

template <class... Ms>
struct derivative_of<operation::mean_of_blocks<Ms...>> {
  using invariant_along = type_list<Ms...>;
  template <class Result, class A>
  static auto pullback(operation::mean_of_blocks<Ms...> const&, Result const&, A const& a) {
    return detail::mean_of_blocks_pullback{detail::devices_along<Ms...>(a)};
  }
};

template <class... Ms>
struct derivative_of<operation::pvary<Ms...>> {
  template <class Result, class A>
  static auto pullback(operation::pvary<Ms...> const&, Result const&, A const&) {
    return detail::identity_pullback{};
  }
};

template <class... Ms>
struct derivative_of<operation::keep_on<Ms...>> {
  template <class Operation>
  struct again {
    Operation keep;
    template <int, class Wanted, class G>
    auto pull(G const& g) const {
      return summed_to<Wanted>(keep(g));
    }
  };
  template <class Result, class A>
  static auto pullback(operation::keep_on<Ms...> const& keep, Result const&, A const&) {
    return again<operation::keep_on<Ms...>>{keep};
  }
};

template <class... Ms>
struct derivative_of<operation::pbroadcast<Ms...>> {
  using invariant_along = type_list<Ms...>;
  struct stays {
    operation::keep_on<Ms...> keep;
    template <int, class Wanted, class G>
    auto pull(G const& g) const {
      auto const kept = keep(g);
      return detail::summed_to<detail::cotangent_along<Wanted, varying_in<decltype(kept)>>>(kept);
    }
  };
  template <class Result, class A>
  static auto pullback(operation::pbroadcast<Ms...> const&, Result const&, A const&, int root) {
    return stays{{{}, root}};
  }
};

template <class I, class... Ms>
struct derivative_of<operation::all_gather<over<I, Ms...>>> : detail::gathers {
  template <class Result, class A, class... Untiled>
  static auto pullback(operation::all_gather<over<I, Ms...>> const&, Result const&, A const& a, Untiled...) {
    if constexpr (position_in<I, axes_in<A>> < 0) {
      return detail::collective_pullback<operation::psum_scatter<over<I, Ms...>>, untiled_axis>{};
    } else {
      auto const own = detail::rows_among_members<I, Ms...>("all_gather", a);
      return detail::gathered_pullback<I, A::rank, Ms...>{own.begin, own.size, own.origin, own.is_regular};
    }
  }
};

template <class I, class... Ms>
struct derivative_of<operation::all_gather_invariant<over<I, Ms...>>> {
  using invariant_along = type_list<Ms...>;
  struct own_part {
    operation::rows_of<I, Ms...> own;
    template <int, class Wanted, class G>
    constexpr auto pull(G const& g) const {
      auto const part = own(g);
      return detail::summed_to<detail::cotangent_along<Wanted, varying_in<decltype(part)>>>(part);
    }
  };
  template <class Result, class A, class... Untiled>
  static auto pullback(operation::all_gather_invariant<over<I, Ms...>> const&, Result const&, A const& a, Untiled...) {
    if constexpr (position_in<I, axes_in<A>> < 0) {
      auto const& t = detail::tensor_of(a);
      return own_part{{{}, detail::group_of<std::remove_cvref_t<decltype(t)>, Ms...>("all_gather", t).number, 1, {}}};
    } else {
      auto const own = detail::rows_among_members<I, Ms...>("all_gather", a);
      return own_part{{{}, own.begin, own.size, own.origin}};
    }
  }
};

template <class I, class... Ms>
struct derivative_of<operation::psum_scatter<over<I, Ms...>>> {
  template <class Result, class A, class... Untiled>
  static auto pullback(operation::psum_scatter<over<I, Ms...>> const&, Result const&, A const&, Untiled...) {
    return detail::collective_pullback<operation::all_gather<over<I, Ms...>>, Untiled...>{};
  }
};

template <class I, class J, class... Ms>
struct derivative_of<operation::all_to_all<over<I, Ms...>, over<J, Ms...>>> {
  template <class Result, class A, class... Untiled>
  static auto pullback(operation::all_to_all<over<I, Ms...>, over<J, Ms...>> const&, Result const&, A const&,
                       Untiled...) {
    return detail::collective_pullback<operation::all_to_all<over<J, Ms...>, over<I, Ms...>>, Untiled...>{};
  }
};

}  // namespace ostraka
