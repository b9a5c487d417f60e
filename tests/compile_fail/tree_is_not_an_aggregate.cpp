// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tree has a constructor and does not list its fields
// error: tree: the fields of an aggregate are counted, and this struct has constructors, private fields or virtual functions
// error: tree_is_not_an_aggregate<parameters<
#include <ostraka/tree.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

template <class L>
struct parameters {
  parameters() {}
  os::leaf<L, float, I/X> w;
#ifdef SHOULD_FAIL
#else
  static constexpr auto fields() { return std::tuple{os::field("w", &parameters::w)}; }
#endif
};

auto f(parameters<os::values> const& p) {
  return os::tree_map([](auto const& a) { return a; }, p);
}
