// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivatives of os::rope and os::dropout. The transpose of a rotation is the rotation back, at the same
/// positions. The transpose of a dropout is the same dropout; its mask follows from its seed, so the tape keeps no
/// mask.

#include <tuple>

#include <ostraka/gradient/rules/derivative_of.hpp>
#include <ostraka/operations/creation/dropout.hpp>
#include <ostraka/operations/positions/rope.hpp>

namespace ostraka {

namespace detail {

/// `Positions` are tensors of positions and of frequencies, if there are any.
template <class Operation, class... Positions>
struct rope_pullback {
  Operation back;
  std::tuple<kept<true, Positions>...> positions;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return summed_to<Wanted>(std::apply([&](auto const&... at) { return operate(back, g, at.get()...); }, positions));
  }
};

struct dropout_pullback {
  ostraka::operation::dropout again;

  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return summed_to<Wanted>(operate(again, g));
  }
};

}  // namespace detail

template <class S, class F, class P>
struct derivative_of<operation::rope<S, F, P>> {
  using rope = operation::rope<S, F, P>;

  template <class Result, class A, class... Positions>
  static constexpr auto pullback(rope const& operation, Result const&, A const&, Positions const&... at) {
    if constexpr ((is_variable<Positions> || ...)) {
      reason::raise<reason::no_derivative<rope>>();
      return detail::identity_pullback{};
    } else {
      rope back = operation;
      back.is_back = !operation.is_back;
      return detail::rope_pullback<rope, Positions...>{back, {detail::remember(at)...}};
    }
  }
};

template <>
struct derivative_of<operation::dropout> {
  template <class Result, class A>
  static constexpr auto pullback(operation::dropout const& dropout, Result const&, A const&) {
    return detail::dropout_pullback{dropout};
  }
};

}  // namespace ostraka
