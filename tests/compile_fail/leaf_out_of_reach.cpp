// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a leaf of a tree is optional
// error: tree: leaves are in fields, in structs that are trees themselves, and in std::array and std::vector of these
// error: leaf_out_of_reach<
#include <optional>

#include <ostraka/tree.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

template <class L>
struct parameters {
  os::leaf<L, float, I/X> w;
#ifdef SHOULD_FAIL
  std::optional<os::leaf<L, float, I>> b;
#else
  std::vector<os::leaf<L, float, I>> b;
#endif
};

auto f(parameters<os::values> const& p) {
  return os::tree_map([](auto const& a) { return a; }, p);
}
