// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a forward pass is asked for in the order of a forward and a backward pass
// error: pipeline: os::one_forward_one_backward orders a forward and a backward pass, and this is a forward pass; choose os::gpipe
// error: pipeline_goes_forward_only<L_axis, P_mesh>
#include <ostraka/local_view/pipelines/pipeline.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(D);
OSTRAKA_AXIS(L);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(P);

// A layer scales.
auto const layer = [](auto const& h, auto const& w) { return os::einsum<N, D>(h, w, os::sum_over(L)); };

#ifdef SHOULD_FAIL
constexpr auto schedule = os::one_forward_one_backward;
auto f(os::tensor<float, N / P, D> const& x, os::tensor<float, L / P, D> const& w) {
  return os::pipeline<schedule, L / P, N>(os::microbatches = 4, layer, x, w);
}
#else
constexpr auto schedule = os::gpipe;
auto f(os::tensor<float, N / P, D> const& x, os::tensor<float, L / P, D> const& w) {
  return os::pipeline<schedule, L / P, N>(os::microbatches = 4, layer, x, w);
}
#endif
