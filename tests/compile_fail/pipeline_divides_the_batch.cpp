// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: what goes through is divided over the stages along another axis than the batch
// error: pipeline: over the stages a tensor that goes through is divided along its batch, or not at all, because each stage works on whole microbatches; os::reshard it so
// error: pipeline_divides_the_batch<P_mesh, ostraka::sharding<N_axis, ostraka::over<D_axis, P_mesh>>>
#include <ostraka/local_view/pipelines/pipeline.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(D);
OSTRAKA_AXIS(L);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(P);

// A layer scales.
auto const layer = [](auto const& h, auto const& w) { return os::einsum<N, D>(h, w, os::sum_over(L)); };

#ifdef SHOULD_FAIL
auto f(os::tensor<float, N, D / P> const& x, os::tensor<float, L / P, D> const& w) {
  return os::pipeline<os::gpipe, L / P, N>(os::microbatches = 4, layer, x, w);
}
#else
auto f(os::tensor<float, N / P, D> const& x, os::tensor<float, L / P, D> const& w) {
  return os::pipeline<os::gpipe, L / P, N>(os::microbatches = 4, layer, x, w);
}
#endif
