// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a body returns two blocks, and one result is named
// error: shard_map: a body returns as many blocks as results are named
// error: wrong_number_of_results<2, 1>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) { return std::tuple{block, block}; }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<I/X>{}, os::dims<I/X>{}>([](auto block) { return std::tuple{block, block}; }, a);
}
#endif
