// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: random numbers are asked for of a distribution that is not one of the elements
// error: random numbers: os::uniform and os::bernoulli are for all elements, os::normal and os::dropout for floating-point and complex numbers, os::truncated_normal and the weights of os::lecun_normal and the like for floating-point numbers; choose other elements
// error: not_of_this_distribution<int,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);

#ifdef SHOULD_FAIL
auto f(os::mesh<> const& mesh) { return os::normal<int, I>(mesh, I = 3, os::seed(1)); }
#else
auto f(os::mesh<> const& mesh) { return os::normal<float, I>(mesh, I = 3, os::seed(1)); }
#endif
