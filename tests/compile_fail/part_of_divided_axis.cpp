// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a part of an axis that is divided is asked for
// error: part: a part is taken along an axis that is not divided
// error: part_of_divided_axis<I_axis, sharding<over<I_axis, X_mesh>, J_axis>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X, J> const& a) { return os::part<I>(a, 0, 2); }
#else
auto f(os::tensor<float, I/X, J> const& a) {
  return os::shard_map<I/X, J>([](auto block) { return os::part<I>(block, 0, 2); }, a);
}
#endif
