// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an operation that was begun is waited for, and could be once more
// error: wait: a started operation is waited for once, and gives up its result; write std::move(p).wait()
// error: pending_value_not_moved<
#include <utility>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto f(os::tensor<float, I/X> const& a) {
#ifdef SHOULD_FAIL
  return os::shard_map<I/X>([](auto block) { auto p = os::start_shift<X>(block, 1); return p.wait(); }, a);
#else
  return os::shard_map<I/X>([](auto block) { auto p = os::start_shift<X>(block, 1); return std::move(p).wait(); }, a);
#endif
}
