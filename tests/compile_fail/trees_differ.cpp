// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: trees that are mapped together are different structs
// error: tree: trees that are used together are the same struct with different leaves
// error: trees_differ<parameters<
#include <ostraka/tree.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

template <class L>
struct parameters {
  os::leaf<L, float, I/X> w;
};

template <class L>
struct others {
  os::leaf<L, float, I/X> w;
};

#ifdef SHOULD_FAIL
auto f(parameters<os::values> const& p, others<os::values> const& g) {
#else
auto f(parameters<os::values> const& p, parameters<os::values> const& g) {
#endif
  return os::tree_map([](auto const& a, auto const&) { return a; }, p, g);
}
