// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Scratch memory that outlives the operation that needed it, so that a loop over the same operations
/// allocates once. One pool per memory space and host thread; pieces are handed out, come back, and are freed when the
/// thread or Kokkos ends. A run that is repeated takes one piece, in which its own have their places (placement.hpp).

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>

#include <ostraka/engine/memory/dynamic_array.hpp>
#include <ostraka/engine/memory/large_pages.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/memory/placement.hpp>

namespace ostraka::engine {

/// What scratch memory is for: a plan, which foretells it (planner::memory_of), or a kernel, which decides by itself.
enum class scratch_for { plan, kernel };

/// A host thread's pool of one memory space. It holds slabs of memory and hands out pieces of them.
template <class Space>
class workspace {
 public:
  /// Plain memory: a Kokkos::View would count its users at every hand that it passes through.
  struct block {
    char* memory = nullptr;
    std::size_t bytes = 0;

    [[nodiscard]] std::size_t size() const { return bytes; }
    [[nodiscard]] char* end() const { return memory + bytes; }
  };

  /// The calling thread's.
  static workspace& instance() {
    static thread_local constinit workspace* pool = nullptr;
    return per_thread(pool);
  }

  workspace() {
    short_lock const alone(list_);
    next_ = first_;
    first_ = this;
  }
  workspace(workspace const&) = delete;
  workspace& operator=(workspace const&) = delete;

  ~workspace() {
    {
      short_lock const alone(list_);
      workspace** at = &first_;
      while (*at != this) at = &(*at)->next_;
      *at = next_;
    }
    if (Kokkos::is_initialized()) release();
  }

  [[gnu::noinline]] block take(std::size_t bytes, scratch_for whom) {
    std::size_t const at =
        whom == scratch_for::plan && run_ != nullptr && run_->cached() ? run_->take(bytes) : placement::nowhere;
    bool const learns = whom == scratch_for::plan && run_ != nullptr && !run_->cached();
    if (learns) run_->expect_one();
    block const taken = at != placement::nowhere ? block{run_buffer_.memory + at, bytes} : take(bytes);
    (whom == scratch_for::plan ? by_plans_ : by_kernels_).take(bytes);
    if (learns) run_->took(bytes, taken.memory);
    return taken;
  }

  [[gnu::noinline]] void give_back(block returned, scratch_for whom) {
    (whom == scratch_for::plan ? by_plans_ : by_kernels_).now -= returned.bytes;
    if (returned.memory >= run_buffer_.memory && returned.memory < run_buffer_.end())
      return run_->give_back(static_cast<std::size_t>(returned.memory - run_buffer_.memory));
    if (whom == scratch_for::plan && run_ != nullptr && !run_->cached()) run_->gave_back(returned.memory);
    give_back(returned);
  }

  /// From here on, plans take the pieces of this run, until `leave`, when they have given them back. Its first time
  /// finds out where they belong.
  /// @returns whether it is so: a run within another is a part of it
  [[gnu::noinline]] bool enter(placement& run) {
    if (run_ != nullptr) return false;
    run.begin();
    if (run.bytes() > 0) run_buffer_ = take(run.bytes());
    run_ = &run;
    return true;
  }

  [[gnu::noinline]] void leave(bool completed) {
    if (run_buffer_.bytes > 0) give_back(std::exchange(run_buffer_, {}));
    std::exchange(run_, nullptr)->end(completed);
  }

  /// Frees every slab of which nothing is in use, and forgets how much once was.
  void release() {
    free_unused();
    for (use* const u : {&used_, &by_plans_, &by_kernels_}) u->most = u->now;
  }

  std::size_t held_bytes() const { return held_; }
  std::size_t peak_bytes() const { return peak_; }

  /// Bytes that were in use at once, at most, since the last release: of all, by plans, by kernels. All of a run's
  /// block is in use during the run.
  std::size_t most_used() const { return used_.most; }
  std::size_t most_used_by_plans() const { return by_plans_.most; }
  std::size_t most_used_by_kernels() const { return by_kernels_.most; }

  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  /// Bytes that are to be held at most, as long as no more is in use at once; the limit so far.
  std::size_t limit_to(std::size_t bytes) { return std::exchange(limit_, bytes); }

 private:
  static constexpr std::size_t alignment = 64;  // of what is left of a piece; slabs are aligned by Kokkos

  struct use {
    std::size_t now = 0;
    std::size_t most = 0;

    void take(std::size_t bytes) {
      now += bytes;
      most = std::max(most, now);
    }
  };

  // The smallest free piece that is large enough, of which the rest stays free; else a new slab. For that all slabs
  // without a piece in use make place where more would be held than was ever in use at once. Who repeats what he asks
  // for comes to the point where nothing is new: a slab that makes place is smaller than what it makes place for. Under
  // a limit, by the first who finds the pool empty, and by a run whose places are to be found out, pieces are not cut,
  // so that what is in use has nothing left over.
  block take(std::size_t bytes) {
    block const taken = find(bytes);
    used_.take(bytes);  // not before: where there is no memory, nothing is in use
    return taken;
  }

  block find(std::size_t bytes) {
    bool const limited = limit_ != no_limit;
    uncut_ = uncut_ || held_ == 0;
    bool const exact = limited || uncut_ || (run_ != nullptr && run_->is_first());
    std::size_t best = free_.size();
    for (std::size_t i = 0; i < free_.size(); ++i)
      if (exact ? free_[i].bytes == bytes
                : free_[i].bytes >= bytes && (best == free_.size() || free_[i].bytes < free_[best].bytes))
        best = i;
    if (best != free_.size()) return cut(best, bytes);
    if (held_ + bytes > (limited ? limit_ : std::max(used_.most, used_.now + bytes))) free_unused();
    return new_slab(bytes);
  }

  void give_back(block returned) {
    used_.now -= returned.bytes;
    uncut_ = uncut_ && used_.now > 0;
    returned.bytes = rounded_up(returned);
    for (std::size_t i = 0; i < free_.size();) {  // neighbours become one again; between slabs are records of Kokkos
      if (free_[i].end() == returned.memory || returned.end() == free_[i].memory) {
        returned = {free_[i].memory < returned.memory ? free_[i].memory : returned.memory,
                    free_[i].bytes + returned.bytes};
        forget(free_, i);
      } else {
        ++i;
      }
    }
    free_.push_back(returned);
  }

  // The slab that a piece is of.
  block const& slab_of(block const& piece) const {
    std::size_t i = 0;
    while (piece.memory < slabs_[i].memory || piece.memory >= slabs_[i].end()) ++i;
    return slabs_[i];
  }

  // A piece in use together with what lies between its end and the next aligned place.
  std::size_t rounded_up(block const& piece) const {
    std::size_t const rounded = (piece.bytes + alignment - 1) / alignment * alignment;
    std::size_t const left = static_cast<std::size_t>(slab_of(piece).end() - piece.memory);
    return rounded < left ? rounded : left;
  }

  block cut(std::size_t i, std::size_t bytes) {
    block const piece{free_[i].memory, bytes};
    std::size_t const taken = rounded_up(piece);
    if (taken < free_[i].bytes)
      free_[i] = {piece.memory + taken, free_[i].bytes - taken};
    else
      forget(free_, i);
    return piece;
  }

  block new_slab(std::size_t bytes) {
    release_with_kokkos();
    auto const allocate = [&] {
      slabs_.push_back({static_cast<char*>(Kokkos::kokkos_malloc<Space>("ostraka workspace", bytes)), bytes});
    };
    try {
      allocate();
    } catch (std::exception const&) {
      free_unused();
      allocate();
    }
    held_ += bytes;
    peak_ = std::max(peak_, held_);
    ask_for_large_pages<Space>(slabs_.back().memory, bytes);
    return slabs_.back();
  }

  // No thread is in an operation when Kokkos ends.
  [[gnu::cold]] static void release_with_kokkos() {
    short_lock const alone(list_);
    if (std::exchange(hooked_, true)) return;
    Kokkos::push_finalize_hook([] {
      short_lock const nobody_comes_or_goes(list_);
      for (workspace* pool = first_; pool != nullptr; pool = pool->next_) pool->release();
    });
  }

  void free_unused() {
    for (std::size_t s = 0; s < slabs_.size();) {
      std::size_t i = 0;
      while (i < free_.size() && (free_[i].memory != slabs_[s].memory || free_[i].bytes != slabs_[s].bytes)) ++i;
      if (i == free_.size()) {
        ++s;
        continue;
      }
      held_ -= slabs_[s].bytes;
      Kokkos::kokkos_free<Space>(slabs_[s].memory);
      forget(slabs_, s);
      forget(free_, i);
    }
  }

  static void forget(dynamic_array<block>& list, std::size_t i) {
    list[i] = list.back();
    list.pop_back();
  }

  dynamic_array<block> slabs_;
  dynamic_array<block> free_;
  std::size_t held_ = 0;
  std::size_t peak_ = 0;
  use used_;
  use by_plans_;
  use by_kernels_;
  std::size_t limit_ = no_limit;
  placement* run_ = nullptr;
  block run_buffer_{};  // of a run whose places are cached
  bool uncut_ = false;  // since the pool was empty, as long as anything is in use

  workspace* next_ = nullptr;  // of another thread
  inline static constinit workspace* first_ = nullptr;
  inline static constinit bool hooked_ = false;
  inline static std::atomic_flag list_{};
};

/// A limit for the length of a scope.
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

/// A run of a plan for the length of a scope, in which its pieces come back. Of one that is not repeated, nothing is
/// remembered.
template <class Space>
class placed_run {
 public:
  explicit placed_run(placement* run)
      : entered_(run != nullptr && !run->takes_nothing() && workspace<Space>::instance().enter(*run)) {}
  ~placed_run() {
    if (entered_) workspace<Space>::instance().leave(std::uncaught_exceptions() == exceptions_);
  }
  placed_run(placed_run const&) = delete;
  placed_run& operator=(placed_run const&) = delete;

 private:
  int exceptions_ = std::uncaught_exceptions();
  bool entered_;
};

/// `count` uninitialised elements for the length of a scope. Kernels still running on an execution space instance may
/// use them after the scope's end if whoever takes the block next uses the same instance; otherwise fence first.
template <class T, class Space, scratch_for Whom = scratch_for::plan>
class scratch {
 public:
  explicit scratch(std::int64_t count = 0) {
    if (count > 0) block_ = workspace<Space>::instance().take(static_cast<std::size_t>(count) * sizeof(T), Whom);
  }
  ~scratch() {
    if (block_.bytes > 0) workspace<Space>::instance().give_back(block_, Whom);
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

template <class T, class Space>
using kernel_scratch = scratch<T, Space, scratch_for::kernel>;

}  // namespace ostraka::engine
