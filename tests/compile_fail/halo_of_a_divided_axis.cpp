// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an axis is to be padded that is still divided in the body
// error: exchange_halo: an axis is padded in a body of os::shard_map in which all its mesh axes are manual, and this one is still divided; write the call in such a body, and where the body names os::manual(X, Y), name them all
// error: halo_of_a_divided_axis<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
auto call(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<os::manual(X), I / X, J / Y>(
      [](auto b) { return os::own(os::exchange_halo<os::halo<J, 1>>(b)); }, a);
}
#else
auto call(os::tensor<float, I/X, J/Y> const& a) {
  return os::shard_map<os::manual(X, Y), I / X, J / Y>(
      [](auto b) { return os::own(os::exchange_halo<os::halo<J, 1>>(b)); }, a);
}
#endif
