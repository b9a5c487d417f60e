// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the targets of a pipeline's loss are divided over its stages
// control: alone
// error: pipeline_loss: the first stage reads the input, and the last one the targets and the head, so none of them is divided over the stages
// error: pipeline_loss_is_of_whole_batches<
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(L);
OSTRAKA_AXIS(N);
OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(P);

#ifdef SHOULD_FAIL
using targets = os::tensor<double, N/P>;
#else
using targets = os::tensor<double, N>;
#endif

auto f(os::tensor<double, L/P, I> const& w, os::tensor<double, I> const& head, os::tensor<double, N, I> const& x,
       targets const& wanted) {
  auto const layer = [](auto const& h, auto const& one) { return os::multiply(h, os::sum<I>(one)); };
  auto const loss = [](auto const& h, auto const& v, auto const& t) {
    return os::sum<>(os::subtract(os::einsum<N>(h, v), t));
  };
  return os::pipeline_loss<os::gpipe, L/P, N>(os::microbatches = 2, layer, w, loss, head, x, wanted);
}
