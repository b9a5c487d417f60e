// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tree is a template on values and types after the contents of its leaves
// error: tree: a tree is a struct template whose first parameter decides what its leaves hold, and whose other parameters are all types or all values, or a std::array or std::vector of such structs
// error: not_a_tree<mlp<values, 3, float>>
#include <ostraka/tree.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
template <class L, int N, class T>
struct mlp {
  os::leaf<L, T, I/X> w;
};
auto f(os::mesh<X_mesh> const& m) { return os::make_tree<mlp<os::values, 3, float>>(m, I = 8); }
#else
template <class L, class T>
struct mlp {
  os::leaf<L, T, I/X> w;
};
auto f(os::mesh<X_mesh> const& m) { return os::make_tree<mlp<os::values, float>>(m, I = 8); }
#endif
