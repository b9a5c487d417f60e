// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a number is scanned
// error: collective: it takes one block of the body, as its first argument
// error: collective_of_a_non_tensor<float>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto) { return os::inclusive_scan<X>(1.0f); }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) { return os::inclusive_scan<X>(block); }, a);
}
#endif
