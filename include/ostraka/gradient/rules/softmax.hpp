// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of os::softmax: s (g − Σ g s) of a result s. Of a divided axis one number a row moves.

#include <ostraka/gradient/rules/operations.hpp>
#include <ostraka/operations/softmax.hpp>

namespace ostraka {

namespace detail {

template <class Along, class Result>
struct softmax_pullback {
  Result s;

  template <int, class Wanted, class G>
  Wanted pull(G const& g) const {
    auto const gs = ostraka::multiply(g, s);
    auto const row = reduce<rows_of<Along, Result>, reduction::sum>("sum", gs, policy<planner::admit::any>{});
    return summed_to<Wanted>(ostraka::subtract(gs, ostraka::multiply(s, row)));
  }
};

}  // namespace detail

template <class Along>
struct derivative_of<operation::softmax<Along>> {
  template <class Result, class... Given>  // a tensor, and perhaps a mask: what it hides is zero in s
  static auto pullback(operation::softmax<Along> const&, Result const& s, Given const&...) {
    return detail::softmax_pullback<Along, Result>{s};
  }
};

}  // namespace ostraka
