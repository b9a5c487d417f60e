// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: rows are written at positions that vary, to a cache that does not
// error: shard_map: the target varies along the mesh axes along which the operands do
// error: target_does_not_vary<X_mesh, sharding<B_axis, T_axis>>
#include <ostraka/local_view.hpp>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(T);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float, B, T> const& cache, os::tensor<float, B> const& rows,
       os::tensor<int, B, os::partial(X)> const& t) {
#else
auto f(os::tensor<float, B, T, os::partial(X)> const& caches, os::tensor<float, B> const& rows,
       os::tensor<int, B, os::partial(X)> const& t) {
#endif
#ifdef SHOULD_FAIL
  return os::shard_map<B, os::partial(X)>(
      [&](auto at) {
        os::write_at<T>(cache, os::from_positions(at), rows);
        return at;
      },
      t);
#else
  return os::shard_map<B, os::partial(X)>(
      [&](auto at, auto cache) {
        os::write_at<T>(cache, os::from_positions(at), rows);
        return at;
      },
      t, caches);
#endif
}
