// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the axis of layers is not divided over the stages
// error: pipeline: layers are an axis of the parameters, divided over one mesh axis, the stages; write os::pipeline<os::gpipe, L/P, N>
// error: pipeline_needs_stacked_layers<L_axis, P_mesh>
#include <ostraka/local_view/pipelines/pipeline.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(D);
OSTRAKA_AXIS(L);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(P);

// A layer scales.
auto const layer = [](auto const& h, auto const& w) { return os::einsum<N, D>(h, w, os::sum_over(L)); };

template <auto... Dims>
auto f(os::tensor<float, N, D> const& x, os::tensor<float, Dims...> const& w) {
  return os::pipeline<os::gpipe, L / P, N>(os::microbatches = 4, layer, x, w);
}

#ifdef SHOULD_FAIL
template auto f<L, D>(os::tensor<float, N, D> const&, os::tensor<float, L, D> const&);
#else
template auto f<L / P, D>(os::tensor<float, N, D> const&, os::tensor<float, L / P, D> const&);
#endif
