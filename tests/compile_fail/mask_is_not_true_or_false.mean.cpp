// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: os::mean_where is given a mask of floats
// error: mask_is_not_true_or_false<float, operation::mean_where
#include <ostraka/operations/reductions/mean_where.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(S);

using losses = os::tensor<float, S>;

#ifdef SHOULD_FAIL
auto f(losses const& x, losses const& w) { return os::mean_where<>(x, w); }
#else
auto f(losses const& x, os::tensor<bool, S> const& w) { return os::mean_where<>(x, w); }
#endif
