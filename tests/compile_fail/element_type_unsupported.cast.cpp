// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: elements are cast to a type that tensors do not hold
// error: tensor: elements are float, double,
// error: element_type_unsupported<
#include <ostraka/elements/cast.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I / X> const& a) { return os::cast<unsigned short>(a); }
#else
auto f(os::tensor<float, I / X> const& a) { return os::cast<std::int16_t>(a); }
#endif
