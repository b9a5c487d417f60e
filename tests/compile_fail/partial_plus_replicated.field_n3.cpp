// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a bias is added to the summands of a product, by every device that holds some
// error: partial: summands are added, and factors multiplied, only with tensors that are partial over the same mesh axes
// error: partial_plus_replicated<X_mesh>
#include <ostraka/algebra/einsum.hpp>
#include <ostraka/elements/operators.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(X);
using input = os::tensor<double, B, K/X>;
using weight = os::tensor<double, K/X, N>;
using bias = os::tensor<double, N>;

#ifdef SHOULD_FAIL
auto layer(input const& x, weight const& w, bias const& b) { return os::einsum<B, N, os::partial(X)>(x, w) + b; }
#else
auto layer(input const& x, weight const& w, bias const& b) { return os::einsum<B, N>(x, w) + b; }
#endif
