// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Checks that prefill and decoding with caches give the logits of the whole model at once, and that each token moves
/// the same number of bytes, whatever a cache holds and has space for: the cache is never gathered.

#include <cmath>
#include <cstdio>
#include <limits>

#include "../transformer/data.hpp"
#include "decode.hpp"
#include "options.hpp"
#include "support/byte_counter.hpp"

namespace train {

template <class A, class Other>
double largest_difference(A const& a, Other const& b) {
  return os::value(os::max<>(os::abs(os::reshard<B, S, V>(a) - b)));
}

/// @returns true on all devices alike if the check passes
template <class Vr>
bool check_decoding(mesh_type const& m, model<os::values, Vr> const& p, bytes_of_text const& text, options const& o) {
  constexpr typename Vr::rules::use U{};
  options one = o;
  one.batch = 1;
  auto const tokens = batch_of<U>(m, text, one, 0).tokens;
  auto const whole = os::reshard<B, S, V>(logits<Vr>(p, tokens));
  auto const all = os::reshard<B, S>(tokens);

  std::int64_t const prefilled = (o.length + 1) / 2;
  double largest = 0;
  std::int64_t bytes = -1, others = 0, cache = 0;
  for (int longer : {0, 1}) {
    continuation<Vr> c(m, p, longer == 0 ? o.length : 8 * o.length);
    largest = std::fmax(
        largest, largest_difference(c.next(os::window<S>(all, 0, prefilled)), os::window<S>(whole, 0, prefilled)));
    for (std::int64_t s = prefilled; s < o.length; ++s) {
      auto const before = os::testing::traffic_so_far();
      auto const l = c.next(os::window<S>(all, s, s + 1));
      std::int64_t const moved = os::testing::traffic_so_far().bytes - before.bytes;
      bytes = bytes < 0 ? moved : bytes;
      others += moved == bytes ? 0 : 1;
      largest = std::fmax(largest, largest_difference(l, os::window<S>(whole, s, s + 1)));
    }
    if (longer == 0) cache = c.cache_bytes();
  }
  bytes = os::testing::sum_over_ranks({bytes, 0}).bytes;
  others = os::testing::sum_over_ranks({others, 0}).bytes;
  cache = os::testing::sum_over_ranks({cache, 0}).bytes;
  double const size = os::value(os::max<>(os::abs(whole)));
  // Sums of some hundred numbers, in another order.
  bool const same = largest <= 256 * std::numeric_limits<real>::epsilon() * size;
  if (m.device() == 0)
    std::printf(
        "\nDecoding with a cache differs from the whole model by %.0e of the largest logit: %s\n"
        "The caches hold %s for %lld bytes. Each of them moves %s, also with room for 8 times as many: %s\n",
        largest / size, same ? "PASS" : "FAIL", os::planner::describe_bytes(cache).c_str(),
        static_cast<long long>(o.length), os::planner::describe_bytes(bytes).c_str(), others == 0 ? "PASS" : "FAIL");
  return same && others == 0;
}

}  // namespace train
