// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis is split and concatenated that other mesh axes divide
// error: all_to_all: a block is split into equal parts along one axis, which do not nest in its division over further mesh axes
// error: split_axis_is_divided<I_axis, sharding<over<I_axis, Y_mesh>, varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X/Y> const& a) {
  return os::shard_map<os::manual(X), I/X/Y>([](auto block) { return os::all_to_all<I/X, I/X>(block); }, a);
}
#else
auto f(os::tensor<float, I/X/Y> const& a) {
  return os::shard_map<I/X/Y>([](auto block) { return os::all_to_all<I/X, I/X>(block); }, a);
}
#endif
