// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the second derivative of a pipeline is asked for
// control: alone
// error: pipeline: its backward is another pipeline, which has no derivative of its own
// error: pipeline_has_first_derivatives<
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(L);
OSTRAKA_AXIS(N);
OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(P);

using weights = os::tensor<double, L/P, I>;

auto gradient(auto const& w, os::tensor<double, N, I> const& x) {
  return os::value_and_grad([&](auto const& v) {
    auto const layer = [](auto const& h, auto const& one) { return os::multiply(h, os::sum<I>(one)); };
    return os::sum<>(os::pipeline<os::gpipe, L/P, N>(os::microbatches = 2, layer, x, v));
  })(w);
}

auto f(weights const& w, os::tensor<double, N, I> const& x) {
#ifdef SHOULD_FAIL
  return os::value_and_grad([&](auto const& v) { return os::sum<>(gradient(v, x).gradient); })(w);
#else
  return gradient(w, x);
#endif
}
