// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/choose-a-sharding.md as the page prints them; the checks of their results are behind them.

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include <ostraka/foresight.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/tensors/rules.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;

namespace choose {

OSTRAKA_AXIS(batch, 32768);
OSTRAKA_AXIS(model, 5120);
OSTRAKA_AXIS(rows, 5120);
OSTRAKA_AXIS(hidden, 20480);
OSTRAKA_MESH_AXIS(X, 4);
OSTRAKA_MESH_AXIS(Y, 2);

os::program feed_forward() {
  os::program_builder p("feed-forward");
  p.axis("batch", 32768).axis("model", 5120).axis("rows", 5120).axis("hidden", 20480);
  p.input("x[batch, model]").parameter("up[rows, hidden]").parameter("down[hidden, rows]");
  p.einsum("a[batch, hidden]", {"x", "up[model, hidden]"});
  p.operation("g[batch, hidden]", {"a"}, {.flops = 10});
  p.einsum("y[batch, model]", {"g", "down[hidden, model]"});
  return p;
}

constexpr os::rules<batch/Y, hidden/X> R;

template <class Leaves>
struct layer {
  os::leaf<Leaves, float, R(rows, hidden)> up;
  os::leaf<Leaves, float, R(hidden, rows)> down;
};

auto const loss = [](auto const& p, auto const& x) {
  auto const a = os::einsum<R(batch, hidden)>(x, os::rename<rows, model>(p.up));
  return os::sum<>(os::einsum<R(batch, model)>(os::gelu(a), os::rename<rows, model>(p.down)));
};

TEST_CASE("a feed-forward layer on eight devices") {
  os::rules_found const found = os::search_rules(feed_forward(), 8, os::machines::h100, {.most = 5});
  std::puts(os::describe(found).c_str());
  CHECK(found.line() == "constexpr os::rules<batch/Y, hidden/X> R;");

  auto const mesh = os::dry_mesh(X = 4, Y = 2);
  auto const step = [&] {
    auto const p = os::make_tree<layer>(mesh, [](auto const& leaf) {
      return os::zeros<typename std::remove_cvref_t<decltype(leaf)>::type>(leaf.mesh(), leaf.sizes());
    });
    auto const x = os::zeros<float, R(batch, model)>(mesh);
    static_cast<void>(os::value_and_grad(loss)(p, x));
  };
  auto const cost = os::cost_of(mesh, step);
  double const predicted = found.ranked[0].bytes();
  CHECK(static_cast<double>(cost.bytes) == doctest::Approx(predicted).epsilon(1e-6));

  auto const on_this_mesh = os::search_rules(feed_forward(), mesh, os::machines::h100);
  CHECK(on_this_mesh.ranked[0].seconds == found.ranked[0].seconds);
}

TEST_CASE("rules of storage and of use") {
  os::program_builder p("stored and used");
  p.axis("batch", 32768, {.rule_set = "use"}).axis("model", 5120, {.rule_set = "use"});
  p.axis("hidden", 20480, {.rule_set = "use"});
  p.axis("rows", 5120, {.rule_set = "storage"}).axis("columns", 20480, {.rule_set = "storage"});
  p.carried("x[batch, model]").parameter("stored[rows, columns]");
  p.move("up[model, hidden]", "stored[model, hidden]");
  p.einsum("a[batch, hidden]", {"x", "up"});

  os::search_settings const how{.memory_bytes = 1.5e9};
  auto const found = os::search_rules(p, 8, os::machines::h100, how);
  CHECK(found.line() == "using use = os::rules<batch/X, hidden/Y>;\nusing storage = os::rules<columns/Y/X>;");
}

TEST_CASE("a decoder on 2,048 GPUs") {
  auto const decoder = os::programs::decoder({.width = 5120, .inner = 13824, .up_products = 2, .heads = 40,
                                              .head_width = 128, .layers = 40, .vocabulary = 32000},
                                             {.sequences = 1024, .length = 4096});
  os::search_settings how{.most = 4, .node_devices = 8};   // NVLink joins eight, InfiniBand nodes
  how.step.state_bytes = 12;   // Adam's moments and the parameter, in 32 bits
  os::rules_found const found = os::search_rules(decoder, 2048, os::machines::h100, how);
  std::puts(os::describe(found).c_str());
  CHECK(found.ranked.size() == 4);
  CHECK(found.line() == "constexpr os::rules<batch/X, between/Y, inner/Y, vocabulary/Y, heads/Y> R;");
}

}  // namespace choose
