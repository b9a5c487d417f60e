// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a token is drawn without a seed
// error: sample: a token is drawn at random, and without a seed each call would draw the same one; give an os::seed after the logits
// error: seed_not_given<operation::sample<V_axis
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(V);

using logits = os::tensor<float, B, V>;

#ifdef SHOULD_FAIL
auto f(logits const& x) { return os::sample<V>(x, os::temperature(0.8)); }
#else
auto f(logits const& x) { return os::sample<V>(x, os::temperature(0.8), os::seed(1)); }
#endif
