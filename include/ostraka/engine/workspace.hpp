// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Scratch memory that outlives the operation that needed it, so that a loop over the same operations allocates once.
/// One pool per memory space; blocks are handed out, come back, and are freed when Kokkos ends. Not for several host threads at once.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace ostraka::engine {

/// The pool of one memory space.
template <class Space>
class workspace {
 public:
  /// Plain memory: a Kokkos::View would count its users at every hand that it passes through.
  struct block {
    char* memory = nullptr;
    std::size_t bytes = 0;

    [[nodiscard]] std::size_t size() const { return bytes; }
  };

  static workspace& instance() {
    static workspace pool;
    return pool;
  }

  /// The smallest block that is free and large enough; else a new one, in place of the largest that was too small. Under a limit a block of
  /// just that length, or a new one, for which all free ones make place if need be: then no more is held than was asked for at once.
  block take(std::size_t bytes) {
    if (limit_ != no_limit) return take_within_limit(bytes);
    std::size_t best = free_.size();
    std::size_t largest = free_.size();
    for (std::size_t i = 0; i < free_.size(); ++i) {
      if (free_[i].size() >= bytes && (best == free_.size() || free_[i].size() < free_[best].size())) best = i;
      if (largest == free_.size() || free_[i].size() > free_[largest].size()) largest = i;
    }
    if (best != free_.size()) return take_at(best);
    if (largest != free_.size()) drop(take_at(largest));
    return take_new(bytes);
  }

  void give_back(block const& returned) { free_.push_back(returned); }

  /// Frees every block that is not in use.
  void release() {
    for (block const& b : free_) drop(b);
    free_.clear();
  }

  std::size_t held_bytes() const { return held_; }
  std::size_t peak_bytes() const { return peak_; }

  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  /// Bytes that are to be held at most, as long as no more is in use at once; the limit so far.
  std::size_t limit_to(std::size_t bytes) { return std::exchange(limit_, bytes); }

 private:
  workspace() = default;

  block take_within_limit(std::size_t bytes) {
    for (std::size_t i = 0; i < free_.size(); ++i)
      if (free_[i].size() == bytes) return take_at(i);
    if (held_ + bytes > limit_) release();
    return take_new(bytes);
  }

  block take_new(std::size_t bytes) {
    if (!hooked_) {
      Kokkos::push_finalize_hook([] { workspace::instance().release(); });
      hooked_ = true;
    }
    held_ += bytes;
    peak_ = held_ > peak_ ? held_ : peak_;
    return {static_cast<char*>(Kokkos::kokkos_malloc<Space>("ostraka workspace", bytes)), bytes};
  }

  void drop(block const& b) {
    held_ -= b.bytes;
    Kokkos::kokkos_free<Space>(b.memory);
  }

  block take_at(std::size_t i) {
    block const taken = free_[i];
    free_[i] = free_.back();
    free_.pop_back();
    return taken;
  }

  std::vector<block> free_;
  std::size_t held_ = 0;
  std::size_t peak_ = 0;
  std::size_t limit_ = no_limit;
  bool hooked_ = false;
};

/// A limit for the length of a scope.
template <class Space>
class workspace_limit {
 public:
  explicit workspace_limit(std::int64_t bytes) : before_(workspace<Space>::instance().limit_to(static_cast<std::size_t>(bytes))) {}
  ~workspace_limit() { workspace<Space>::instance().limit_to(before_); }
  workspace_limit(workspace_limit const&) = delete;
  workspace_limit& operator=(workspace_limit const&) = delete;

 private:
  std::size_t before_;
};

/// `count` uninitialised elements for the length of a scope. Kernels still running on an execution space instance may use them after the
/// scope's end if whoever takes the block next uses the same instance; otherwise fence first.
template <class T, class Space>
class scratch {
 public:
  explicit scratch(std::int64_t count = 0) {
    if (count > 0) block_ = workspace<Space>::instance().take(static_cast<std::size_t>(count) * sizeof(T));
  }
  ~scratch() {
    if (block_.bytes > 0) workspace<Space>::instance().give_back(block_);
  }
  scratch(scratch&& other) noexcept : block_(std::exchange(other.block_, {})) {}
  scratch& operator=(scratch&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }

  T* data() const { return reinterpret_cast<T*>(block_.memory); }

 private:
  typename workspace<Space>::block block_{};
};

}  // namespace ostraka::engine
