// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block leaves as if it did not vary, and the result is used
// error: shard_map: a result that does not name a manual mesh axis is the same along it, and this block varies
// error: result_varies_over<X_mesh, sharding<I_axis, J_axis, varying<X_mesh>>>
#include <ostraka/algebra/contract.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
os::tensor<float, J> f(os::tensor<float, I/X, J> const& a) {
  auto c = os::shard_map<I, J>([](auto block) { return block; }, a);
  os::tensor<float, I, J> d = os::map([](float v) { return v * v; }, c);
  return os::contract<I>(d, d);
}
#else
os::tensor<float, J> f(os::tensor<float, I/X, J> const& a) {
  auto c = os::shard_map<I, J>([](auto block) { return os::all_gather<I/X>(block); }, a);
  os::tensor<float, I, J> d = os::map([](float v) { return v * v; }, c);
  return os::einsum<J>(d, d);
}
#endif
