// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::cross_entropy is given an option of norms
// error: operation: it does not read this option, which would silently be ignored; docs/operations.md says which ones it reads
// error: not_an_option<epsilon, operation::cross_entropy
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(S);
OSTRAKA_AXIS(V);

using logits = os::tensor<float, S, V>;
using labels = os::tensor<int, S>;

#ifdef SHOULD_FAIL
auto f(logits const& x, labels const& l) { return os::cross_entropy<V>(x, l, os::ignore(-1), os::epsilon(0.1)); }
#else
auto f(logits const& x, labels const& l) { return os::cross_entropy<V>(x, l, os::ignore(-1), os::z_loss(0.1)); }
#endif
