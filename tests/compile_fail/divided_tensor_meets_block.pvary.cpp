// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a divided tensor is to vary along the same mesh axis
// error: shard_map: a tensor that is divided over a mesh axis, or partial, does not meet a block that varies along it, because its own block is hidden
// error: divided_tensor_meets_block<X_mesh, sharding<over<I_axis, X_mesh>>, sharding<varying<X_mesh>>>
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, I/X> const& a) { return os::pvary<X>(a); }
#else
auto f(os::tensor<float, I> const& a) { return os::pvary<X>(a); }
#endif
