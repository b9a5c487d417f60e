// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: one of several results is under way
// error: shard_map: an operation in progress belongs to its body
// error: pending_value_leaves<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<I / X>{}, os::dims<I>{}>(
      [](auto block) {
        return std::tuple{block, os::start_psum<X>(block)};
      },
      a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<I / X>{}, os::dims<I>{}>(
      [](auto block) {
        return std::tuple{block, os::start_psum<X>(block).wait()};
      },
      a);
}
#endif
