// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of os::stencil. As of os::map the function says its own, by the element at each neighbour:
/// `derivative(n, u)`, n being an os::neighbour<Axes>. Of several arguments `derivative<K>(n, u, c, …)` for argument K
/// if it is padded, and `derivative<K>(u, c, …)` if it is not. os::differentiable(f, df) joins two functions.
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
#include <ostraka/local_view/halos/stencil.hpp>

namespace ostraka {

namespace verbs {

/// os::stencil of this function.
template <class F, class Every>
struct stencil {
  using is_verb = void;
  static constexpr char const* name = "stencil";
  F f;
  Every every;

  template <class A, class... More>
    requires any_variable<A, More...>
  auto operator()(A const& a, More const&... more) const { return differentiate(*this, a, more...); }
  template <class A, class... More>
    requires(!any_variable<std::remove_cvref_t<A>, More...>)
  auto operator()(A&& a, More const&... more) const {
    if constexpr (detail::is_every<Every>)
      return ostraka::stencil(f, every, a, more...);
    else
      return ostraka::stencil(f, a, more...);
  }
};

}  // namespace verbs

namespace detail {

template <class A>
inline constexpr int padded_axes_in = padded_axes<axes_in<A>>;

// Does F say its derivative by argument K, which is `Argument`, of all these?
template <int K, class F, class Argument, class... As>
consteval bool says_stencil_derivative() {
  constexpr int axes = padded_axes_in<Argument>;
  if constexpr (axes == 0)  // then there is another one, which is padded
    return requires(F const& f, given_to_stencil<As> const&... x) { f.template derivative<K>(x...); };
  else if constexpr (sizeof...(As) == 1)
    return requires(F const& f, neighbour<axes> n, given_to_stencil<As> const&... x) { f.derivative(n, x...); };
  else
    return requires(F const& f, neighbour<axes> n, given_to_stencil<As> const&... x) {
      f.template derivative<K>(n, x...);
    };
}

// A cotangent of elements T and what is added to it: of complex numbers, where T is real, the real part.
template <class T, class More>
KOKKOS_INLINE_FUNCTION T with_added(T const& sum, More const& more) {
  if constexpr (is_real<T> && complex_number<More>)
    return T(sum + more.real());
  else if constexpr (is_narrow<T>)
    return T(static_cast<float>(sum) + static_cast<float>(more));
  else
    return T(sum + more);
}

/// What a point's cotangent adds to that of the element at one neighbour, or at the point itself.
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
    std::int64_t width[axes], stride[axes];
    int k = 0;
    for (int d = 0; d < Argument::rank; ++d)
      if (int const w = halo_widths<Argument>[static_cast<std::size_t>(d)]; w > 0) {
        width[k] = w;
        stride[k++] = to.stride[d];
      }
    engine::add_cotangents_of_neighbours<axes>(
        exec, p, width, stride,
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
    } else if constexpr (!says_stencil_derivative<K, F, argument, plain_type<Given>...>()) {
      reason::raise<reason::stencil_function_has_no_derivative<F>>();
      return Wanted();
    } else {
      return settled_there<Wanted>(
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

template <class T>
inline constexpr bool is_pending_variable = false;
template <class Verb, class Begun, class A, class... More>
inline constexpr bool is_pending_variable<pending_variable<Verb, Begun, A, More...>> = true;

// A block whose halo is on its way, where it or one of the others is a variable.
template <class T, class... More>
concept PendingAmongVariables = is_pending_variable<std::remove_cvref_t<T>> ||
    (is_pending_halo<std::remove_cvref_t<T>>&& any_variable<More...>);

// What is under way of the value.
template <class T>
auto& begun_of(T& x) {
  if constexpr (is_pending_halo<T>)
    return x;
  else
    return x.begun();
}

// What can be computed meanwhile is, and then the exchange and the stencil are recorded.
template <class F, class Every, class Pending, class... More>
auto stencil_of_pending(verbs::stencil<F, Every> const& operation, Pending& x, More const&... more) {
  if constexpr (is_pending_halo<std::remove_cvref_t<decltype(begun_of(x))>> && depth_of_all<More...> <= 1) {
    auto result = operation(begun_of(x), plain(more)...);
    auto const padded = std::move(x).wait();
    return record_result(operation, common_tape(padded, more...), 0, result, padded, more...);
  } else {
    return differentiate(operation, std::move(x).wait(), more...);
  }
}

}  // namespace detail

template <class F, class Every>
struct derivative_of<verbs::stencil<F, Every>> {
  template <class Result, class... Given>
  static auto pullback(verbs::stencil<F, Every> const& operation, Result const&, Given const&... given) {
    return detail::stencil_pullback<F, Every, Given...>{operation.f, operation.every, {detail::remember(given)...}};
  }
};

/// os::stencil of variables, of which some may be constants.
template <class F, class X, class... More>
  requires(any_variable<X, More...> && !detail::is_every<F> && (TensorOrVariable<More> && ...) && TensorOrVariable<X>)
[[nodiscard]] auto stencil(F const& f, X const& x, More const&... more) {
  return differentiate(verbs::stencil<F, detail::no_every>{f, {}}, x, more...);
}
template <class F, class... As, class X, class... More>
  requires(any_variable<X, More...> && (TensorOrVariable<More> && ...) && TensorOrVariable<X>)
[[nodiscard]] auto stencil(F const& f, every_index<As...> const& steps, X const& x, More const&... more) {
  return differentiate(verbs::stencil<F, every_index<As...>>{f, steps}, x, more...);
}

/// Of one whose halo is on its way: os::start_exchange_halo.
template <class F, class X, TensorOrVariable... More>
  requires detail::PendingAmongVariables<X, More...>
[[nodiscard]] auto stencil(F const& f, X&& x, More const&... more) {
  return detail::stencil_of_pending(verbs::stencil<F, detail::no_every>{f, {}}, x, more...);
}
template <class F, class... As, class X, TensorOrVariable... More>
  requires detail::PendingAmongVariables<X, More...>
[[nodiscard]] auto stencil(F const& f, every_index<As...> const& steps, X&& x, More const&... more) {
  return detail::stencil_of_pending(verbs::stencil<F, every_index<As...>>{f, steps}, x, more...);
}

}  // namespace ostraka
