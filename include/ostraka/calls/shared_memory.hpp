// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Whether the tensor that an operation writes to is one of those that it reads.

#include <string>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/tensors/tensor.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

// The memory of an operand's block. Each process compares its own blocks. All come to the same answer where handles are
// shared, because an allocation has a place of its own even if the block in it is empty; a program's own views may
// differ.
struct memory_range {
  char const* begin = nullptr;
  char const* end = nullptr;

  [[nodiscard]] bool overlaps(memory_range const& other) const {
    return begin != nullptr && (begin == other.begin || (begin < other.end && other.begin < end));
  }
};

template <class A>
memory_range memory_of(A const& a) {
  if constexpr (is_tensor<A>) {
    auto const* const begin = reinterpret_cast<char const*>(a.local().data());
    return {begin, begin + a.local().size() * sizeof(typename A::value_type)};
  } else if constexpr (requires { a.memory(); }) {
    return a.memory();
  } else {
    return memory_of(a.tensor());
  }
}

/// `otherwise`: the operation that makes a new tensor. Where a program's own views overlap on one device alone, that
/// device alone throws; in check mode the others are told.
inline void refuse_shared_memory(engine::execution_context const& w, engine::steps_ahead steps, char const* otherwise,
                                 memory_range const& written, memory_range const* read, int count) {
  for (int k = 0; k < count; ++k)
    if (written.overlaps(read[k]))
      engine::fail_alike(
          w, steps,
          join_text(w.operation,
                    ": the result is written while the operands are read, but it shares memory with one of them; use ",
                    otherwise, ", or another tensor for the result"));
}

}  // namespace ostraka::detail
