// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The kernels that a training step launches on a device, its allocations, and how often its host waits: the perceptron
/// of docs/training.md, two layers with parameters divided over the devices, in a loss, its gradient, the clipping of
/// the gradient and AdamW. No count depends on the data, and none may grow. docs/benchmarks/gpus.md has these numbers.
/// The first step allocates, and the second one takes its blocks.

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/optimizers.hpp>

#include <type_traits>

#include "support/mpi_main.hpp"
#include "support/no_call_check.hpp"
#include "support/sham/device.hpp"
#include "support/sham/keeps_blocks.hpp"

namespace os = ostraka;

namespace training_step {

OSTRAKA_AXIS(batch);
OSTRAKA_AXIS(in, 32);
OSTRAKA_AXIS(hidden, 64);
OSTRAKA_AXIS(out, 4);
OSTRAKA_MESH_AXIS(X);

template <class L>
struct mlp {
  os::leaf<L, float, in / X, hidden> w1;
  os::leaf<L, float, hidden> b1;
  os::leaf<L, float, hidden / X, out> w2;
};

auto const loss = [](auto const& p, auto const& x, auto const& y) {
  auto const q = os::tree_cast<os::bfloat16>(p);
  auto const h = os::relu(os::einsum<batch / X, hidden>(x, os::reshard<in, hidden>(q.w1)) + q.b1);
  auto const e = os::cast<float>(os::einsum<batch / X, out>(h, os::reshard<hidden, out>(q.w2))) - y;
  return os::mean<>(os::multiply(e, e));
};

// Runs a step twice, and returns the work of the second one: the first one takes memory.
template <class F>
sham::work work_of(F const& step) {
  step();
  sham::work const before = sham::work_done();
  step();
  return sham::work_done() - before;
}

TEST_CASE("launches and fences of a training step") {
  auto const mesh = os::make_mesh(X = os::testing::ranks());
  auto const params = os::make_tree<mlp>(mesh, os::seed(1), [](auto const& leaf) {
    using tensor = typename std::remove_cvref_t<decltype(leaf)>::type;
    return os::scale(os::random<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed()), 0.2f);
  });
  os::adamw const optimizer{.learning_rate = 1e-3};
  auto const state = optimizer.init(params);
  auto const x = os::random<os::bfloat16, batch / X, in>(mesh, batch = 128, os::seed(2));
  auto const y = os::random<float, batch / X, out>(mesh, batch = 128, os::seed(3));
  auto const gradient = os::value_and_grad(loss);

  sham::work const forward = work_of([&] { static_cast<void>(loss(params, x, y)); });
  sham::work const both = work_of([&] { static_cast<void>(gradient(params, x, y)); });
  sham::work const whole = work_of([&] {
    auto const [now, gradients] = gradient(params, x, y);
    os::clip_by_global_norm(gradients, 1.0);
    optimizer.update(params, gradients, state);
  });
  MESSAGE("forward: ", forward.launches, " launches, ", forward.fences, " fences; gradient: ", both.launches, ", ",
          both.fences, "; step: ", whole.launches, ", ", whole.fences, "; bytes ", whole.to_host, " to the host, ",
          whole.to_device, " to the device, copies ", whole.copies, "; allocations ", forward.allocations, ", ",
          both.allocations, ", ", whole.allocations);
  bool const alone = os::testing::ranks() == 1;
  CHECK(forward.launches <= (alone ? 22 : 21));
  CHECK(forward.fences <= (alone ? 0 : 3));
  CHECK(both.launches <= (alone ? 50 : 51));
  CHECK(both.fences <= (alone ? 0 : 7));
  CHECK(whole.launches <= (alone ? 64 : 65));
  CHECK(whole.fences <= (alone ? 4 : 11));
  CHECK(forward.allocations == 0);
  CHECK(both.allocations == 0);
  CHECK(whole.allocations == 0);
  CHECK(sham::take_reports().empty());
}

}  // namespace training_step
