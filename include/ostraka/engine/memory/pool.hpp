// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Scratch memory that outlives the operation that needed it, so that a loop over the same operations
/// allocates once. Each memory space and host thread has one pool. Operations take pieces and return them; the pool
/// frees its memory when the thread or Kokkos ends.

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/memory/slabs.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// The user of scratch memory: a plan, which predicts it (planner::memory_of), or a kernel, which decides by itself.
enum class scratch_for { plan, kernel };

/// All pools of the process. They are emptied when Kokkos ends.
class listed_workspace {
 public:
  listed_workspace(listed_workspace const&) = delete;
  listed_workspace& operator=(listed_workspace const&) = delete;

  /// Frees every slab without a piece in use, and resets the peak to the bytes in use now.
  virtual void release() = 0;

 protected:
  listed_workspace() {
    short_lock const alone(list_);
    next_ = first_;
    first_ = this;
  }
  ~listed_workspace() = default;

  void leave_list() {
    short_lock const alone(list_);
    listed_workspace** at = &first_;
    while (*at != this) at = &(*at)->next_;
    *at = next_;
  }

  // Call it before the pool has memory. No thread is in an operation when Kokkos ends.
  [[gnu::cold]] static void release_with_kokkos() {
    short_lock const alone(list_);
    if (std::exchange(hooked_, true)) return;
    Kokkos::push_finalize_hook([] {
      short_lock const lock(list_);
      for (listed_workspace* pool = first_; pool != nullptr; pool = pool->next_) pool->release();
    });
  }

 private:
  listed_workspace* next_ = nullptr;  // of another thread, or another space
  [[gnu::visibility("default")]] inline static constinit listed_workspace* first_ = nullptr;
  [[gnu::visibility("default")]] inline static constinit bool hooked_ = false;
  [[gnu::visibility("default")]] inline static std::atomic_flag list_{};
};

/// A host thread's pool of one memory space, which also counts the bytes in use by plans and by kernels.
template <class Space>
class workspace final : public listed_workspace {
 public:
  /// Returns the calling thread's pool.
  static workspace& instance() {
    void*& pool = shared_by_type<number_of_type<Space>()>::object;
    return pool != nullptr ? *static_cast<workspace*>(pool) : detail::thread_objects::make<workspace>(pool);
  }

  workspace() = default;
  ~workspace() {
    leave_list();
    if (Kokkos::is_initialized()) release();
  }

  /// Take a piece from the calling thread's pool, and return it.
  [[gnu::noinline]] static memory_piece take(std::size_t bytes, scratch_for user) {
    workspace& mine = instance();
    memory_piece const taken = mine.take(bytes);
    if (!computes()) clear_if_short<Space>(taken.memory, bytes);
    mine.used_by(user).take(bytes);
    return taken;
  }
  [[gnu::noinline]] static void give_back(memory_piece returned, scratch_for user) {
    workspace& mine = instance();
    mine.used_by(user).now -= returned.bytes;
    mine.slabs_.give_back(returned);
  }

  void release() override {
    slabs_.release();
    for (bytes_in_use* const u : {&by_plans_, &by_kernels_}) u->most = u->now;
  }

  std::size_t held_bytes() const { return slabs_.held_bytes(); }
  std::size_t peak_bytes() const { return slabs_.peak_bytes(); }

  /// Return the peak of the bytes in use since the last release: by all users, by plans, by kernels.
  std::size_t most_used() const { return slabs_.most_used(); }
  std::size_t most_used_by_plans() const { return by_plans_.most; }
  std::size_t most_used_by_kernels() const { return by_kernels_.most; }

  /// Limits the bytes that the pool holds, unless more are in use at once. Returns the former limit.
  std::size_t limit_to(std::size_t bytes) { return slabs_.limit_to(bytes); }

 private:
  bytes_in_use& used_by(scratch_for user) { return user == scratch_for::plan ? by_plans_ : by_kernels_; }

  memory_piece take(std::size_t bytes) {
    if (slabs_.held_bytes() == 0) release_with_kokkos();
    return slabs_.take(bytes);
  }

  slab_pool<Space> slabs_;
  bytes_in_use by_plans_;
  bytes_in_use by_kernels_;
};

/// Limits the pool's memory for the length of a scope.
template <class Space>
class workspace_limit {
 public:
  explicit workspace_limit(std::int64_t bytes)
      : before_(workspace<Space>::instance().limit_to(static_cast<std::size_t>(bytes))) {}
  ~workspace_limit() { workspace<Space>::instance().limit_to(before_); }
  workspace_limit(workspace_limit const&) = delete;
  workspace_limit& operator=(workspace_limit const&) = delete;

 private:
  std::size_t before_;
};

/// `count` uninitialised elements for the length of a scope. Kernels still running on an execution space instance may
/// use them after the scope's end if the next owner of the block uses the same instance; otherwise fence first.
template <class T, class Space, scratch_for User = scratch_for::plan>
class scratch {
 public:
  explicit scratch(std::int64_t count = 0) {
    if (count > 0) block_ = workspace<Space>::take(static_cast<std::size_t>(count) * sizeof(T), User);
  }
  ~scratch() {
    if (block_.bytes > 0) workspace<Space>::give_back(block_, User);
  }
  scratch(scratch&& other) noexcept : block_(std::exchange(other.block_, {})) {}
  scratch& operator=(scratch&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }

  T* data() const { return reinterpret_cast<T*>(block_.memory); }

 private:
  memory_piece block_{};
};

template <class T, class Space>
using kernel_scratch = scratch<T, Space, scratch_for::kernel>;

}  // namespace ostraka::engine
