// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The limits of each parallelism on a machine, against the literature's worked examples ("How to Scale Your Model",
/// Austin et al., 2025; MaxText's page on sharding).

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include <ostraka/plan/hardware/machines.hpp>
#include <ostraka/plan/parallelism/parallelism_advice.hpp>

namespace os = ostraka;
using namespace os::planner;
using os::parallel_ways;
using os::parallelism;

namespace {

// LLaMA-2-13B, and its feed-forward as two products, as that chapter counts it.
constexpr os::transformer_shape llama_13b{
    .width = 5120, .inner = 13824, .up_products = 1, .heads = 40, .head_width = 128, .layers = 40};

constexpr machine without_latency(machine m) {
  m.links.hop_seconds = 0;
  return m;
}

// Two axes of a torus for parameters that are stored divided.
constexpr machine two_axes_of(machine m) {
  link twice = m.links;
  twice.bytes_per_second *= 2;
  return m.with("fully_sharded", twice);
}

double in_the_limit(layer_traffic const& t, parallelism p, machine const& m) {
  double const needed = hardware_intensity(m, m.along(name_of(p)));
  return t.over(p).bytes_in_the_limit * needed / m.flops_per_second.of(2);
}

}  // namespace

TEST_CASE("operations that a device does for each byte") {
  CHECK(hardware_intensity(machines::tpu_v5p, machines::tpu_v5p.links) == doctest::Approx(2550).epsilon(1e-12));
  machine trillium = machines::trillium;
  trillium.flops_per_second.float16 = 917e12;  // as MaxText's page has it
  CHECK(hardware_intensity(trillium, trillium.links) == doctest::Approx(5094).epsilon(2e-4));
  // A handshake's time is latency. On a line whose links both directions share, all bytes pass each link: W = w.
  link const shaking{1e9, 1e-6, link_shape::switched, true, 1e-3, 0};
  CHECK(hardware_intensity(trillium, shaking) == doctest::Approx(917e3).epsilon(1e-9));
  CHECK(hardware_intensity(trillium, {1e9, 1e-6, link_shape::line, false}) == doctest::Approx(917e3).epsilon(1e-9));
}

// α = C/W = 2550: fully sharded needs as many tokens a device. With a slower network between pods of 3.8e18 operations
// and 5e13 bytes a second, 76,000 a pod.
TEST_CASE("tokens a device, and a pod") {
  machine const v5p = without_latency(machines::tpu_v5p);
  for (std::int64_t tokens : {2549, 2551}) {
    constexpr std::int64_t n = 1024;
    auto const t = feed_forward_traffic(llama_13b, {n, tokens}, {.fully_sharded = n}).forward;
    bool const enough = t.over(parallelism::fully_sharded).in_the_limit() >= hardware_intensity(v5p, v5p.links);
    CHECK(enough == (tokens > 2550));
    pass_time const time = time_of_pass(t, llama_13b, v5p, 1U << static_cast<int>(parallelism::fully_sharded));
    CHECK(time.sending / time.computing ==
          doctest::Approx(2550.0 / static_cast<double>(tokens) * 1023 / 1024).epsilon(1e-9));
  }
  machine const pod{
      .name = "pod", .flops_per_second = {0, 0, 3.8e18, 0}, .links = {5e13, 0, link_shape::switched, true}};
  for (std::int64_t tokens : {75'999, 76'001}) {
    auto const t = feed_forward_traffic(llama_13b, {4 * tokens, 1}, {.data = 4}).backward;
    CHECK((t.over(parallelism::data).in_the_limit() >= hardware_intensity(pod, pod.links)) == (tokens > 76'000));
  }
}

// Tensor parallelism: fewer ways than F · W/C, 5.4 here.
TEST_CASE("ways of tensor parallelism") {
  for (std::int64_t n : {2, 4, 5, 6, 8}) {
    auto const t = feed_forward_traffic(llama_13b, {65536, 1}, {.tensor = n}).forward;
    CHECK((t.over(parallelism::tensor).in_the_limit() >= 2550) == (n * 2550 < 13824));
  }
}

// Both together on N devices, what is stored divided over two of the torus' axes (M_X = 2, M_Y = 1): the messages of
// both take the least time at X = √(B/F · M_X/M_Y · N), and are hidden if B/N > 4α²/(M_X M_Y F) = 940 tokens a device.
TEST_CASE("tensor and fully sharded together: 940 tokens a device for LLaMA-2-13B on v5p") {
  machine const v5p = two_axes_of(without_latency(machines::tpu_v5p));
  constexpr std::int64_t devices = 6 * 512, tokens_a_device = 1024;
  auto const mixed = [&](std::int64_t tensor) {
    return feed_forward_traffic(llama_13b, {devices * tokens_a_device, 1},
                                {.fully_sharded = devices / tensor, .tensor = tensor})
        .forward;
  };
  // By Y ways of tensor parallelism gathers of weights take a/Y, those of activations b·Y for each token of a device, …
  double const a = 2 * in_the_limit(mixed(2), parallelism::fully_sharded, v5p);
  double const b = in_the_limit(mixed(2), parallelism::tensor, v5p) / 2 / tokens_a_device;
  for (std::int64_t y : {3, 4, 6, 8}) {
    auto const n = static_cast<double>(y);
    CHECK(in_the_limit(mixed(y), parallelism::fully_sharded, v5p) == doctest::Approx(a / n).epsilon(1e-12));
    CHECK(in_the_limit(mixed(y), parallelism::tensor, v5p) == doctest::Approx(b * n * tokens_a_device).epsilon(1e-12));
  }
  // … so together 2√(a·b·tokens) at best, while c for each token is computed.
  double const c = mixed(2).flops() / 4.59e14 / tokens_a_device;
  double const least_tokens = 4 * a * b / (c * c);
  CHECK(least_tokens == doctest::Approx(2 * 2550.0 * 2550 / 13824).epsilon(1e-12));
  CHECK(least_tokens == doctest::Approx(940).epsilon(1e-3));
  // The search for whole ways: the formula's, or one of its neighbours.
  for (std::int64_t tokens : {512, 1024, 4096, 16384}) {
    double const formula = std::sqrt(static_cast<double>(devices * tokens) / 13824 * 2 * static_cast<double>(devices));
    mixed_ways const found = best_mixture(llama_13b, devices * tokens, v5p, devices);
    double const ratio = static_cast<double>(found.ways.fully_sharded) / formula;
    CHECK(ratio < 2.01);
    CHECK(ratio > 0.49);
    CHECK(found.ways.devices() == devices);
  }
}

TEST_CASE("how far each parallelism goes") {
  os::token_batch const batch{1024, 4096};
  machine const& v5p = machines::tpu_v5p;
  auto const reach = [&](parallelism p) { return reach_of(p, llama_13b, batch, v5p); };
  // 4096 tokens per device are enough; fewer than a sequence are not considered.
  CHECK(reach(parallelism::data).ways == 1024);
  CHECK_FALSE(reach(parallelism::fully_sharded).is_bound_by_links());
  // Among the divisors of 40 heads, 5 is the last below 5.4 · n/(n − 1).
  CHECK(reach(parallelism::tensor).ways == 5);
  CHECK(reach(parallelism::tensor).is_bound_by_links());
  CHECK(reach(parallelism::tensor).intensity == doctest::Approx(13824 / 5.0 * 5 / 4).epsilon(1e-12));
  // 4096 positions over two devices, of which each has a half of the keys: 4096/2 · 2/1; over four, 4096/4 · 4/3.
  // An axis of two is open, and takes twice as long as one that wraps: 5100 operations a byte for two ways, which a
  // ring's 2550 would be enough for, and 4096 are not.
  CHECK(reach(parallelism::context).ways == 1);
  CHECK(reach(parallelism::context).needed == doctest::Approx(5100).epsilon(1e-9));
  link closed = v5p.links;
  closed.wraps_from = 0;
  CHECK(reach_of(parallelism::context, llama_13b, batch, v5p.with("context", closed)).ways == 2);
  CHECK(reach(parallelism::expert).ways_of_sizes == 1);
  CHECK(reach(parallelism::pipeline).ways == 40);
  CHECK(reach(parallelism::pipeline).bubble == doctest::Approx(39.0 / (1024 + 39)));
  // A batch that is four times smaller: 1024 tokens per device at 1024 ways are too few, and so are 2048 at 512.
  parallelism_reach const few = reach_of(parallelism::fully_sharded, llama_13b, {1024, 1024}, v5p);
  CHECK(few.ways == 256);
  CHECK(few.is_bound_by_links());
  CHECK(few.intensity >= few.needed);
}

// On a ring, blocks for all others pass all devices between: an all-to-all of experts takes n/4 of a switch's time.
TEST_CASE("experts keep up on few devices of a ring, on a switch on any number") {
  os::transformer_shape moe = llama_13b;
  moe.experts = 64;
  moe.active = 2;
  machine const ring = without_latency(machines::tpu_v5p);
  machine net = ring;
  net.links.shape = link_shape::switched;
  net.links.bytes_per_second = 1.8e11;
  CHECK(reach_of(parallelism::expert, moe, {64, 4096}, net).ways == 64);
  // Of V bytes it takes V/4W, where a device has V/n: F ≥ 2550 · n/4, so up to 21 devices.
  CHECK(reach_of(parallelism::expert, moe, {64, 4096}, ring).ways == 16);
}

TEST_CASE("advice in words") {
  parallelism_advice const a = advise_parallelism(llama_13b, machines::tpu_v5p, {1024, 4096});
  CHECK(a.of(parallelism::tensor).ways == 5);
  CHECK(a.together.forward.keeps_up());
  CHECK(a.together.ways.devices() >= 1024);
  CHECK_FALSE(
      best_mixture(llama_13b, 1024 * 4096, machines::tpu_v5p, 2 * a.together.ways.devices()).forward.keeps_up());
  std::string const text = describe(a);
  INFO(text);
  CHECK(text.find("tensor               5      3,456     2,550  links: 8 ways would wait") != std::string::npos);
  CHECK(text.find("fully_sharded    1,024") != std::string::npos);
  CHECK(text.find("4,194,304 tokens a step on tpu_v5p") == 0);
}

namespace {

template <class F>
std::string complaint(F const& f) {
  try {
    f();
  } catch (os::error const& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("sizes of no model, and machines that cannot be asked, are said") {
  os::token_batch const batch{1024, 4096};
  auto const says = [&](auto const& change, std::string const& what) {
    os::transformer_shape shape = llama_13b;
    os::token_batch b = batch;
    machine m = machines::tpu_v5p;
    change(shape, b, m);
    std::string const said = complaint([&] { static_cast<void>(advise_parallelism(shape, m, b)); });
    INFO(said);
    CHECK(said.find("advise_parallelism: ") == 0);
    CHECK(said.find(what) != std::string::npos);
  };
  using shape_ = os::transformer_shape;
  using batch_ = os::token_batch;
  for (std::int64_t n : {std::int64_t{0}, std::int64_t{-4}, std::int64_t{1} << 33}) {
    says([=](shape_& s, batch_&, machine&) { s.width = n; }, "sizes of a model and a batch");
    says([=](shape_& s, batch_&, machine&) { s.inner = n; }, "sizes of a model and a batch");
    says([=](shape_& s, batch_&, machine&) { s.heads = n; }, "sizes of a model and a batch");
    says([=](shape_& s, batch_&, machine&) { s.head_width = n; }, "sizes of a model and a batch");
    says([=](shape_& s, batch_&, machine&) { s.layers = n; }, "sizes of a model and a batch");
    says([=](shape_& s, batch_&, machine&) { s.experts = n; }, "sizes of a model and a batch");
    says([=](shape_&, batch_& b, machine&) { b.sequences = n; }, "sizes of a model and a batch");
    says([=](shape_&, batch_& b, machine&) { b.length = n; }, "sizes of a model and a batch");
  }
  says([](shape_& s, batch_&, machine&) { s.up_products = 0; }, "products to its inner width");
  says([](shape_& s, batch_&, machine&) { s.kv_heads = 12; }, "give kv_heads that divides heads");
  says([](shape_& s, batch_&, machine&) { s.window = -1; }, "a window has no negative number of keys");
  says([](shape_& s, batch_&, machine&) { s.experts = 4, s.active = 8; }, "give active <= experts");
  says([](shape_& s, batch_& b, machine&) { s.experts = 64, b.length = 1000; }, "a multiple of experts");
  says([](shape_&, batch_& b, machine&) { b = {1 << 29, 1 << 29}; }, "counted in 64 bits");
  says([](shape_& s, batch_&, machine&) { s.element_bytes = 8; }, "does not multiply elements of 8 bytes");
  says([](shape_&, batch_&, machine& m) { m = machine{}; }, "the machine without a name does not multiply");
  says([](shape_&, batch_&, machine& m) { m.links = {}; }, "no links along mesh axis data");
  says([](shape_&, batch_&, machine& m) { m = m.with("tensor", {}); }, "no links along mesh axis tensor");
  says([](shape_&, batch_&, machine& m) { m.links.hop_seconds = -1; }, "negative");
  says([](shape_&, batch_&, machine& m) { m.memory_bytes = std::nan(""); }, "negative, or none");
  auto const mixed = [&] { static_cast<void>(best_mixture(llama_13b, 1024, machines::tpu_v5p, 0)); };
  CHECK(complaint(mixed).find("best_mixture: what all devices move") == 0);
  auto const alone = [&] { static_cast<void>(reach_of(parallelism::data, {}, batch, machines::tpu_v5p)); };
  CHECK(complaint(alone).find("reach_of: sizes of a model") == 0);
}

TEST_CASE("where experts and a narrow layer leave nothing more to divide, so many devices count as were filled") {
  os::transformer_shape narrow = llama_13b;
  narrow.inner = 2;
  narrow.experts = 64;
  machine fast = without_latency(machines::tpu_v5p);
  fast.links.bytes_per_second = 1e30;
  // 1024 tokens go to 64 experts: 16 each, and each layer is two wide.
  CHECK(advise_parallelism(narrow, fast, {16, 64}).together.ways.devices() == 32);
}

TEST_CASE("long batches and sequences, as constants") {
  constexpr parallelism_reach reach = reach_of(parallelism::context, llama_13b, {1, 1 << 20}, machines::tpu_v5p);
  static_assert(reach.ways == 256 && reach.next_ways == 512);
  parallelism_reach const stages =
      reach_of(parallelism::pipeline, llama_13b, {1 << 29, 128}, machines::tpu_v5p);
  CHECK(stages.ways == 40);
  CHECK(stages.intensity == doctest::Approx(2 * 13824 * 40.0 / 39));
}
