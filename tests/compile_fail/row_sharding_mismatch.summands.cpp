// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: whole rows of a batch are written to each summand of a cache
// error: write_at: nothing moves, so a row is divided as the tensor is, without the axis that it is written along or with that axis whole; os::reshard the row first
// error: row_sharding_mismatch<sharding<B_axis>, sharding<B_axis, partial_sum<X_mesh>>, T_axis>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(T);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, B, T, os::partial(X)> const& cache, os::tensor<int, B> const& t,
       os::tensor<float, B> const& rows) {
#else
void f(os::tensor<float, B, T> const& cache, os::tensor<int, B> const& t, os::tensor<float, B> const& rows) {
#endif
  os::write_at<T>(cache, os::from_positions(t), rows);
}
