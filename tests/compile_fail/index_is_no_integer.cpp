// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor of numbers that are not whole is used as indices
// error: operation: indices are whole numbers; make the index tensor of std::int32_t or std::int64_t, or os::cast it
// error: index_is_no_integer<float,
#include <ostraka/operations.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(V);
OSTRAKA_AXIS(I);

template <class Index>
void require_indices(Index const&) {
  os::reason::raise<os::detail::index_verdict<os::operation::map, Index>>();
}

#ifdef SHOULD_FAIL
void f(os::tensor<float, I> const& index) { require_indices(index); }
#else
void f(os::tensor<int, I> const& index) { require_indices(index); }
#endif
