// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the batch, or the axis of layers, is not the first axis
// error: pipeline: microbatches and layers are cut in place, so the batch comes first among the axes of a tensor that goes through, and repeats and then layers come first among those of a parameter
// error: pipeline_cuts_leading_axes<L_axis, ostraka::sharding<D_axis, ostraka::over<L_axis, P_mesh>>>
#include <ostraka/local_view/pipelines/pipeline.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(D);
OSTRAKA_AXIS(L);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(P);

// A layer scales.
auto const layer = [](auto const& h, auto const& w) { return os::einsum<N, D>(h, w, os::sum_over(L)); };

#ifdef SHOULD_FAIL
auto f(os::tensor<float, N, D> const& x, os::tensor<float, D, L / P> const& w) {
  return os::pipeline<os::gpipe, L / P, N>(os::microbatches = 4, layer, x, w);
}
#else
auto f(os::tensor<float, N, D> const& x, os::tensor<float, L / P, D> const& w) {
  return os::pipeline<os::gpipe, L / P, N>(os::microbatches = 4, layer, x, w);
}
#endif
