// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The cost of attention with a causal mask or a window, as each reader of costs states it: os::cost_of, os::time_of,
/// the plan of a gradient, the programs of os::search_rules and os::advise_parallelism. Plain loops over queries and
/// keys give the expected values.
// ranks: 1

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <ostraka/foresight/advise_parallelism.hpp>
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

constexpr std::int64_t none = -1;  // no window

struct option {
  bool causal;
  std::int64_t window, first, from = 0;

  [[nodiscard]] bool sees(std::int64_t query, std::int64_t key) const {
    if (causal && key > query) return false;
    return window == none || key < first || std::abs(query - key) < window;
  }
};

// The pairs that tiles of 120 queries and 240 keys multiply, for queries at [begin, end) of a sequence: a tile skips
// 240 keys of which none of its queries sees one, and, without a window, the keys behind its last query.
std::int64_t pairs_of(option const& o, std::int64_t begin, std::int64_t end, std::int64_t keys) {
  std::int64_t pairs = 0;
  for (std::int64_t q = begin; q < end; q += 120) {
    std::int64_t const to = std::min<std::int64_t>(q + 120, end);
    for (std::int64_t k = 0; k < keys; k += 240) {
      std::int64_t until = std::min<std::int64_t>(k + 240, keys);
      bool seen = false;
      for (std::int64_t i = q; i < to && !seen; ++i)
        for (std::int64_t j = k; j < until && !seen; ++j) seen = o.sees(i, j);
      if (o.window == none && o.causal) until = std::min(until, to);
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
    if constexpr (O.window == none && O.from > 0)
      return os::sum<>(os::attention<Q, S, D>(q, k, v, os::causal, os::from_position(O.from)));
    else if constexpr (O.window == none && O.causal)
      return os::sum<>(os::attention<Q, S, D>(q, k, v, os::causal));
    else if constexpr (O.window == none)
      return os::sum<>(os::attention<Q, S, D>(q, k, v));
    else if constexpr (O.causal)
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
        std::int64_t const own = heads / y * pairs_of(O, O.from + begin, O.from + end, positions);
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

TEST_CASE("what a causal mask hides is neither counted nor predicted, but for a part of a tile") {
  all_readers_agree<option{true, none, 0}>();
  all_readers_agree<option{true, none, 0, 130}>();
  all_readers_agree<option{false, none, 0}>();
}

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

namespace {

OSTRAKA_AXIS(R, 3);   // requests
OSTRAKA_AXIS(N, 5);   // queries of each
OSTRAKA_AXIS(P, 30);  // pages
OSTRAKA_AXIS(L, 4);   // slots of a page
OSTRAKA_AXIS(T, 7);   // entries of a table

// A request is priced as if it filled its table, and its pages as if they were spread evenly.
template <std::int64_t Window>
void pages_agree() {
  using rows = os::tensor<float, R, N, H/Y, D>;
  using pool = os::tensor<float, P/X, L, H/Y, D>;
  using tables = os::tensor<std::int32_t, R, T>;
  using starts = os::tensor<std::int64_t, R>;
  option const o{true, Window, 0};
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t k = 0; k < 7 * 4; ++k) pairs += o.sees(7 * 4 - 5 + i, k) ? 1 : 0;
  for (std::int64_t const x : {1, 2, 3})
    for (std::int64_t const y : {1, 2}) {
      INFO("a window of ", Window, " on ", x, " × ", y);
      auto const m = os::dry_mesh(X = x, Y = y);
      auto const q = os::zeros<rows>(m);
      auto const k = os::zeros<pool>(m);
      auto const table = os::zeros<tables>(m);
      auto const at = os::zeros<starts>(m);
      auto const attend = [&] {
        auto const pages = os::pages<P/X>(table);
        if constexpr (Window == none)
          static_cast<void>(os::attention<N, L, D>(q, k, k, pages, os::causal, os::from_positions(at)));
        else
          static_cast<void>(
              os::attention<N, L, D>(q, k, k, pages, os::causal, os::window(Window), os::from_positions(at)));
      };
      std::int64_t const wanted = 3 * heads / y * ((pairs + x - 1) / x) * 2 * (width + width);
      CHECK(os::cost_of(m, attend).flops == wanted);
      CHECK(os::time_of(m, simple(), attend).computing * 1e6 == doctest::Approx(static_cast<double>(wanted)));
    }
}

}  // namespace

TEST_CASE("keys in pages") {
  pages_agree<none>();
  pages_agree<1>();
  pages_agree<6>();
  pages_agree<1000>();
}

TEST_CASE("transformers: attention takes the share of pairs that tiles multiply") {
  os::transformer_shape shape{.width = 64, .inner = 256, .heads = 4, .head_width = 16, .vocabulary = 100};
  auto const flops_of = [&](planner::program const& p) {
    for (planner::program_statement const& s : p.statements)
      if (p.tensors[static_cast<std::size_t>(s.result)].name == "attended") return s.flops;
    return -1.0;
  };
  auto const advised = [&](os::token_batch const& tokens) {  // of two devices along the positions
    os::machine const fast = simple();
    return os::reach_of(os::parallelism::context, shape, tokens, fast.with("context", {1e15, 0}));
  };
  for (std::int64_t const length : {1, 2, 3, 250, 2048})
    for (std::int64_t const w : {std::int64_t{0}, std::int64_t{1}, std::int64_t{64}, std::int64_t{10000}}) {
      CAPTURE(length);
      CAPTURE(w);
      os::token_batch const tokens{.sequences = 2, .length = length};
      shape.window = w;
      double const all = static_cast<double>(length) * static_cast<double>(length);
      auto const share = [&](bool causal) {
        return static_cast<double>(pairs_of({causal, w > 0 ? w : none, 0}, 0, length, length)) / all;
      };
      CHECK(flops_of(planner::programs::decoder(shape, tokens)) == doctest::Approx(4 * share(true)).epsilon(1e-12));
      CHECK(flops_of(planner::programs::encoder(shape, tokens)) == doctest::Approx(4 * share(false)).epsilon(1e-12));
      if (length % 2 != 0) continue;
      double const intensity = advised(tokens).intensity;
      shape.window = 0;
      CHECK(intensity == doctest::Approx(advised(tokens).intensity * share(false)).epsilon(1e-12));
    }
}
