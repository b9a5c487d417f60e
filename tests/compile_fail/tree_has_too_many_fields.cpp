// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tree has seventeen fields and does not list them
// error: tree: up to 16 fields are counted; group them in structs, or list them
// error: tree_has_too_many_fields<parameters<
#include <ostraka/tree.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
template <class L>
struct parameters {
  os::leaf<L, float, I/X> a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
};
auto f(parameters<os::values> const& p) {
  return os::tree_map([](auto const& a) { return a; }, p);
}
#else
template <class L>
struct parameters {
  os::leaf<L, float, I/X> a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};
auto f(parameters<os::values> const& p) {
  return os::tree_map([](auto const& a) { return a; }, p);
}
#endif
