// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the targets of a pipeline's loss are divided otherwise than the batch
// control: alone
// error: an axis that several tensors share is divided alike in all of them
// error: axis_split_differently<
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(L);
OSTRAKA_AXIS(N);
OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(P);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using targets = os::tensor<double, N/X>;
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
