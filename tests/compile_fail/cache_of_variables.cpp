// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: keys of a program whose derivative is taken are to be appended to a cache
// error: append: a cache is written in place, for decoding, and no derivative flows through it
// error: cache_of_variables<
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(K);
OSTRAKA_AXIS(D);

using keys = os::tensor<float, K, D>;

#ifdef SHOULD_FAIL
void f(os::kv_cache<keys, keys>& cache, os::variable<keys> const& k, keys const& v) { os::append<K>(cache, k, v); }
#else
void f(os::kv_cache<keys, keys>& cache, os::variable<keys> const& k, keys const& v) {
  os::append<K>(cache, os::stop_gradient(k), v);
}
#endif
