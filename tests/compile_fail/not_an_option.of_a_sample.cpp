// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::sample is given a number without saying which option it is
// error: operation: it does not read this option, which would silently be ignored; docs/operations.md says which ones it reads
// error: not_an_option<double, operation::sample<V_axis
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(V);

using logits = os::tensor<float, B, V>;

#ifdef SHOULD_FAIL
auto f(logits const& x) { return os::sample<V>(x, os::seed(1), 0.8); }
#else
auto f(logits const& x) { return os::sample<V>(x, os::seed(1), os::temperature(0.8)); }
#endif
