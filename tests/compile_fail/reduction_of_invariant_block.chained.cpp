// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the refused sum is an operand of the next operations, which say nothing
// error: reduction: blocks are combined over mesh axes along which they vary, and along this one all devices have the same
// error: reduction_of_invariant_block<Y_mesh, sharding<I_axis, varying<X_mesh>>>
#include <ostraka/algebra/einsum.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
os::tensor<float, J, I> f(os::tensor<float, I/X> const& a, os::tensor<float, J> const& b) {
  return os::shard_map<J, I>([&](auto block) {
    auto sum = os::psum<Y>(block);
    auto product = os::einsum<J, I>(os::map([](float x) { return x * x; }, sum), b);
    return product;
  }, a);
}
#else
os::tensor<float, J, I> f(os::tensor<float, I/X> const& a, os::tensor<float, J> const& b) {
  return os::shard_map<J, I>([&](auto block) {
    auto sum = os::psum<X>(block);
    auto product = os::einsum<J, I>(os::map([](float x) { return x * x; }, sum), b);
    return product;
  }, a);
}
#endif
