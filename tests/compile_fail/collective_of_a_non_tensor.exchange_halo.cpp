// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a halo is exchanged of what is no block
// error: collective: it takes one block of the body, as its first argument
// error: collective_of_a_non_tensor<double>
#include <utility>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<float, I/X> const& a) {
#ifdef SHOULD_FAIL
  return os::shard_map<I / X>(
      [](auto block) {
        static_cast<void>(os::exchange_halo<os::halo<I, 1> / X>(2.0));
        return block;
      },
      a);
#else
  return os::shard_map<I / X>(
      [](auto block) {
        static_cast<void>(os::exchange_halo<os::halo<I, 1> / X>(block));
        return block;
      },
      a);
#endif
}
