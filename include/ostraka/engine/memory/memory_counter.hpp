// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Counts the memory that this device uses, and its peak, from the creation of a counter on. While a counter
/// exists, Kokkos reports every block that it allocates and frees; otherwise counting costs nothing.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include <ostraka/engine/memory/kept_blocks.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// Counts Kokkos' allocations in the default memory space: blocks of tensors, workspace, memory that kernels reserve,
/// and the program's own views. All host threads count together. When counting begins, it frees workspace that no
/// operation of this host thread uses, so that the count does not depend on earlier operations. While a counter exists,
/// no freed block is kept for later results, since it would be counted. Counters may be nested. A tool that listened to
/// Kokkos before the counter still sees everything. A tool that begins to listen while a counter exists stays, and gets
/// all reports alone until another counter is created.
class memory_counter {
 public:
  /// Begins to count.
  memory_counter() {
    detail::counters_of_memory.fetch_add(1, std::memory_order_relaxed);
    release_workspace();
    short_lock const alone(lock_);
    next_ = first_;
    first_ = this;
    listen();
  }
  memory_counter(memory_counter const&) = delete;
  memory_counter& operator=(memory_counter const&) = delete;
  ~memory_counter() {
    detail::counters_of_memory.fetch_sub(1, std::memory_order_relaxed);
    short_lock const alone(lock_);
    memory_counter** at = &first_;
    while (*at != this) at = &(*at)->next_;
    *at = next_;
    if (first_ == nullptr) stop_listening();
  }

  /// Returns the bytes in use now beyond those in use when counting began; negative if more have been freed.
  [[nodiscard]] std::int64_t in_use() const {
    short_lock const alone(lock_);
    return now_;
  }

  /// Returns the largest value that in_use() has had.
  [[nodiscard]] std::int64_t peak() const {
    short_lock const alone(lock_);
    return most_;
  }

  /// Frees the workspace that no operation of this host thread uses, and the blocks that it or a GPU keeps for later
  /// results.
  static void release_workspace() {
    using memory = Kokkos::DefaultExecutionSpace::memory_space;
    workspace<memory>::instance().release();
    kept_blocks<Kokkos::HostSpace>::release();
    if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, memory>::accessible) kept_blocks<memory>::release();
  }

 private:
  using allocated = Kokkos_Profiling_allocateDataFunction;
  using freed = Kokkos_Profiling_deallocateDataFunction;
  using space_handle = Kokkos_Profiling_SpaceHandle;

  // Listens beside the tool that listened before.
  static void listen() {
    namespace tools = Kokkos::Tools::Experimental;
    auto const now = tools::get_callbacks();
    if (now.allocate_data != &on_allocation) {
      earlier_allocations_ = now.allocate_data;
      tools::set_allocate_data_callback(&on_allocation);
    }
    if (now.deallocate_data != &on_free) {
      earlier_frees_ = now.deallocate_data;
      tools::set_deallocate_data_callback(&on_free);
    }
  }
  // Keeps a tool that has begun to listen since.
  static void stop_listening() {
    namespace tools = Kokkos::Tools::Experimental;
    auto const now = tools::get_callbacks();
    if (now.allocate_data == &on_allocation) tools::set_allocate_data_callback(earlier_allocations_);
    if (now.deallocate_data == &on_free) tools::set_deallocate_data_callback(earlier_frees_);
  }

  [[gnu::visibility("default")]] static void on_allocation(space_handle const space, char const* label, void const* at,
                                                           std::uint64_t bytes) {
    if (is_forwarding()) return;
    add(space, static_cast<std::int64_t>(bytes));
    forward(earlier_allocations_, Kokkos::Tools::Experimental::get_callbacks().allocate_data, space, label, at, bytes);
  }
  [[gnu::visibility("default")]] static void on_free(space_handle const space, char const* label, void const* at,
                                                     std::uint64_t bytes) {
    if (is_forwarding()) return;
    add(space, -static_cast<std::int64_t>(bytes));
    forward(earlier_frees_, Kokkos::Tools::Experimental::get_callbacks().deallocate_data, space, label, at, bytes);
  }

  // True while this class calls an earlier tool. A tool that has begun to listen since may call the listeners before
  // it, this class among them: recursively while this class calls it, or because Kokkos calls that tool and not this
  // class.
  [[gnu::visibility("default")]] static bool& is_forwarding() {
    static thread_local constinit bool forwarding = false;
    return forwarding;
  }
  template <class Tool>
  static void forward(Tool tool, Tool called_by_kokkos, space_handle const& space, char const* label, void const* at,
                      std::uint64_t bytes) {
    if (tool == nullptr || tool == called_by_kokkos) return;
    is_forwarding() = true;
    tool(space, label, at, bytes);
    is_forwarding() = false;
  }

  static void add(space_handle const& space, std::int64_t bytes) {
    if (std::strcmp(space.name, Kokkos::DefaultExecutionSpace::memory_space::name()) != 0) return;
    short_lock const alone(lock_);
    for (memory_counter* c = first_; c != nullptr; c = c->next_) {
      c->now_ += bytes;
      c->most_ = std::max(c->most_, c->now_);
    }
  }

  std::int64_t now_ = 0;
  std::int64_t most_ = 0;
  memory_counter* next_ = nullptr;
  [[gnu::visibility("default")]] inline static memory_counter* first_ = nullptr;
  [[gnu::visibility("default")]] inline static allocated earlier_allocations_ = nullptr;
  [[gnu::visibility("default")]] inline static freed earlier_frees_ = nullptr;
  [[gnu::visibility("default")]] inline static std::atomic_flag lock_{};
};

}  // namespace ostraka::engine
