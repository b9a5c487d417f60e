// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: what is the same on all devices is summed over them
// error: reduction: blocks are combined over mesh axes along which they vary, and along this one all devices have the same
// error: reduction_of_invariant_block<X_mesh, sharding<I_axis>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I> const& a, os::tensor<float, I/X> const& b) {
  return os::shard_map<I>([](auto whole, auto) { return os::psum<X>(whole); }, a, b);
}
#else
auto f(os::tensor<float, I> const& a, os::tensor<float, I/X> const& b) {
  return os::shard_map<I>([](auto whole, auto) { return os::psum<X>(os::pvary<X>(whole)); }, a, b);
}
#endif
