// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: the largest of complex blocks is asked for
// error: reduction: complex numbers have no maximum and no minimum
// error: elements_have_no_order<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<std::complex<float>, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::pmax<X>(block); }, a);
}
#else
auto f(os::tensor<std::complex<float>, I/X> const& a) {
  return os::shard_map<I>([](auto block) { return os::psum<X>(block); }, a);
}
#endif
