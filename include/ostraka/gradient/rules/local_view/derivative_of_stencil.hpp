// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of os::stencil. As with os::map the function states its own, with respect to the element at
/// each neighbour: `derivative(n, u)`, where n is an os::neighbour<Axes>. With several arguments it is
/// `derivative<K>(n, u, c, …)` for argument K if that is padded, and `derivative<K>(u, c, …)` if it is not.
/// os::differentiable(f, df) joins two functions.
///
///     auto const heat = os::differentiable(
///         [=] KOKKOS_FUNCTION(auto const& u) { return u(0) + k * (u(-1) - 2 * u(0) + u(1)); },
///         [=] KOKKOS_FUNCTION(os::neighbour<1> n, auto const&) { return n[0] == 0 ? 1 - 2 * k : k; });

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/rules/elements/derivative_of_map.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_halos.hpp>
#include <ostraka/local_view/points/stencil.hpp>

namespace ostraka {

namespace detail {

template <class A>
inline constexpr int padded_axes_in = padded_axes<axes_in<A>>;

// True if F states its derivative by argument K, of type `Argument`, for arguments of types `As`.
template <int K, class F, class Argument, class... As>
consteval bool defines_stencil_derivative() {
  constexpr int axes = padded_axes_in<Argument>;
  if constexpr (axes == 0)  // in this case another argument is padded
    return requires(F const& f, given_to_stencil<As> const&... x) { f.template derivative<K>(x...); };
  else if constexpr (sizeof...(As) == 1)
    return requires(F const& f, neighbour<axes> n, given_to_stencil<As> const&... x) { f.derivative(n, x...); };
  else
    return requires(F const& f, neighbour<axes> n, given_to_stencil<As> const&... x) {
      f.template derivative<K>(n, x...);
    };
}

// Adds a summand to a cotangent of elements T; if T is real, the real part of a complex summand.
template <class T, class More>
KOKKOS_INLINE_FUNCTION T with_added(T const& sum, More const& more) {
  if constexpr (is_real<T> && complex_number<More>)
    return T(sum + more.real());
  else if constexpr (is_narrow<T>)
    return T(static_cast<float>(sum) + static_cast<float>(more));
  else
    return T(sum + more);
}

/// The contribution of a point's cotangent to that of the element at one neighbour, or at the point itself.
template <int K, int Axes, class F>
struct added_cotangent {
  F f;
  neighbour<Axes> at{};
  template <class T, class G, class... Xs>
  KOKKOS_INLINE_FUNCTION T operator()(T const& sum, G const& g, Xs const&... x) const {
    if constexpr (sizeof...(Xs) == 1)
      return with_added(sum, g * f.derivative(at, x...));
    else
      return with_added(sum, g * f.template derivative<K>(at, x...));
  }
};
template <int K, class F>
struct added_cotangent<K, 0, F> {
  F f;
  template <class T, class G, class... Xs>
  KOKKOS_INLINE_FUNCTION T operator()(T const& sum, G const& g, Xs const&... x) const {
    return with_added(sum, g * f.template derivative<K>(x...));
  }
};

// The cotangent of operand K, `argument`, of a stencil whose first operand is `first`.
template <int K, class F, class Every, class G, class First, class Argument, class... Xs>
auto stencil_cotangent(F const& f, Every const& every, G const& g, First const& first, Argument const& argument,
                       Xs const&... x) {
  using value = typename Argument::value_type;
  using block = basic_tensor<value, typename with_varying<sharding_of_block<Argument>, varying_in<G>>::type,
                             typename Argument::space>;
  constexpr int axes = padded_axes_in<Argument>;
  auto const shape = shape_of_block(argument);
  auto const sum =
      make_block<block>(argument.mesh_handle(), shape.extents, local_extents_of(argument).data(), shape.origins);
  fill_block("gradient", sum, value(0));
  engine::stencil_points p = points_of(first);
  extent_origins<First::rank> own = own_origins(first);
  if constexpr (is_every<Every>) take_steps("stencil", first, every, p, own);
  auto const to = own_block<value>(sum);
  auto const from = own_block<typename G::value_type const>(g);
  auto const exec = execution_space_of<G>();
  if constexpr (axes == 0) {
    engine::add_cotangents_of_points(exec, p, added_cotangent<K, 0, F>{f}, to, from, source_block(x)...);
  } else {
    std::int64_t before[axes], behind[axes], stride[axes];
    int k = 0;
    for (int d = 0; d < Argument::rank; ++d)
      if (halo_margins const m = margins_in<Argument>[static_cast<std::size_t>(d)]; m.both() > 0) {
        before[k] = m.before;
        behind[k] = m.behind;
        stride[k++] = to.stride[d];
      }
    engine::add_cotangents_of_neighbours<axes>(
        exec, p, before, behind, stride,
        [&](neighbour<axes> const& n) {
          return added_cotangent<K, axes, F>{f, n};
        },
        to, from, source_block(x)...);
  }
  return sum;
}

template <class F, class Every, class... Given>
struct stencil_pullback {
  F f;
  Every every;
  std::tuple<kept<true, Given>...> operands;

  template <int K, class Wanted, class G>
  auto pull(G const& g) const {
    using argument = typename type_at<type_list<plain_type<Given>...>, K>::type;
    if constexpr (any_differentiated_again<G, plain_type<Given>...>) {
      reason::raise<reason::stencil_has_first_derivatives<F>>();
      return Wanted();
    } else if constexpr (!defines_stencil_derivative<K, F, argument, plain_type<Given>...>()) {
      reason::raise<reason::stencil_function_has_no_derivative<F>>();
      return Wanted();
    } else {
      return settled_cotangent<Wanted>(
          std::apply([&](auto const&... kept) { return of_operand<K>(g, kept.get()...); }, operands));
    }
  }

 private:
  template <int K, class G, class First, class... More>
  auto of_operand(G const& g, First const& first, More const&... more) const {
    auto const all = std::tie(first, more...);
    return stencil_cotangent<K>(f, every, g, first, std::get<K>(all), first, more...);
  }
};

template <class Begun, class A, class... More, class... Dim>
inline constexpr bool is_pending_halo<pending_variable<ostraka::operation::exchange_halo<Dim...>, Begun, A, More...>> =
    true;

template <class Operation, class Begun, class A, class... More>
struct interpreter_of<operand_in_flight<pending_variable<Operation, Begun, A, More...>>> : interpreter_of<A> {};

// The started exchange for the value of a variable.
template <class Padded>
auto& begun_of(pending_halo<Padded>& x) {
  return x;
}
template <class... Pending>
auto& begun_of(pending_variable<Pending...>& x) {
  return x.begun();
}

// Computes the points that need no margins during the exchange, and then records the exchange and the stencil.
template <class F, class Every, class Pending, class... More>
auto stencil_of_pending(ostraka::operation::stencil<F, Every> const& stencil, Pending& x, More const&... more) {
  using begun = std::remove_cvref_t<decltype(begun_of(x))>;
  if constexpr (is_pending_halo<begun> && depth_of_all<More...> <= 1) {
    auto result = operate(stencil, operand_in_flight<begun>{begun_of(x)}, plain(more)...);
    auto const padded = std::move(x).wait();
    return record_result(stencil, common_tape(padded, more...), nullptr, [&] { return std::move(result); }, padded,
                         more...);
  } else {
    return operate(stencil, std::move(x).wait(), more...);
  }
}

}  // namespace detail

template <class F, class Every>
struct derivative_of<operation::stencil<F, Every>> {
  template <class Result, class... Given>
  static auto pullback(operation::stencil<F, Every> const& stencil, Result const&, Given const&... given) {
    return detail::stencil_pullback<F, Every, Given...>{stencil.f, stencil.every, {detail::remember(given)...}};
  }
  template <class Pending, class... More>
  static auto composed(operation::stencil<F, Every> const& stencil, detail::operand_in_flight<Pending> const& x,
                       More const&... more) {
    return detail::stencil_of_pending(stencil, x.begun, more...);
  }
};

}  // namespace ostraka
