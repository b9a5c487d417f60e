// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Scratch memory that outlives the operation that needed it, so that a loop over the same operations allocates once.
/// One pool per memory space; pieces are handed out, come back, and are freed when Kokkos ends. Not for several host threads at once.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <ostraka/engine/local/large_pages.hpp>

namespace ostraka::engine {

/// What scratch memory is for: a plan, which foretells it (planner::memory_of), or a kernel, which decides by itself.
enum class scratch_for { plan, kernel };

/// The pool of one memory space. It holds slabs of memory and hands out pieces of them.
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

  static workspace& instance() {
    static workspace pool;
    return pool;
  }

  /// The smallest free piece that is large enough, of which the rest stays free; else a new slab. For that all slabs without a piece in use make
  /// place where more would be held than was ever in use at once. Who repeats what he asks for comes to the point where nothing is new: a slab
  /// that makes place is smaller than what it makes place for. Under a limit, and by the first who finds the pool empty, pieces are not
  /// cut, so that what is in use has nothing left over.
  block take(std::size_t bytes, scratch_for whom) {
    if (whom == scratch_for::plan) {
      used_by_plans_ += bytes;
      most_used_by_plans_ = used_by_plans_ > most_used_by_plans_ ? used_by_plans_ : most_used_by_plans_;
    }
    used_ += bytes;
    most_used_ = used_ > most_used_ ? used_ : most_used_;
    bool const limited = limit_ != no_limit;
    uncut_ = uncut_ || held_ == 0;
    std::size_t best = free_.size();
    for (std::size_t i = 0; i < free_.size(); ++i)
      if (limited || uncut_ ? free_[i].bytes == bytes : free_[i].bytes >= bytes && (best == free_.size() || free_[i].bytes < free_[best].bytes)) best = i;
    if (best != free_.size()) return cut(best, bytes);
    if (held_ + bytes > (limited ? limit_ : most_used_)) free_unused();
    return new_slab(bytes);
  }

  void give_back(block returned, scratch_for whom) {
    if (whom == scratch_for::plan) used_by_plans_ -= returned.bytes;
    used_ -= returned.bytes;
    uncut_ = uncut_ && used_ > 0;
    returned.bytes = rounded_up(returned);
    for (std::size_t i = 0; i < free_.size();) {  // neighbours become one again; between slabs are records of Kokkos
      if (free_[i].end() == returned.memory || returned.end() == free_[i].memory) {
        returned = {free_[i].memory < returned.memory ? free_[i].memory : returned.memory, free_[i].bytes + returned.bytes};
        forget(free_, i);
      } else {
        ++i;
      }
    }
    free_.push_back(returned);
  }

  /// Frees every slab of which nothing is in use, and forgets how much once was.
  void release() {
    free_unused();
    most_used_ = used_;
    most_used_by_plans_ = used_by_plans_;
  }

  std::size_t held_bytes() const { return held_; }
  std::size_t peak_bytes() const { return peak_; }

  /// Bytes that were in use at once, at most, since the last release; and by plans.
  std::size_t most_used() const { return most_used_; }
  std::size_t most_used_by_plans() const { return most_used_by_plans_; }

  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  /// Bytes that are to be held at most, as long as no more is in use at once; the limit so far.
  std::size_t limit_to(std::size_t bytes) { return std::exchange(limit_, bytes); }

 private:
  static constexpr std::size_t alignment = 64;  // of what is left of a piece; slabs are aligned by Kokkos

  workspace() = default;

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
    if (!hooked_) {
      Kokkos::push_finalize_hook([] { workspace::instance().release(); });
      hooked_ = true;
    }
    held_ += bytes;
    peak_ = held_ > peak_ ? held_ : peak_;
    slabs_.push_back({static_cast<char*>(Kokkos::kokkos_malloc<Space>("ostraka workspace", bytes)), bytes});
    ask_for_large_pages<Space>(slabs_.back().memory, bytes);
    return slabs_.back();
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

  static void forget(std::vector<block>& list, std::size_t i) {
    list[i] = list.back();
    list.pop_back();
  }

  std::vector<block> slabs_;
  std::vector<block> free_;
  std::size_t held_ = 0;
  std::size_t peak_ = 0;
  std::size_t used_ = 0;
  std::size_t most_used_ = 0;
  std::size_t used_by_plans_ = 0;
  std::size_t most_used_by_plans_ = 0;
  std::size_t limit_ = no_limit;
  bool uncut_ = false;  // since the pool was empty, as long as anything is in use
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
