// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: elements of a file are to be converted to integers
// error: load: os::cast_to converts floating-point numbers of a file, to double, float, os::float16 or os::bfloat16
// error: cast_to_a_non_real_type<int>
#include <ostraka/files.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using number = int;
#else
using number = float;
#endif

template <class L>
struct parameters {
  os::leaf<L, number, I/X> w;
};

void f(parameters<os::values> const& p) { os::load_into(p, "model.safetensors", os::cast_to<number>); }
