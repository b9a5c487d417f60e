// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a product in a region of a program whose gradient is planned names an axis that no operand has
// error: result: each axis of the result is an axis of an operand; drop it from the result or use an operand that has it
// error: result_axis_in_no_operand<K_axis>
#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

constexpr auto plan = os::gradient_plan<os::tensor<double, I/X, J>, os::tensor<double, B/X, I>>(
    [](auto const& w, auto const& x) {
      auto const layer = os::checkpoint(
          [](auto const& u, auto const& v) {
#ifdef SHOULD_FAIL
            auto const y = os::checkpoint_name(os::einsum<B/X, K>(v, os::reshard<I, J>(u)), "y");
#else
            auto const y = os::checkpoint_name(os::einsum<B/X, J>(v, os::reshard<I, J>(u)), "y");
#endif
            return os::multiply(y, y);
          },
          os::save_names("y"));
      return os::sum<>(layer(w, x));
    });
