// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The bytes that a layer of the transformer moves under each tensor strategy, forward and backward: by formula, as
/// predicted while compiling, and as counted.
// labels: ci

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#define TRANSFORMER_REAL double
#include <ostraka/foresight/gradient_plan.hpp>

#include "../../examples/strategies/transposed.hpp"
#include "../../examples/transformer/model.hpp"
#include "../../examples/transformer/rules.hpp"
#include "support/byte_counter.hpp"

namespace {

using namespace transformer;

/// A layer and its input, which both have gradients.
template <class Leaves, class Vr>
struct layer_and_input {
  static constexpr typename training<typename Vr::rules>::between between{};
  layer<Leaves, Vr> weights;
  os::leaf<Leaves, real, between(B, S, M)> x;
};

template <class Rules>
using parameters = layer_and_input<os::values, variant<Rules, grouped>>;

template <class Rules>
struct sum_of_result {
  template <class T>
  constexpr auto operator()(T const& p) const {
    using how = training<Rules>;
    auto const attend = [](auto const& w, auto const& h) { return grouped::at_once<how>(w, h); };
    return os::sum<>(apply<how>(p.weights, p.x, attend));
  }
};

template <class Rules>
inline constexpr auto plan = os::gradient_plan<parameters<Rules>>(sum_of_result<Rules>{});

// Column and row, Megatron's: two all-reduces forward and two backward, where nothing else is divided.
struct column_and_row {
  using storage = os::rules<G/Y, F/Y, V/Y>;
  using use = storage;
};
static_assert(plan<column_and_row>.forward.count(os::step::all_reduce) == 2);
static_assert(plan<column_and_row>.backward.count(os::step::all_reduce) == 2);
static_assert(plan<column_and_row>.count(os::step::all_gather) + plan<column_and_row>.count(os::step::reduce_scatter) +
                  plan<column_and_row>.count(os::step::all_to_all) ==
              0);

struct extents {
  std::int64_t x, y;
  std::int64_t b = 16, s = 24, m = 64, g = 8, r = 2, d = 4, f = 192;

  [[nodiscard]] constexpr std::int64_t devices() const { return x * y; }
  [[nodiscard]] constexpr auto sizes() const {
    return os::sizes(B = b, S = s, K = s, M = m, N = m, G = g, R = r, D = d, I = d / 2, P = 2, F = f, X = x, Y = y);
  }
};

/// Elements that all devices send together.
struct moved {
  std::int64_t forward, backward;
  friend constexpr bool operator==(moved, moved) = default;
};

// A gather of so many elements on each device, or a reduce-scatter; an all-reduce is both.
constexpr std::int64_t gather(std::int64_t elements, std::int64_t n) { return elements * (n - 1) / n; }
constexpr std::int64_t reduce(std::int64_t elements, std::int64_t n) { return 2 * gather(elements, n); }

struct counts {
  std::int64_t tokens, heads, groups, weights;
};
constexpr counts counts_of(extents const& e) {
  std::int64_t const heads = e.g * e.r * e.d, groups = e.g * e.d;
  return {e.b / e.x * e.s, heads, groups, 2 * e.m * heads + 2 * e.m * groups + 3 * e.m * e.f};
}

// Activations: two all-reduces of the width per pass. Weights and gains are gathered over X, and their gradients
// scattered.
constexpr moved by_formula(fsdp_and_tensor, extents const& e) {
  auto const [tokens, heads, groups, weights] = counts_of(e);
  std::int64_t const pass = 2 * reduce(tokens * e.m, e.y) + gather(weights / e.y, e.x) + 2 * gather(e.m, e.x);
  return {e.devices() * pass, e.devices() * pass};
}

// Two gathers and two scatters of the width per pass, which is as much, and none in norms; gains' gradients are summed
// over Y, too.
constexpr moved by_formula(sequence_and_tensor, extents const& e) {
  moved const same = by_formula(fsdp_and_tensor{}, e);
  return {same.forward, same.backward + e.devices() * 2 * reduce(e.m / e.x, e.y)};
}

// The gradient of a gain that is divided over Y, as the gain is, and summed over X: scattered over X, each device gets
// the X-th of all that it stores, without its own part.
constexpr std::int64_t gain_of_divided(extents const& e) {
  std::int64_t const part = e.m / e.devices();
  std::int64_t elements = e.devices() * (gather(e.m / e.y, e.x) + e.m / e.x);
  for (std::int64_t y = 0; y < e.y; ++y)
    for (std::int64_t x = 0; x < e.x; ++x) elements -= (y * e.x + x) / e.y == x ? part : 0;
  return elements;
}

// The same as without division of the width, and a number per token in each norm.
constexpr moved by_formula(two_dimensional, extents const& e) {
  moved const same = by_formula(fsdp_and_tensor{}, e);
  std::int64_t const norms = e.devices() * 2 * reduce(counts_of(e).tokens, e.y);
  return {same.forward + norms,
          same.backward + norms + 2 * (gain_of_divided(e) - e.devices() * gather(e.m, e.x))};
}

// Queries, keys, values, the result of attention, and three times the inner width; a number per token in each norm.
constexpr moved by_formula(transposed_tensor, extents const& e) {
  auto const [tokens, heads, groups, weights] = counts_of(e);
  std::int64_t const pass = gather(tokens * (2 * heads + 2 * groups + 3 * e.f), e.y) + 2 * reduce(tokens, e.y);
  return {e.devices() * (pass + 2 * gather(e.m, e.y)),
          e.devices() * (pass + reduce(weights / e.y, e.x) + 2 * reduce(e.m / e.y, e.x))};
}

// The loss is one number, of all devices.
template <class Rules>
constexpr moved predicted(extents const& e) {
  std::int64_t const loss = os::plan_of<os::dims<>, decltype(parameters<Rules>::x)>.total_bytes(e.sizes());
  return {(plan<Rules>.forward.total_bytes(e.sizes()) - loss) / 8, plan<Rules>.backward.total_bytes(e.sizes()) / 8};
}

// A variable for each mesh: compilers limit the steps of one constant evaluation, and each prediction runs the program.
template <class Rules, std::int64_t X, std::int64_t Y>
constexpr bool formula_is_predicted_on = by_formula(Rules{}, extents{X, Y}) == predicted<Rules>(extents{X, Y});

template <class Rules>
constexpr bool formula_is_predicted() {
  return formula_is_predicted_on<Rules, 1, 8> && formula_is_predicted_on<Rules, 2, 4> &&
         formula_is_predicted_on<Rules, 4, 2> && formula_is_predicted_on<Rules, 8, 1> &&
         formula_is_predicted_on<Rules, 1, 4> && formula_is_predicted_on<Rules, 2, 2> && plan<Rules>.unpriced() == 0;
}
static_assert(formula_is_predicted<fsdp_and_tensor>());
static_assert(formula_is_predicted<sequence_and_tensor>());
static_assert(formula_is_predicted<two_dimensional>());
static_assert(formula_is_predicted<transposed_tensor>());

// Norms of a divided sequence move nothing, those of a divided width a number a token.
template <class Rules>
constexpr int moves_of_norms() {
  int moves = 0;
  for (auto const& operation : plan<Rules>.forward)
    moves += operation.name == "rms_norm" ? operation.count(os::step::all_reduce) : 0;
  return moves;
}
static_assert(moves_of_norms<sequence_and_tensor>() == 0);
static_assert(moves_of_norms<two_dimensional>() == 2);

struct filled {
  template <class Leaf>
  auto operator()(Leaf const& leaf) const {
    return os::normal<typename Leaf::type>(leaf.mesh(), leaf.sizes(), leaf.seed(), os::around(0, 0.3));
  }
};

using mesh_type = os::mesh<X_mesh, Y_mesh>;

/// The gradient, of each parameter along a direction, and the bytes sent.
struct outcome {
  std::vector<double> slopes;
  std::int64_t bytes = 0;
};

template <class Rules>
outcome gradient_on(mesh_type const& m, extents const& e) {
  auto const random = [&](std::uint64_t seed) {
    return os::make_tree<parameters<Rules>>(m, e.sizes(), os::seed(seed), filled{});
  };
  auto const p = random(1);
  outcome r;
  auto g = p;
  r.bytes = os::testing::traffic_of([&] { g = os::value_and_grad(sum_of_result<Rules>{})(p).gradient; }).bytes;
  os::for_each_leaf(
      [&](std::string const&, auto const& a, auto const& direction) {
        r.slopes.push_back(os::value(os::sum<>(a * direction)));
      },
      g, random(2));
  return r;
}

template <class Rules>
void check(mesh_type const& m, extents const& e, outcome const& wanted) {
  INFO(Rules::name, " on ", e.x, " x ", e.y, ", batch ", e.b);
  auto const found = gradient_on<Rules>(m, e);
  CHECK(found.bytes == plan<Rules>.total_bytes(e.sizes()));
  REQUIRE(found.slopes.size() == wanted.slopes.size());
  for (std::size_t i = 0; i < wanted.slopes.size(); ++i)
    CHECK(std::abs(found.slopes[i] - wanted.slopes[i]) <= 1e-11 * (1 + std::abs(wanted.slopes[i])));
}

}  // namespace

TEST_CASE("a layer's gradient is that of one device, and moves what is predicted") {
  int const devices = static_cast<int>(os::testing::numbers_of_ranks(0).size());
  for (int x = 1; x <= devices; ++x) {
    if (devices % x != 0) continue;
    auto const m = os::make_mesh(X = x, Y = devices / x);
    // Also 0.25 sequences per device, where four devices share one.
    for (std::int64_t batch : {std::int64_t{16}, std::int64_t{x}}) {
      extents e{x, devices / x};
      e.b = batch;
      auto const wanted = gradient_on<fsdp_and_tensor>(os::make_mesh(os::this_device, X = 1, Y = 1), e);
      check<fsdp_and_tensor>(m, e, wanted);
      check<sequence_and_tensor>(m, e, wanted);
      check<two_dimensional>(m, e, wanted);
      check<transposed_tensor>(m, e, wanted);
    }
  }
}
