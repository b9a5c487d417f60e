// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the type is written without the alias
// error: sharding: an axis occurs in a tensor at most once; give the second one a name of its own, as os::rename does
// error: axis_used_twice<I_axis>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);

#ifdef SHOULD_FAIL
std::size_t const size = sizeof(os::basic_tensor<float, os::sharding<I_axis, I_axis>>);
#else
std::size_t const size = sizeof(os::basic_tensor<float, os::sharding<I_axis, J_axis>>);
#endif
