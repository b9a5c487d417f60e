// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a pipeline with its loss is to have a tick per layer
// control: alone
// error: pipeline_loss: a tick covers a whole stage, and os::tick_per_layer has one for each layer
// error: pipeline_loss_ticks_by_stage<
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(L);
OSTRAKA_AXIS(N);
OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(P);

#ifdef SHOULD_FAIL
inline constexpr auto rule = os::tick_per_layer;
#else
inline constexpr auto rule = os::gpipe;
#endif

auto f(os::tensor<double, L/P, I> const& w, os::tensor<double, I> const& head, os::tensor<double, N, I> const& x) {
  auto const layer = [](auto const& h, auto const& one) { return os::multiply(h, os::sum<I>(one)); };
  auto const loss = [](auto const& h, auto const& v) { return os::sum<>(os::einsum<N>(h, v)); };
  return os::pipeline_loss<rule, L/P, N>(os::microbatches = 2, layer, w, loss, head, x);
}
