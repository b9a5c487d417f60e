// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: there is no operand, and several results
// error: shard_map: the body comes first, and after it tensors
// error: operand_is_not_a_tensor<void>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<I/X>{}, os::dims<I/X>{}>([&] { return std::tuple{a, a}; });
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<os::dims<I/X>{}, os::dims<I/X>{}>([](auto block) { return std::tuple{block, block}; }, a);
}
#endif
