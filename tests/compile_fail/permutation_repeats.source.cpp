// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a device is to send its block twice
// error: ppermute: each device sends to at most one other and receives from at most one, and all of them exist
// error: permutation_repeats<0, 2>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

constexpr os::permutation once{{{0, 1}, {1, 2}}};
constexpr os::permutation twice{{{0, 1}, {0, 2}}};

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) { return os::ppermute<X, twice>(block); }, a);
}
#else
auto f(os::tensor<float, I/X> const& a) {
  return os::shard_map<I/X>([](auto block) { return os::ppermute<X, once>(block); }, a);
}
#endif
