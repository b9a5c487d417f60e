// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tree has a C array of leaves
// error: tree: a struct whose fields are counted has no C arrays, whose elements would count as fields; write std::array
// error: tree_has_a_c_array<parameters<
#include <array>

#include <ostraka/tree.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

template <class L>
struct parameters {
  os::leaf<L, float, I> b;
#ifdef SHOULD_FAIL
  os::leaf<L, float, I/X> w[3];
#else
  std::array<os::leaf<L, float, I/X>, 3> w;
#endif
};

auto f(parameters<os::values> const& p) {
  return os::tree_map([](auto const& a) { return a; }, p);
}
