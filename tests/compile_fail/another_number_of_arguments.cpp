// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an operation is given an option that it does not have, or an argument too many or too few
// error: operation: it takes another number of arguments; look up its entry in docs/reference.md
// error: another_number_of_arguments<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

auto call(os::tensor<float, I/X> const& a) {
#ifdef SHOULD_FAIL
  return os::shard_map<I/X>([](auto b) { return os::shift<X>(b, 1, os::periodic); }, a);
#else
  return os::shard_map<I/X>([](auto b) { return os::shift<X>(b, 1); }, a);
#endif
}
