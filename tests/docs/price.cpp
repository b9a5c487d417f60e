// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/price.md as the page prints them; the checks of their results are behind them.

#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <vector>

#include <ostraka/foresight.hpp>
#include <ostraka/operations.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;

namespace price {

OSTRAKA_AXIS(batch);  OSTRAKA_AXIS(model, 8192);  OSTRAKA_AXIS(inner, 28672);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

TEST_CASE("a layer on machines that are not here") {
  auto layer = [](auto const& mesh) {
    auto h = os::zeros<os::bfloat16, batch/X, model/Y>(mesh, batch = 1 << 20);
    auto up = os::zeros<os::bfloat16, model/X, inner/Y>(mesh);
    auto down = os::zeros<os::bfloat16, inner/Y, model/X>(mesh);
    auto a = os::einsum<batch/X, inner/Y>(h, up);                     // gathers h over Y and up over X
    auto b = os::einsum<batch/X, model/Y>(os::gelu(a), down);         // gathers down over X, scatters sums over Y
  };

  auto mesh = os::dry_mesh(X = 64, Y = 8);
  auto gpus = os::machines::h100.with(X.name, os::machines::h100_network);   // Y: the eight GPUs of a node
  os::predicted_time t = os::time_of(mesh, gpus, [&] { layer(mesh); });
  std::printf("%.1f ms: computing %.1f, waiting %.1f; over X %.1f, over Y %.1f\n", 1e3 * t.seconds, 1e3 * t.computing,
              1e3 * t.waiting, 1e3 * t.seconds_over(X), 1e3 * t.seconds_over(Y));
  CHECK(t.seconds > 0);
  CHECK(t.seconds_over(X) > 0);
  MESSAGE(1e3 * t.seconds, " ", 1e3 * t.computing, " ", 1e3 * t.waiting, " ", 1e3 * t.seconds_over(X), " ",
          1e3 * t.seconds_over(Y));

  for (os::machine const& m : {os::machines::tpu_v5p, os::machines::trillium, os::machines::h100})
    std::printf("%-10s %.1f ms\n", m.name.text, 1e3 * os::time_of(mesh, m, [&] { layer(mesh); }).seconds);
  for (os::machine const& m : {os::machines::tpu_v5p, os::machines::trillium, os::machines::h100})
    MESSAGE(m.name.text, " ", 1e3 * os::time_of(mesh, m, [&] { layer(mesh); }).seconds);
}

TEST_CASE("a machine of one's own") {
  std::string const path = "price." + std::to_string(os::make_mesh(X = os::testing::ranks()).device());
  os::machine mine;
  mine.name = "mine";
  mine.flops_per_second.float32 = 2e12;
  mine.memory_bytes_per_second = 2e11;
  mine.links = {1.25e10, 2e-6, os::link_shape::switched, true};   // 100 Gb/s each way, 2 µs a message
  os::save_machine(mine, path);
  CHECK(os::load_machine(path) == mine);
  std::remove(path.c_str());
}

OSTRAKA_AXIS(rows, 2048);  OSTRAKA_AXIS(narrow, 256);  OSTRAKA_AXIS(wide, 1024);
OSTRAKA_MESH_AXIS(data, 4);  OSTRAKA_MESH_AXIS(tensor, 2);

struct loss {
  template <class W, class A>
  constexpr auto operator()(W const& w, A const& x) const {
    // w is gathered where it is used.
    auto const h = os::einsum<rows/data, wide/tensor>(x, os::reshard<narrow, wide/tensor>(w));
    return os::mean<>(os::square(h));
  }
};
using train_step =
    os::training_step<loss, os::tensor<float, narrow/data, wide/tensor>, os::tensor<float, rows/data, narrow>>;
static_assert(os::budget<train_step>().bytes <= 800'000);
static_assert(os::budget<train_step>().memory <= 3'700'000);

TEST_CASE("which parallelism, and how far") {
  constexpr os::transformer_shape llama_13b{
      .width = 5120, .inner = 13824, .up_products = 1, .heads = 40, .head_width = 128, .layers = 40};
  auto advice = os::advise_parallelism(llama_13b, os::machines::tpu_v5p, {.sequences = 1024, .length = 4096});
  std::puts(os::describe(advice).c_str());
  CHECK(advice.of(os::parallelism::tensor).ways == 5);
}

}  // namespace price
