// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The blocks of a GPU's tensors, kept for later results when their last view ends. An allocation of Kokkos
/// copies a header to the GPU and waits for it, and a free waits for all its kernels; a block that is kept costs
/// neither. A block stays an allocation of Kokkos throughout, so its views count and name it as usual.
///
/// The next owner uses a block behind the kernels of the former one: on the same instance, or behind the fence where a
/// scope of os::with_instance begins or ends. Another host thread waits for the device first.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/foreign_memory.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// The label of the views that operations make.
[[gnu::visibility("default")]] inline constexpr char label_of_blocks[] = "ostraka tensor";

namespace detail {

/// The number of counters that live: they count each block that is freed, so none is kept.
[[gnu::visibility("default")]] inline constinit std::atomic<int> counters_of_memory{0};

/// True unless the program's user, or a counter, wants each block to be freed when its last view ends. Kokkos in debug
/// mode takes a block out of a list then, and would do so again.
inline bool keeps_freed_blocks() {
#ifdef KOKKOS_ENABLE_DEBUG
  return false;
#else
  static bool const kept = [] {
    char const* const setting = std::getenv("OSTRAKA_KEEP_FREED_MEMORY");
    return setting == nullptr || std::strcmp(setting, "0") != 0;
  }();
  return kept && counters_of_memory.load(std::memory_order_relaxed) == 0;
#endif
}

/// Returns a number that no other host thread has, or had. It is not 0.
[[gnu::visibility("default")]] inline std::uint64_t number_of_this_thread() {
  static constinit std::atomic<std::uint64_t> last{0};
  static thread_local std::uint64_t const mine = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return mine;
}

}  // namespace detail

/// The blocks of one space. All host threads share them.
template <class Space>
class kept_blocks {
 public:
  class block;

  /// Returns a block of at least so many bytes without a view: the smallest one that is kept, unless more than a fifth
  /// of it would be unused, and first of all one of this host thread's. Otherwise allocates one; if there is no memory,
  /// after a release.
  [[gnu::noinline]] static block* take(std::size_t bytes) {
    std::size_t const rounded = bytes + (granule - bytes % granule) % granule;
    std::size_t const wanted = rounded < bytes ? bytes : rounded;
    block* const found = all().find(wanted);
    return found != nullptr ? found : allocate(wanted);
  }

  /// Frees all blocks that are kept. True if there was one.
  [[gnu::noinline]] static bool release() { return free_all(all().forget_all()); }

  /// Returns the bytes of all blocks that are kept.
  static std::size_t held_bytes() {
    short_lock const alone(all().lock_);
    std::size_t sum = 0;
    for (entry const& e : all().free_) sum += e.bytes;
    return sum;
  }

 private:
  using any_record = Kokkos::Impl::SharedAllocationRecord<void, void>;

  struct entry {
    std::size_t bytes;
    block* held;
  };

  static constexpr std::size_t granule = 512;  // what CUDA's allocations are multiples of

  // It is never destroyed: static tensors may end after all else.
  [[gnu::visibility("default")]] static kept_blocks& all() {
    static kept_blocks* const made = new kept_blocks;
    return *made;
  }

  block* find(std::size_t bytes) {
    std::uint64_t const mine = detail::number_of_this_thread();
    block* found = nullptr;
    {
      short_lock const alone(lock_);
      entry const* best = nullptr;
      for (entry const* e = first_of(bytes); e != free_.end() && e->bytes - bytes <= bytes / 4; ++e) {
        if (best == nullptr) best = e;
        if (e->held->thread != mine) continue;
        best = e;
        break;
      }
      if (best == nullptr) return nullptr;
      found = best->held;
      free_.erase(best);
    }
    if (found->thread != mine) Kokkos::fence();
    found->thread = mine;
    return found;
  }

  // Returns the first entry of at least so many bytes; the last one that was freed is the first of its length.
  entry* first_of(std::size_t bytes) {
    return std::lower_bound(free_.begin(), free_.end(), bytes,
                            [](entry const& e, std::size_t b) { return e.bytes < b; });
  }

  [[gnu::cold]] static block* allocate(std::size_t bytes) {
    all().end_with_kokkos();
    try {
      return new block(bytes);
    } catch (std::exception const&) {
      if (!release()) throw;
    }
    return new block(bytes);
  }

  // Kokkos calls it when the last view has ended.
  static void last_view_ended(any_record* record) {
    // The next scope of an instance waits for all kernels that use the block, the program's among them.
    instance_of_thread<typename Space::execution_space>().unfenced = true;
    auto* const ended = static_cast<block*>(record);
    if (!all().keep(ended)) delete ended;
  }

  bool keep(block* ended) {
    if (!detail::keeps_freed_blocks()) return false;
    if (ended->thread != detail::number_of_this_thread()) ended->thread = 0;  // kernels of both threads may use it
    short_lock const alone(lock_);
    if (has_ended_) return false;
    std::size_t const at = static_cast<std::size_t>(first_of(ended->size()) - free_.begin());
    free_.push_back({});
    std::copy_backward(free_.begin() + at, free_.end() - 1, free_.end());
    free_[at] = {ended->size(), ended};
    return true;
  }

  dynamic_array<entry> forget_all() {
    short_lock const alone(lock_);
    return std::exchange(free_, {});
  }

  static bool free_all(dynamic_array<entry> const& forgotten) {
    if (forgotten.empty()) return false;
    Kokkos::fence();
    for (entry const& e : forgotten) delete e.held;
    return true;
  }

  // Frees the blocks before Kokkos ends; from then on none is kept.
  void end_with_kokkos() {
    short_lock const alone(lock_);
    if (std::exchange(hooked_, true)) return;
    Kokkos::push_finalize_hook([] {
      {
        short_lock const lock(all().lock_);
        all().has_ended_ = true;
      }
      release();
    });
  }

  std::atomic_flag lock_{};
  dynamic_array<entry> free_;  // in the order of their lengths
  bool hooked_ = false;
  bool has_ended_ = false;
};

/// An allocation of Kokkos that its last view does not end.
template <class Space>
class kept_blocks<Space>::block final : public Kokkos::Impl::SharedAllocationRecord<Space, void> {
 public:
  explicit block(std::size_t bytes)
      : Kokkos::Impl::SharedAllocationRecord<Space, void>(Space(), label_of_blocks, bytes, &last_view_ended) {}
  ~block() = default;

  std::uint64_t thread = detail::number_of_this_thread();  ///< whose kernels may use it; 0: those of several
};

/// True if new blocks of a space come from those that are kept: on a GPU, unless the program is only priced.
template <class Space>
bool takes_kept_blocks() {
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible)
    return false;
  else
    return computes() && detail::keeps_freed_blocks();
}

/// Returns an uninitialised view of a block. @pre bytes > 0
template <class View>
View view_of_kept_block(typename View::array_layout const& layout, std::size_t bytes) {
  auto* const block = kept_blocks<typename View::memory_space>::take(bytes);
  View made(static_cast<typename View::pointer_type>(block->data()), layout);
  detail::set_record(made, block);
  return made;
}

}  // namespace ostraka::engine
