// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the stages are left out
// error: pipeline: layers are an axis of the parameters, divided over one mesh axis, the stages; write os::pipeline<os::gpipe, L/P, N>
// error: pipeline_needs_stacked_layers<sharding<L_axis, N_axis>, void>
#include <ostraka/local_view/pipelines/pipeline.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(D);
OSTRAKA_AXIS(L);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(P);

// A layer scales.
auto const layer = [](auto const& h, auto const& w) { return os::einsum<N, D>(h, w, os::sum_over(L)); };

auto f(os::tensor<float, N, D> const& x, os::tensor<float, L/P, D> const& w) {
#ifdef SHOULD_FAIL
  return os::pipeline<os::gpipe, L, N>(os::microbatches = 4, layer, x, w);
#else
  return os::pipeline<os::gpipe, L/P, N>(os::microbatches = 4, layer, x, w);
#endif
}
