// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Keeps the blocks of a GPU's tensors, and short blocks of a host, for later results when their last view is
/// destroyed. On a GPU, Kokkos copies a header at each allocation and waits for the copy, and waits for all kernels at
/// each free; on a host the two calls take as long as an operation on a hundred elements. A kept block costs neither.
/// It stays an allocation of Kokkos, so its views count and name it as usual.
///
/// On a GPU, the kernels of the next owner run after those of the former one: on the same instance, or after the fence
/// where a scope of os::with_instance begins or ends. Another host thread waits for the device first. On a host, each
/// thread keeps the blocks whose last view it destroys, and no kernel still uses them.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <type_traits>
#include <utility>

#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/foreign_memory.hpp>
#include <ostraka/engine/memory/large_pages.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// The label of the views that operations make.
[[gnu::visibility("default")]] inline constexpr char label_of_blocks[] = "ostraka tensor";

namespace detail {

/// The number of memory counters that exist. They count each block that is freed, so no block is kept meanwhile.
[[gnu::visibility("default")]] inline constinit std::atomic<int> counters_of_memory{0};

/// True unless the user, or a counter, wants each block to be freed with its last view. False for Kokkos in debug mode,
/// which removes a block from a list with its last view, and would remove a kept block twice.
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

/// The same for short blocks of the host. False under the address sanitizer, so that it sees the end of each block.
inline bool keeps_short_blocks() {
#if defined(__SANITIZE_ADDRESS__)
  return false;
#else
#  if defined(__has_feature)
#    if __has_feature(address_sanitizer)
  return false;
#    endif
#  endif
  return keeps_freed_blocks();
#endif
}

/// Returns a number, not 0, that no other host thread has or had.
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

  /// Returns a block of at least this many bytes, without a view: the smallest kept block that is large enough, unless
  /// more than a fifth of it would be unused, and preferably one of this host thread. Otherwise allocates a block; if
  /// there is no memory, after a release.
  [[gnu::noinline]] static block* take(std::size_t bytes) {
    std::size_t const rounded = bytes + (granule - bytes % granule) % granule;
    std::size_t const wanted = rounded < bytes ? bytes : rounded;
    block* const found = all().find(wanted);
    return found != nullptr ? found : allocate(wanted);
  }

  /// Frees all kept blocks. True if there was one.
  [[gnu::noinline]] static bool release() { return free_all(all().forget_all()); }

  /// Returns the bytes of all kept blocks.
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

  static constexpr std::size_t granule = 512;  // CUDA's allocations are multiples of it

  // Never destroyed: static tensors may be destroyed later than any other object.
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

  // Returns the first entry of at least this many bytes. Among entries of one length, the block freed last comes first.
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

  // Frees the blocks before Kokkos ends; from then on no block is kept.
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

/// An allocation of Kokkos that outlives its last view.
template <class Space>
class kept_blocks<Space>::block final : public Kokkos::Impl::SharedAllocationRecord<Space, void> {
 public:
  explicit block(std::size_t bytes)
      : Kokkos::Impl::SharedAllocationRecord<Space, void>(Space(), label_of_blocks, bytes, &last_view_ended) {}
  ~block() = default;

  std::uint64_t thread = detail::number_of_this_thread();  ///< the thread whose kernels may use it; 0: several threads
};

/// The short blocks that a host thread keeps: at most 16 of each of seven lengths, 127 KiB.
template <>
class kept_blocks<Kokkos::HostSpace> {
 public:
  class block;

  static constexpr std::size_t longest = 4096;  ///< bytes; filling a longer block takes longer than allocating it

  kept_blocks() {
    short_lock const alone(list_);
    next_ = first_;
    first_ = this;
    if (!std::exchange(hooked_, true)) Kokkos::push_finalize_hook(&end_with_kokkos);
  }
  kept_blocks(kept_blocks const&) = delete;
  kept_blocks& operator=(kept_blocks const&) = delete;
  ~kept_blocks() {
    {
      short_lock const alone(list_);
      kept_blocks** at = &first_;
      while (*at != this) at = &(*at)->next_;
      *at = next_;
    }
    free_all();
  }

  /// Returns a block of at least this many bytes, without a view. @pre 0 < bytes <= longest
  static block* take(std::size_t bytes);

  /// Frees the blocks that this host thread keeps.
  static void release() {
    if (mine_ != nullptr) mine_->free_all();
  }

  /// Returns the bytes of the blocks that this host thread keeps.
  static std::size_t held_bytes() {
    std::size_t sum = 0;
    if (mine_ != nullptr)
      for (int of = 0; of < lengths; ++of) sum += (shortest << of) * static_cast<std::size_t>(mine_->kept_[of].count);
    return sum;
  }

 private:
  using any_record = Kokkos::Impl::SharedAllocationRecord<void, void>;

  static constexpr int lengths = 7, most = 16;
  static constexpr std::size_t shortest = longest >> (lengths - 1);

  struct list {
    block* first = nullptr;  // the block freed last, which is still in a cache
    int count = 0;
  };

  // Kokkos calls it when the last view has ended, on any thread.
  static void last_view_ended(any_record* record);
  void free_all();

  // No thread is in an operation when Kokkos ends.
  static void end_with_kokkos() {
    short_lock const alone(list_);
    has_ended_ = true;
    for (kept_blocks* of = first_; of != nullptr; of = of->next_) of->free_all();
  }

  list kept_[lengths];
  kept_blocks* next_ = nullptr;  // of another thread
  [[gnu::visibility("default")]] inline static thread_local constinit kept_blocks* mine_ = nullptr;
  [[gnu::visibility("default")]] inline static constinit kept_blocks* first_ = nullptr;
  [[gnu::visibility("default")]] inline static constinit bool hooked_ = false;
  [[gnu::visibility("default")]] inline static constinit std::atomic<bool> has_ended_{false};
  [[gnu::visibility("default")]] inline static std::atomic_flag list_{};
};

class kept_blocks<Kokkos::HostSpace>::block final
    : public Kokkos::Impl::SharedAllocationRecord<Kokkos::HostSpace, void> {
 public:
  explicit block(int of)
      : Kokkos::Impl::SharedAllocationRecord<Kokkos::HostSpace, void>(Kokkos::HostSpace(), label_of_blocks,
                                                                      shortest << of, &last_view_ended),
        length(of) {}
  ~block() = default;

  int length;             ///< its number among the lengths
  block* next = nullptr;  ///< the next kept block
};

[[gnu::noinline]] inline kept_blocks<Kokkos::HostSpace>::block* kept_blocks<Kokkos::HostSpace>::take(
    std::size_t bytes) {
  int const length = bytes <= shortest ? 0 : static_cast<int>(std::bit_width((bytes - 1) / shortest));
  list& kept = per_thread(mine_).kept_[length];
  if (kept.first == nullptr) return new block(length);
  --kept.count;
  return std::exchange(kept.first, kept.first->next);
}

inline void kept_blocks<Kokkos::HostSpace>::last_view_ended(any_record* record) {
  auto* const ended = static_cast<block*>(record);
  // A thread that has never taken a block keeps none, since it may be about to end.
  if (mine_ != nullptr && detail::keeps_short_blocks() && !has_ended_.load(std::memory_order_relaxed))
    if (list& kept = mine_->kept_[ended->length]; kept.count < most) {
      ++kept.count;
      ended->next = std::exchange(kept.first, ended);
      return;
    }
  delete ended;
}

inline void kept_blocks<Kokkos::HostSpace>::free_all() {
  for (list& kept : kept_)
    for (block* at = std::exchange(kept, {}).first; at != nullptr;) delete std::exchange(at, at->next);
}

/// True if blocks of a space may be kept: on a host, and on GPUs whose memory the host cannot read.
template <class Space>
inline constexpr bool has_kept_blocks =
    std::is_same_v<Space, Kokkos::HostSpace> || !Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible;

/// True if a new block of such a space is taken from the kept blocks: on a GPU always, on a host if it is short, but
/// not if the program is only priced. On a host it is false if a tool listens to Kokkos, so that the tool sees each
/// block.
template <class Space>
bool takes_kept_block(std::size_t bytes, [[maybe_unused]] bool tools_listen) {
  if constexpr (std::is_same_v<Space, Kokkos::HostSpace>)
    return bytes - 1 < kept_blocks<Space>::longest && computes() && detail::keeps_short_blocks() && !tools_listen;
  else
    return bytes > 0 && computes() && detail::keeps_freed_blocks();
}

/// Returns an uninitialised view of a kept block. @pre takes_kept_block<memory space>(bytes)
template <class View>
View view_of_kept_block(typename View::array_layout const& layout, std::size_t bytes) {
  auto* const block = kept_blocks<typename View::memory_space>::take(bytes);
  View made(static_cast<typename View::pointer_type>(block->data()), layout);
  detail::set_record(made, block);
  return made;
}

/// Returns an uninitialised view with this layout, whose elements take this many bytes, of a kept block or of a new
/// one. The extents are passed as a layout, because Kokkos checks the number of extents that are passed as arguments
/// each time, and reads the label for that. `tools_listen`: whether a tool listens to Kokkos.
template <class View>
View new_view(typename View::array_layout const& layout, std::size_t bytes,
              [[maybe_unused]] bool tools_listen = Kokkos::Tools::profileLibraryLoaded()) {
  using memory = typename View::memory_space;
  if constexpr (has_kept_blocks<memory>)  // its view is returned without a copy, which Kokkos would count
    if (takes_kept_block<memory>(bytes, tools_listen)) return view_of_kept_block<View>(layout, bytes);
  View const made(Kokkos::view_alloc(Kokkos::WithoutInitializing, label_of_blocks), layout);
  prepare_memory<memory>(made.data(), bytes);
  return made;
}

}  // namespace ostraka::engine
