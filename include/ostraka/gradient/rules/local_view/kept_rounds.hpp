// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The received blocks that the derivative of os::preduce keeps from the rounds of a reduction. For a second
/// derivative they are variables, joined so that all devices go back through the same messages.

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

/// Keeps the blocks on which f was called.
template <class... Blocks>
struct keeps_received : keeps_nothing {
  dynamic_array<received_blocks<Blocks...>>* kept;
  explicit keeps_received(dynamic_array<received_blocks<Blocks...>>* where) : kept(where) {}
  void operator()(std::tuple<Blocks...> const& blocks, received_as as) const {
    if (kept != nullptr && as != received_as::unused) kept->push_back({blocks, as});
  }
};

// The first of several arguments; the others get zeros as cotangents.
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

/// `mine`, whose derivative also reaches the others, as zeros. So all devices go back through the messages, or none
/// does, although they do not call f on the same blocks, and some do not call it at all.
template <class Mine, class... Others>
Mine with_zeros_for(Mine mine, std::tuple<Others...> const& others) {
  [[maybe_unused]] auto const one = [&]<class Other>(Other const& other) {
    if constexpr (is_variable<Mine> && is_variable<Other>)
      mine = custom_vjp(first_of_all{}, zeros_for_others{})(mine, other);
  };
  std::apply([&](Others const&... all) { (one(all), ...); }, others);
  return mine;
}

/// Keeps all blocks of variables that arrive.
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
