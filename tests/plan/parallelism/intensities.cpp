// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Arithmetic intensities derived from plans, against the formulas of the literature ("How to Scale Your Model", Austin
/// et al., 2025; MaxText's page on sharding), for random models, batches and numbers of devices: in the limit of many
/// devices they are equal, and the bytes sent are (n − 1)/n of that. The intensity of one parallelism does not change
/// if another is added.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <random>
#include <string>

#include <ostraka/plan/parallelism/layer.hpp>
#include <ostraka/plan/parallelism/stages.hpp>

namespace os = ostraka;
using namespace os::planner;
using os::parallel_ways;
using os::parallelism;

namespace {

// Sizes that all ways divide, so that blocks are even.
class random_problem {
 public:
  explicit random_problem(std::uint64_t seed) : bits_(seed) {
    ways = {one_of(4), one_of(4), one_of(4), one_of(4), 1, 1};
    shape.width = 16 * between(1, 40);
    shape.inner = 16 * between(1, 40);
    shape.up_products = static_cast<int>(between(1, 2));
    shape.kv_heads = 8 * between(1, 4);
    shape.heads = shape.kv_heads * between(1, 6);
    shape.head_width = 8 * between(1, 16);
    shape.layers = between(1, 40);
    shape.element_bytes = static_cast<int>(one_of(2)) * 2;
    batch = {256 * between(1, 4), 128 * between(1, 20)};
  }
  void add_experts() {
    ways.expert = one_of(3);
    shape.active = between(1, 4);
    shape.experts = 16 * shape.active;
  }

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(high - low + 1));
  }
  /// 1, 2, 4, … of so many.
  std::int64_t one_of(int count) { return std::int64_t{1} << between(0, count - 1); }

  os::transformer_shape shape;
  os::token_batch batch;
  parallel_ways ways;

 private:
  std::mt19937_64 bits_;
};

constexpr int problems = 40;

std::int64_t tokens_a_device(random_problem const& p, parallel_ways const& w) {
  return p.batch.tokens() / (w.data * w.fully_sharded * w.context);
}

// Compares with the formula, and the bytes sent: each of n devices has a part already.
void check(intensity const& found, double formula, std::int64_t ways) {
  CHECK(found.in_the_limit() == doctest::Approx(formula).epsilon(1e-12));
  double const n = static_cast<double>(ways);
  CHECK(found.exact() == doctest::Approx(formula * n / (n - 1)).epsilon(1e-12));
}

// Weights in two bytes each: the literature counts bf16.
double per_element(random_problem const& p, double n) { return n * 2 / p.shape.element_bytes; }

}  // namespace

TEST_CASE("data parallel: tokens a device; of experts, times active/experts") {
  for (int k = 0; k < problems; ++k) {
    random_problem p(static_cast<std::uint64_t>(k));
    if (k % 2 == 1) p.add_experts();
    parallel_ways const ways{.data = 2 * p.one_of(4)};
    double const sparsity = static_cast<double>(p.shape.experts) / static_cast<double>(p.shape.active);
    double const local = static_cast<double>(tokens_a_device(p, ways)) / sparsity;
    auto const t = feed_forward_traffic(p.shape, p.batch, ways);
    CHECK(t.forward.over(parallelism::data).bytes == 0);
    check(t.backward.over(parallelism::data), per_element(p, local), ways.data);
  }
}

TEST_CASE("fully sharded: the same, forward and backward") {
  for (int k = 0; k < problems; ++k) {
    random_problem p(static_cast<std::uint64_t>(k));
    if (k % 2 == 1) p.add_experts();
    parallel_ways const ways{.fully_sharded = 2 * p.one_of(4)};
    double const sparsity = static_cast<double>(p.shape.experts) / static_cast<double>(p.shape.active);
    double const local = static_cast<double>(tokens_a_device(p, ways)) / sparsity;
    auto const t = feed_forward_traffic(p.shape, p.batch, ways);
    for (layer_traffic const& pass : {t.forward, t.backward})
      check(pass.over(parallelism::fully_sharded), per_element(p, local), ways.fully_sharded);
  }
}

TEST_CASE("tensor: the inner width over the ways; a gate's product is for nothing") {
  for (int k = 0; k < problems; ++k) {
    random_problem p(static_cast<std::uint64_t>(k));
    parallel_ways const ways{.tensor = 2 * p.one_of(4)};
    double const products = (p.shape.up_products + 1) / 2.0;
    double const part = static_cast<double>(p.shape.inner) / static_cast<double>(ways.tensor);
    auto const t = feed_forward_traffic(p.shape, p.batch, ways);
    check(t.forward.over(parallelism::tensor), per_element(p, products * part), ways.tensor);
    check(t.backward.over(parallelism::tensor), per_element(p, 2 * products * part), ways.tensor);
  }
}

namespace {

// tokens[b, s, d] · up[d, f] → hidden[b, s, f] on n devices of tensor parallelism: tokens move to the product's
// sharding, and its result to hidden's.
intensity product_of(random_problem const& p, std::int64_t n, spec const& tokens, spec const& left, spec const& up,
                     spec const& made, spec const& hidden) {
  extents e;
  for (std::int64_t extent : {p.batch.sequences, p.batch.length, p.shape.width, p.shape.inner})
    e.label[e.labels++] = extent;
  e.mesh[e.mesh_axes++] = n;
  int axis_of[os::parallelisms];
  std::fill(std::begin(axis_of), std::end(axis_of), -1);
  axis_of[static_cast<int>(parallelism::tensor)] = 0;
  layer_traffic t({.tensor = n}, axis_of);
  auto const move = [&](spec const& from, spec const& to) {
    if (!(from == to))
      t.add_moves(plan_reshard(from, to, e, the_result, slicing::at_once), e, p.shape.element_bytes);
  };
  move(tokens, left);
  einsum_problem product;
  product.operands.push_back(left);
  product.operands.push_back(up);
  product.result = made;
  product.sizes = e;
  t.add(plan_einsum(product), e, p.shape.element_bytes);
  move(made, hidden);
  return t.over(parallelism::tensor);
}

spec lies(std::initializer_list<int> labels, int divided) {
  spec s;
  mesh_order over;
  over.push_back(0);
  for (int label : labels) s.push_back(label, label == divided ? over : mesh_order{});
  return s;
}

}  // namespace

TEST_CASE("tensor with positions divided between blocks: as without; transposed: the model's width over the ways") {
  enum { b, s, d, f, none };
  for (int k = 0; k < problems; ++k) {
    random_problem p(static_cast<std::uint64_t>(k));
    std::int64_t const n = 2 * p.one_of(3);
    spec const hidden = lies({b, s, f}, f);
    auto const in = product_of(p, n, lies({b, s, d}, s), lies({b, s, d}, none), lies({d, f}, f), hidden, hidden);
    check(in, per_element(p, static_cast<double>(p.shape.inner) / static_cast<double>(n)), n);
    spec const width = lies({b, s, d}, d);
    spec sums = lies({b, s, f}, none);
    sums.partial = mesh_set::of(0);
    auto const transposed = product_of(p, n, width, width, lies({d, f}, d), sums, hidden);
    check(transposed, per_element(p, static_cast<double>(p.shape.width) / static_cast<double>(n)), n);
  }
}

TEST_CASE("context: length · heads of queries / (heads of keys · ways)") {
  for (int k = 0; k < problems; ++k) {
    random_problem p(static_cast<std::uint64_t>(k));
    parallel_ways const ways{.context = 2 * p.one_of(4)};
    double const formula =
        static_cast<double>(p.batch.length * p.shape.heads) / static_cast<double>(p.shape.kv_heads * ways.context);
    auto const t = attention_traffic(p.shape, p.batch, ways);
    check(t.forward.over(parallelism::context), per_element(p, formula), ways.context);
    check(t.backward.over(parallelism::context), per_element(p, 2 * formula), ways.context);
  }
}

TEST_CASE("expert: the inner width, on a network that joins all with all") {
  for (int k = 0; k < problems; ++k) {
    random_problem p(static_cast<std::uint64_t>(k));
    p.add_experts();
    parallel_ways const ways{.expert = 2 * p.one_of(3)};
    double const products = (p.shape.up_products + 1) / 2.0;
    auto const t = feed_forward_traffic(p.shape, p.batch, ways);
    check(t.forward.over(parallelism::expert), per_element(p, products * static_cast<double>(p.shape.inner)),
          ways.expert);
  }
}

// The literature counts two activations a tick, one of which brings the next input to the first stage; here each tick
// sends one. A microbatch passes S·R − 1 borders of S·R parts.
TEST_CASE("pipeline: twice 3/2 · layers a stage · inner width · active experts") {
  for (int k = 0; k < problems; ++k) {
    random_problem p(static_cast<std::uint64_t>(k));
    p.shape.up_products = 2;
    p.shape.active = p.between(1, 4);
    p.shape.experts = 4 * p.shape.active;
    int const stages = static_cast<int>(p.between(2, 8));
    int const repeats = static_cast<int>(p.between(1, 3));
    std::int64_t const layers_a_part = p.between(1, 5);
    p.shape.layers = stages * repeats * layers_a_part;
    pipeline_schedule const s{.stages = stages, .microbatches = 2 * stages, .repeats = repeats};
    double const formula = 1.5 * static_cast<double>(layers_a_part * p.shape.inner * p.shape.active);
    check(stage_traffic(p.shape, p.batch, s), per_element(p, 2 * formula), stages * repeats);
    check(stage_traffic(p.shape, p.batch, s.with_backward()), per_element(p, 3 * formula), stages * repeats);
  }
}

// Each parallelism as if it were alone, on its own tokens.
TEST_CASE("a mixture: what one parallelism's intensity is, no other changes") {
  for (int k = 0; k < problems; ++k) {
    random_problem p(static_cast<std::uint64_t>(k));
    if (k % 2 == 1) p.add_experts();
    INFO("problem " << k);
    parallel_ways const& w = p.ways;
    auto const mixed = feed_forward_traffic(p.shape, p.batch, w);
    auto const attended = attention_traffic(p.shape, p.batch, w);
    auto const alone = [&](parallelism kind) {
      return feed_forward_traffic(p.shape, p.batch, parallel_ways{}.with(kind, w.of(kind)));
    };
    auto const same = [](intensity const& a, intensity const& b) {
      CHECK(a.exact() == doctest::Approx(b.exact()).epsilon(1e-12));
      CHECK(a.in_the_limit() == doctest::Approx(b.in_the_limit()).epsilon(1e-12));
    };
    for (parallelism kind : {parallelism::tensor, parallelism::expert}) {
      same(mixed.forward.over(kind), alone(kind).forward.over(kind));
      same(mixed.backward.over(kind), alone(kind).backward.over(kind));
    }
    same(attended.forward.over(parallelism::context),
         attention_traffic(p.shape, p.batch, parallel_ways{.context = w.context}).forward.over(parallelism::context));
    // Experts and contexts divide the tokens further, so there are fewer; tensor parallelism changes nothing.
    auto const sharded = alone(parallelism::fully_sharded).forward.over(parallelism::fully_sharded);
    same(feed_forward_traffic(p.shape, p.batch, {.fully_sharded = w.fully_sharded, .tensor = w.tensor})
             .forward.over(parallelism::fully_sharded),
         sharded);
    CHECK(mixed.forward.over(parallelism::fully_sharded).exact() * static_cast<double>(w.data * w.context) ==
          doctest::Approx(sharded.exact()).epsilon(1e-12));
  }
}

// Gradients are scattered over the fast mesh axis before they are summed over the slow one, which therefore carries a
// part of them: the tokens of all devices behind a slow link count.
TEST_CASE("data parallel across, fully sharded within: the batch of all that share a slow link") {
  for (int k = 0; k < problems; ++k) {
    random_problem p(static_cast<std::uint64_t>(k));
    parallel_ways const ways{.data = 2 * p.one_of(2), .fully_sharded = 2 * p.one_of(3)};
    double const together = static_cast<double>(p.batch.tokens() / ways.data);
    check(feed_forward_traffic(p.shape, p.batch, ways).backward.over(parallelism::data), per_element(p, together),
          ways.data);
  }
}

TEST_CASE("products move nothing, whatever the mixture") {
  for (int k = 0; k < problems; ++k) {
    random_problem p(static_cast<std::uint64_t>(k));
    auto const forward = feed_forward_traffic(p.shape, p.batch, p.ways).forward;
    double const devices = static_cast<double>(p.ways.devices());
    double const all =
        2.0 * static_cast<double>(p.batch.tokens() * p.shape.width * p.shape.inner) * (p.shape.up_products + 1);
    CHECK(forward.flops() == doctest::Approx(all / devices).epsilon(1e-12));
  }
}

// A constant expression, as plans are.
static_assert([] {
  os::transformer_shape const m{.width = 64, .inner = 256};
  auto const t = feed_forward_traffic(m, {8, 16}, {.fully_sharded = 4});
  return t.forward.over(parallelism::fully_sharded).in_the_limit() == 8 * 16 / 4;
}());
