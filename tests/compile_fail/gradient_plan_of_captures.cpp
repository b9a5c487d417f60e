// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the function whose gradient is planned captures a number
// error: gradient_plan: the function is known from its type, so it captures nothing
// error: gradient_plan_of_captures<
#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

using weights = os::tensor<double, I/X>;

#ifdef SHOULD_FAIL
int messages(double factor) {
  auto const plan = os::gradient_plan<weights>([factor](auto const& w) { return os::sum<>(os::scale(w, factor)); });
  return plan.count(os::step::all_reduce);
}
#else
int messages(double) {
  constexpr auto plan = os::gradient_plan<weights>([](auto const& w) { return os::sum<>(os::scale(w, 2.0)); });
  return plan.count(os::step::all_reduce);
}
#endif
