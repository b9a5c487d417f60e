// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the elements are of another type
// error: tensor: elements are float, double, Kokkos::complex of both, os::float16, os::bfloat16, bool, or std::int8_t to std::int64_t; choose one of them
// error: element_type_unsupported<char>
#include <ostraka/tensors/tensor.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
os::tensor<char, I / X> A;
#else
os::tensor<std::int32_t, I / X> A;
#endif
