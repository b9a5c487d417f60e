// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::custom_vjp(f, vjp)`: a function of tensors with a derivative that the program defines. vjp(cotangent,
/// result, operands…) returns the cotangent of the operand, or a std::tuple of the cotangents of several.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/cotangents/as.hpp>

namespace ostraka {

namespace detail {

template <class Vjp, class Result, class... Given>
struct custom_pullback {
  Vjp vjp;
  kept<true, Result> result;
  std::tuple<kept<true, Given>...> operands;

  /// Computes the cotangents of all operands in one call.
  template <class G>
  auto pull_all(G const& g) const {
    return std::apply([&](auto const&... x) { return cotangents(g, x.get()...); }, operands);
  }

 private:
  // Calls a function of the program: not inlined into the tape's functions, which are compiled for size.
  template <class G, class... Xs>
  [[gnu::noinline]] auto cotangents(G const& g, Xs const&... xs) const {
    auto all = in_tuple(vjp(g, result.get(), xs...));
    if constexpr (reason::ok_or_raise<verdict<decltype(all)>>()) {
      check(all, std::index_sequence_for<Xs...>{}, xs...);
      return all;
    } else {
      return std::tuple(not_kept(xs)...);
    }
  }

  template <class T>
  static auto in_tuple(T&& one) {
    return std::tuple(std::forward<T>(one));
  }
  template <class... Ts>
  static auto in_tuple(std::tuple<Ts...>&& several) {
    return std::move(several);
  }

  template <class All>
  using verdict = std::conditional_t<std::tuple_size_v<All> == sizeof...(Given), reason::ok,
                                     reason::cotangents_of_other_number<All>>;

  // Checks the cotangents here, because a cotangent that is added to nothing is not checked elsewhere.
  template <class All, std::size_t... Is, class... Xs>
  static void check(All const& all, std::index_sequence<Is...>, Xs const&... xs) {
    (check_one(std::get<Is>(all), xs), ...);
  }
  template <class G, class X>
  static void check_one([[maybe_unused]] G const& g, [[maybe_unused]] X const& x) {
    if constexpr (TensorOrVariable<G> && TensorOrVariable<X>)
      if constexpr (std::is_same_v<axes_in<G>, axes_in<X>>)
        if (g.extents() != x.extents() || g.mesh_handle() != x.mesh_handle()) throw_other_cotangent();
  }
};

}  // namespace detail

namespace operation {

template <class F, class Vjp>
struct custom_vjp : detail::moves_nothing {
  static constexpr char const* name = "custom_vjp";
  F f;
  Vjp vjp;

  constexpr custom_vjp(F function, Vjp derivative) : f(std::move(function)), vjp(std::move(derivative)) {}

  template <class... Given>
  using verdict = reason::ok;

  template <class How, class... Given>
  [[gnu::noinline]] auto run(How const&, Given const&... given) const {
    return f(given...);
  }

  template <class... Given>
  constexpr auto operator()(Given const&... given) const {
    if constexpr (any_variable<Given...>)
      return detail::operate(*this, given...);
    else
      return f(given...);
  }
};

}  // namespace operation

template <class F, class Vjp>
struct derivative_of<operation::custom_vjp<F, Vjp>> {
  template <class Result, class... Given>
  static auto pullback(operation::custom_vjp<F, Vjp> const& op, Result const& result, Given const&... given) {
    return detail::custom_pullback<Vjp, Result, Given...>{
        op.vjp, detail::remember(result), {detail::remember(given)...}};
  }
};

/// f with the derivative vjp. On plain tensors it is just f.
template <class F, class Vjp>
[[nodiscard]] auto custom_vjp(F f, Vjp vjp) {
  return operation::custom_vjp<F, Vjp>(std::move(f), std::move(vjp));
}

}  // namespace ostraka
