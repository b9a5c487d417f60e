// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a struct is no template on what stands in its leaves
// error: tree: a tree is a struct template whose first parameter decides what its leaves hold, and whose other parameters are all types or all values, or a std::array or std::vector of such structs
// error: not_a_tree<parameters>
#include <ostraka/tree.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
struct parameters {
  os::tensor<float, I/X> w;
};
using tree = parameters;
#else
template <class L>
struct parameters {
  os::leaf<L, float, I/X> w;
};
using tree = parameters<os::values>;
#endif

auto f(tree const& p) {
  return os::tree_map([](auto const& a) { return a; }, p);
}
