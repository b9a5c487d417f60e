// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The cost of attention with a window, as each reader of costs states it: os::cost_of, os::time_of, os::bytes_of, the
/// plan of a gradient and the programs of os::search_rules. Plain loops over queries and keys give the expected values.
// ranks: 1

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/foresight/search_rules.hpp>
#include <ostraka/foresight/time_of.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/plan/program/layers.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace planner = os::planner;

namespace {

OSTRAKA_AXIS(Q, 700);
OSTRAKA_AXIS(S, 700);  // keys
OSTRAKA_AXIS(H, 4);
OSTRAKA_AXIS(D, 6);
OSTRAKA_AXIS(E, 5);  // the width of values

constexpr std::int64_t positions = 700, heads = 4, width = 6, values = 5;

struct option {
  bool causal;
  std::int64_t window, first;

  [[nodiscard]] bool sees(std::int64_t query, std::int64_t key) const {
    if (causal && key > query) return false;
    return key < first || std::abs(query - key) < window;
  }
};

// The pairs that tiles of 120 queries and 240 keys multiply, for queries [begin, end): a tile skips 240 keys of which
// none of its queries sees one.
std::int64_t pairs_of(option const& o, std::int64_t begin, std::int64_t end) {
  std::int64_t pairs = 0;
  for (std::int64_t q = begin; q < end; q += 120) {
    std::int64_t const to = std::min<std::int64_t>(q + 120, end);
    for (std::int64_t k = 0; k < positions; k += 240) {
      std::int64_t const until = std::min<std::int64_t>(k + 240, positions);
      bool seen = false;
      for (std::int64_t i = q; i < to && !seen; ++i)
        for (std::int64_t j = k; j < until && !seen; ++j) seen = o.sees(i, j);
      if (seen) pairs += (to - q) * (until - k);
    }
  }
  return pairs;
}

template <option O>
struct loss_of {
  template <class TQ, class TK, class TV>
  constexpr auto operator()(TQ const& q, TK const& k, TV const& v) const {
    constexpr auto window = os::window(O.window).and_first(O.first);
    if constexpr (O.causal)
      return os::sum<>(os::attention<Q, S, D>(q, k, v, os::causal, window));
    else
      return os::sum<>(os::attention<Q, S, D>(q, k, v, window));
  }
};

using queries = os::tensor<float, H/Y, Q/X, D>;
using keys = os::tensor<float, H/Y, S, D>;
using values_of_keys = os::tensor<float, H/Y, S, E>;

os::machine simple() {
  os::machine m;
  m.flops_per_second = {1e6, 1e6, 1e6, 1e6};
  m.links = {1e6, 0, os::link_shape::ring, true};
  return m;
}

template <option O>
void all_readers_agree() {
  constexpr auto plan = os::gradient_plan<queries, keys, values_of_keys>(loss_of<O>{});
  static_assert(plan.unpriced() == 0);
  for (std::int64_t const x : {1, 2, 3})
    for (std::int64_t const y : {1, 2}) {
      INFO("causal ", O.causal, ", window ", O.window, ", first ", O.first, ", on ", x, " × ", y);
      std::int64_t busiest = 0, busiest_in_sum = 0, busiest_backward = 0;
      for (std::int64_t d = 0; d < x * y; ++d) {
        auto const m = os::dry_mesh(os::as_device(d), X = x, Y = y);
        auto const q = os::zeros<queries>(m);
        auto const k = os::zeros<keys>(m);
        auto const v = os::zeros<values_of_keys>(m);
        std::int64_t const at = d / y, begin = at * positions / x, end = (at + 1) * positions / x;
        std::int64_t const own = heads / y * pairs_of(O, begin, end);
        auto const forward = [&] { static_cast<void>(loss_of<O>{}(q, k, v)); };
        std::int64_t const attention = 2 * own * (width + values), sum = 2 * heads / y * (end - begin) * values;
        std::int64_t const counted = os::cost_of(m, forward).flops;
        CHECK(counted == attention + sum);
        CHECK(os::time_of(m, simple(), forward).computing * 1e6 == doctest::Approx(static_cast<double>(counted)));
        std::int64_t const all =
            os::cost_of(m, [&] { static_cast<void>(os::value_and_grad(loss_of<O>{})(q, k, v)); }).flops;
        CHECK(all - counted == 2 * own * (3 * width + 2 * values));  // five products
        busiest = std::max(busiest, attention);
        busiest_in_sum = std::max(busiest_in_sum, sum);
        busiest_backward = std::max(busiest_backward, all - counted);
      }
      CHECK(plan.forward.flops(X = x, Y = y) == busiest + busiest_in_sum);  // of each operation
      CHECK(plan.backward.flops(X = x, Y = y) == busiest_backward);
    }
}

}  // namespace

TEST_CASE("what a window hides is neither counted nor predicted") {
  all_readers_agree<option{true, 1, 0}>();
  all_readers_agree<option{true, 100, 0}>();
  all_readers_agree<option{true, 250, 10}>();
  all_readers_agree<option{true, 10000, 0}>();
  all_readers_agree<option{false, 1, 0}>();
  all_readers_agree<option{false, 130, 300}>();
}

namespace {

// The loss of a ring, in which a part of the keys goes no further than a window reaches.
template <std::int64_t Window>
struct ring_loss {
  template <class TQ, class TK>
  constexpr auto operator()(TQ const& q, TK const& k) const {
    return os::sum<>(os::attention<Q, S/X, D>(q, k, k, os::causal, os::ring, os::window(Window)));
  }
};

template <std::int64_t Window>
void ring_agrees() {
  using parts = os::tensor<float, H/Y, S/X, D>;
  constexpr auto plan = os::gradient_plan<queries, parts>(ring_loss<Window>{});
  static_assert(plan.unpriced() == 0);
  for (std::int64_t const x : {1, 2, 4, 7}) {
    INFO("a window of ", Window, " on ", x);
    std::int64_t sent = 0, sent_forward = 0, flops = 0;
    for (std::int64_t d = 0; d < x; ++d) {
      auto const m = os::dry_mesh(os::as_device(d), X = x, Y = 1);
      auto const q = os::zeros<queries>(m);
      auto const k = os::zeros<parts>(m);
      sent_forward += os::cost_of(m, [&] { static_cast<void>(ring_loss<Window>{}(q, k)); }).bytes;
      auto const c = os::cost_of(m, [&] { static_cast<void>(os::value_and_grad(ring_loss<Window>{})(q, k)); });
      sent += c.bytes;
      flops = std::max(flops, c.flops);
    }
    // Each device's part goes to those after it that see some of it: as far as a window reaches back.
    std::int64_t hops = 0;
    for (std::int64_t home = 0; home < x; ++home) {
      std::int64_t last = home;
      for (std::int64_t d = home + 1; d < x; ++d) {
        bool seen = false;
        for (std::int64_t i = d * positions / x; i < (d + 1) * positions / x; ++i)
          for (std::int64_t j = home * positions / x; j < (home + 1) * positions / x; ++j)
            seen = seen || (j <= i && i - j < Window);
        if (seen) last = d;
      }
      hops += last - home;
    }
    std::int64_t const loss = 2 * (x - 1) * static_cast<std::int64_t>(sizeof(float));
    CHECK(sent_forward == hops * 2 * heads * (positions / x) * width * static_cast<std::int64_t>(sizeof(float)) + loss);
    CHECK(plan.forward.total_bytes(X = x, Y = 1) == sent_forward);
    CHECK(plan.total_bytes(X = x, Y = 1) == sent);
    CHECK(plan.flops(X = x, Y = 1) == flops);
  }
}

}  // namespace

TEST_CASE("a ring with a window") {
  ring_agrees<1>();
  ring_agrees<150>();
  ring_agrees<400>();
  ring_agrees<100'000>();
}

TEST_CASE("programs of transformers: attention takes the share of pairs that the window leaves") {
  os::transformer_shape shape{.width = 64, .inner = 256, .heads = 4, .head_width = 16, .vocabulary = 100};
  os::token_batch const tokens{.sequences = 2, .length = 4096};
  auto const flops_of = [&](planner::program const& p) {
    for (planner::program_statement const& s : p.statements)
      if (p.tensors[static_cast<std::size_t>(s.result)].name == "attended") return s.flops;
    return -1.0;
  };
  CHECK(flops_of(planner::programs::decoder(shape, tokens)) == 2);
  CHECK(flops_of(planner::programs::encoder(shape, tokens)) == 4);
  for (std::int64_t const w : {64, 1024, 4096, 10000}) {
    shape.window = w;
    std::int64_t causal = 0, both_ways = 0;
    for (std::int64_t i = 0; i < tokens.length; ++i) {
      causal += std::min(w, i + 1);
      both_ways += std::min(i + w, tokens.length) - std::max<std::int64_t>(0, i - w + 1);
    }
    double const all = 4096.0 * 4096.0;
    CHECK(flops_of(planner::programs::decoder(shape, tokens)) ==
          doctest::Approx(4 * static_cast<double>(causal) / all).epsilon(0.01));
    CHECK(flops_of(planner::programs::encoder(shape, tokens)) ==
          doctest::Approx(4 * static_cast<double>(both_ways) / all).epsilon(0.01));
  }
}
