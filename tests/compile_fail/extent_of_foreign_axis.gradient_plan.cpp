// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: in a program whose gradient is planned os::broadcast is given the extent of an axis that is no new one
// error: sizes: an extent is given for an axis that the tensor does not have; drop it, or collect the program's extents in an os::sizes, from which each tensor takes its own
// error: extent_of_foreign_axis<J_axis>
#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

constexpr auto plan = os::gradient_plan<os::tensor<double, I/X>, os::tensor<double, B/X, I>>(
    [](auto const& w, auto const& x) {
#ifdef SHOULD_FAIL
      auto const all = os::broadcast<I, B>(os::reshard<I>(w), B = 8, J = 3);
#else
      auto const all = os::broadcast<I, B>(os::reshard<I>(w), B = 8);
#endif
      auto const h = os::einsum<I, B/X>(all, x);
      return os::sum<>(h * h);
    });
