// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a token is drawn by logits that are whole numbers
// error: elements_are_not_floating_point<int, operation::sample<V_axis
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(V);

#ifdef SHOULD_FAIL
auto f(os::tensor<int, B, V> const& x) { return os::sample<V>(x, os::seed(1)); }
#else
auto f(os::tensor<float, B, V> const& x) { return os::sample<V>(x, os::seed(1)); }
#endif
