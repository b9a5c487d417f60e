// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the bits of floating-point numbers
// error: reduction: only integers and bools are combined bit by bit; compare the elements first, as in A > 0, which gives bools
// error: elements_are_not_integral<float, operation::bit_and>
#include <ostraka/algebra/reductions.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I, J> const& a) { return os::bit_and<I>(a); }
#else
auto f(os::tensor<float, I, J> const& a) { return os::bit_and<I>(os::map([](float v) { return v > 0; }, a)); }
#endif
