// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: blocks of four devices are stacked along an axis of six indices
// error: collective: an untiled axis has an index for each device, and a block of this static extent does not
// error: untiled_extent_is_not_the_axis_size<D_axis, 6, 4>
#include <ostraka/local_view.hpp>
namespace os = ostraka;


OSTRAKA_AXIS(D, 6);
OSTRAKA_MESH_AXIS(M, 4);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/M> const& a) {
  return os::shard_map<D, I>([](auto block) { return os::all_gather<D/M>(block); }, a);
}
#else
auto f(os::tensor<float, I/M> const& a) {
  return os::shard_map<J, I>([](auto block) { return os::all_gather<J/M>(block); }, a);
}
#endif
