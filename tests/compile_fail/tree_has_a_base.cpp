// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tree derives from another one
// error: tree: a struct whose fields are counted has no base
// error: tree_has_a_base<parameters<
#include <ostraka/tree.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

template <class L>
struct common {
  os::leaf<L, float, I/X> w;
};

#ifdef SHOULD_FAIL
template <class L>
struct parameters : common<L> {
  os::leaf<L, float, I> b;
};
#else
template <class L>
struct parameters {
  common<L> first;
  os::leaf<L, float, I> b;
};
#endif

auto f(parameters<os::values> const& p) {
  return os::tree_map([](auto const& a) { return a; }, p);
}
