// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Moves of variables: os::reshard and os::rename. A tensor under another sharding is the same tensor, so a
/// reshard shares its operand's cotangent, and what comes behind it is asked for that sharding directly: the backward of
/// a gather and a product is one product and one reduce-scatter.

#include <ostraka/gradient/record.hpp>
#include <ostraka/rename.hpp>
#include <ostraka/reshard.hpp>

namespace ostraka {

namespace detail {

template <auto From, auto To>
struct rename_pullback {
  template <int, class Wanted, class G>
  Wanted pull(G const& g) const {
    return summed_to<Wanted>(ostraka::rename<To, From>(g));
  }
};

}  // namespace detail

template <auto... To, Variable A, class... Policy>
[[nodiscard]] auto reshard(A const& a, Policy const&... how) {
  return a.as(reshard<To...>(a.value(), how...));
}

template <auto From, auto To, Variable A>
[[nodiscard]] auto rename(A const& a) {
  return detail::record(rename<From, To>(a.value()), detail::rename_pullback<From, To>{}, a);
}

}  // namespace ostraka
