// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a row that os::write_at writes is divided otherwise than the tensor it is written to
// error: write_at: nothing moves, so a row is divided as the tensor is, without the axis that it is written along or with that axis whole; os::reshard the row first
// error: row_sharding_mismatch<sharding<I_axis>, sharding<over<I_axis, X_mesh>>, T_axis>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(T);
OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I/X, T> const& cache, os::tensor<float, I> const& row) { os::write_at<T>(cache, 3, row); }
#else
void f(os::tensor<float, I/X, T> const& cache, os::tensor<float, I/X> const& row) { os::write_at<T>(cache, 3, row); }
#endif
