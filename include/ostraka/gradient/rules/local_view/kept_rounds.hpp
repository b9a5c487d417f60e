// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What the derivative of os::preduce keeps of the rounds of a reduction: the blocks that arrived. Of variables,
/// for a second derivative, they are joined so that all devices go back through the same messages.

#include <tuple>

#include <ostraka/creation/zeros.hpp>
#include <ostraka/gradient/directives/custom_vjp.hpp>
#include <ostraka/local_view/collectives/preduce.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::detail {

template <class... Blocks>
struct received_blocks {
  std::tuple<Blocks...> blocks;
  received_as as;
};

/// Keeps what f was called on.
template <class... Blocks>
struct keeps_received : keeps_nothing {
  dynamic_array<received_blocks<Blocks...>>* kept;
  explicit keeps_received(dynamic_array<received_blocks<Blocks...>>* where) : kept(where) {}
  void operator()(std::tuple<Blocks...> const& blocks, received_as as) const {
    if (kept != nullptr && as != received_as::unused) kept->push_back({blocks, as});
  }
};

// The first of several; the others get zeros.
struct first_of_all {
  template <class First, class... Rest>
  First operator()(First const& first, Rest const&...) const {
    return first;
  }
};
struct zeros_for_others {
  template <class G, class Result, class First, class... Rest>
  auto operator()(G const& g, Result const&, First const&, Rest const&... rest) const {
    return std::tuple(g, zeros_like(stop_gradient(rest))...);
  }
};

/// `mine`, of which the derivative goes on to the others, too, by zeros. What is sent to and fro is gone back through
/// by all devices or by none, though they do not call f on the same, and some do not call it at all.
template <class Mine, class... Others>
Mine with_zeros_for(Mine mine, std::tuple<Others...> const& others) {
  [[maybe_unused]] auto const one = [&]<class Other>(Other const& other) {
    if constexpr (is_variable<Mine> && is_variable<Other>)
      mine = custom_vjp(first_of_all{}, zeros_for_others{})(mine, other);
  };
  std::apply([&](Others const&... all) { (one(all), ...); }, others);
  return mine;
}

/// Keeps all that arrives, of variables.
template <class... Blocks>
struct keeps_variables {
  std::tuple<Blocks...> own;
  dynamic_array<received_blocks<Blocks...>>* kept;
  std::tuple<Blocks...> sent(std::tuple<Blocks...> const& mine) const {
    return std::apply([&](Blocks const&... b) { return std::tuple<Blocks...>(with_zeros_for(b, own)...); }, mine);
  }
  void operator()(std::tuple<Blocks...> const& blocks, received_as as) const { kept->push_back({blocks, as}); }
};

}  // namespace ostraka::detail
