// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::custom_vjp(f, vjp)`: a function of tensors with a derivative of the program's own. vjp(cotangent,
/// result, operands…) gives the cotangent of each operand, several as a std::tuple.

#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/record.hpp>

namespace ostraka {

namespace detail {

template <class Vjp, class Result, class... Given>
struct custom_pullback {
  Vjp vjp;
  Result result;
  std::tuple<plain_type<Given>...> operands;

  /// Of all operands at once.
  template <class G>
  auto pull_all(G const& g) const {
    auto all = std::apply([&](auto const&... x) { return vjp(g, result, x...); }, operands);
    if constexpr (sizeof...(Given) == 1)
      return std::tuple(std::move(all));
    else
      return all;
  }
};

template <class F, class Vjp>
struct function_with_vjp {
  F f;
  Vjp vjp;

  template <class... Given>
  auto operator()(Given const&... given) const {
    if constexpr (!any_variable<Given...>) {
      return f(given...);
    } else {
      auto const result = f(plain(given)...);
      using pullback = custom_pullback<Vjp, std::remove_cvref_t<decltype(result)>, Given...>;
      return record(result, pullback{vjp, result, {plain(given)...}}, given...);
    }
  }
};

}  // namespace detail

/// f, whose derivative is vjp. On plain tensors it is f.
template <class F, class Vjp>
[[nodiscard]] auto custom_vjp(F f, Vjp vjp) {
  return detail::function_with_vjp<F, Vjp>{std::move(f), std::move(vjp)};
}

}  // namespace ostraka
