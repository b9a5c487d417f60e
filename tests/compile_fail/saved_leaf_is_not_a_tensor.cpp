// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tree is saved in whose leaves stand no tensors
// error: save: a saved tree has tensors in its leaves, and these leaves are something else
// error: saved_leaf_is_not_a_tensor<double>
#include <ostraka/files.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

template <class L>
struct parameters {
  os::leaf<L, float, I/X> w;
};

#ifdef SHOULD_FAIL
using tree = parameters<os::each<double>>;
#else
using tree = parameters<os::values>;
#endif

void f(tree const& p) { os::save("norms.safetensors", p); }
