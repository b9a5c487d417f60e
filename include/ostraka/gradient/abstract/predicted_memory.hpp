// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Memory of programs without elements. An abstract tensor holds a block as a tensor does, with a count of
/// handles. So the lifetime of a tape's tensors follows from the same rules as in programs that run.

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ostraka::detail {

/// Bytes in use now, and at the peak. Memory that operations set aside stays with the process until more is needed
/// (engine/memory/pool.hpp).
struct memory_in_use {
  std::int64_t now = 0;
  std::int64_t workspace = 0;
  std::int64_t most = 0;

  constexpr void allocate(std::int64_t bytes) {
    now += bytes;
    most = std::max(most, now + workspace);
  }
  constexpr void free(std::int64_t bytes) { now -= bytes; }
  constexpr void set_aside(std::int64_t bytes) {
    workspace = std::max(workspace, bytes);
    most = std::max(most, now + workspace);
  }
};

/// A handle to a block, or an empty one: the block of an operand does not belong to the program.
class predicted_block {
 public:
  constexpr predicted_block() = default;
  /// Allocates a block.
  constexpr predicted_block(memory_in_use& memory, std::int64_t bytes) : shared_(new shared{memory, bytes, 1}) {
    memory.allocate(bytes);
  }
  constexpr predicted_block(predicted_block const& other) : shared_(other.shared_) {
    if (shared_ != nullptr) ++shared_->handles;
  }
  constexpr predicted_block& operator=(predicted_block other) {
    std::swap(shared_, other.shared_);
    return *this;
  }
  constexpr ~predicted_block() {
    if (shared_ == nullptr || --shared_->handles > 0) return;
    shared_->memory.free(shared_->bytes);
    delete shared_;
  }

  /// True if there is no other handle to the block.
  [[nodiscard]] constexpr bool is_alone() const { return shared_ != nullptr && shared_->handles == 1; }

 private:
  struct shared {
    memory_in_use& memory;
    std::int64_t bytes;
    int handles;
  };
  shared* shared_ = nullptr;
};

}  // namespace ostraka::detail
