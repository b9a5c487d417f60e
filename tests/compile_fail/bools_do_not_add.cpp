// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: bools are summed
// error: reduction: bools are neither summed nor multiplied; combine them with os::bit_or (any) and os::bit_and (all), or convert them first, as in os::cast<std::int32_t>(A), whose sum counts those that are true
// error: bools_do_not_add<
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<bool, I/X> const& a) { return os::sum<>(a); }
#else
auto f(os::tensor<bool, I/X> const& a) { return os::sum<>(os::cast<std::int32_t>(a)); }
#endif
