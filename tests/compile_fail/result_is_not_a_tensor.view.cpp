// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the second of several results is a view
// error: shard_map: a body returns a block, or a std::tuple of as many blocks as results are named with os::dims<...>{}
// error: result_is_not_a_tensor<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<I / X>{}, os::dims<I / X>{}>(
      [](auto block) {
        return std::tuple{block, block.local()};
      },
      a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<I/X>{}, os::dims<I/X>{}>([](auto block) { return std::tuple{block, block}; }, a);
}
#endif
