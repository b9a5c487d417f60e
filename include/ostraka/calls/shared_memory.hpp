// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Refuses a destination that shares its memory with an operand.

#include <string>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/tensors/tensor.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

// The memory of an operand's block. Each process compares its own blocks. If handles are shared, all processes come to
// the same answer, because an allocation has an address of its own even if its block is empty. A program's own views
// may differ from process to process.
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

/// Throws if a destination overlaps an operand. `otherwise`: the operation that makes a new tensor. If a program's own
/// views overlap on only one device, only that device throws; in check mode it tells the others.
inline void refuse_shared_memory(engine::execution_context const& w, engine::steps_ahead steps, char const* otherwise,
                                 memory_range const& written, memory_range const* read, int count) {
  for (int k = 0; k < count; ++k)
    if (written.overlaps(read[k]))
      engine::fail_together(
          w, steps,
          join_text(w.operation,
                    ": the result is written while the operands are read, but it shares memory with one of them; use ",
                    otherwise, ", or another tensor for the result"));
}

}  // namespace ostraka::detail
