// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Memory of one space, allocated in slabs and handed out in pieces. Returned pieces are kept for later
/// requests; a slab without a piece in use may be freed. This file does not know the purpose of the pieces.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <limits>
#include <type_traits>
#include <utility>

#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/kept_blocks.hpp>
#include <ostraka/engine/memory/slab_memory.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// Plain memory. A Kokkos::View would count its owners at every copy.
struct memory_piece {
  char* memory = nullptr;
  std::size_t bytes = 0;

  [[nodiscard]] std::size_t size() const { return bytes; }
  [[nodiscard]] char* end() const { return memory + bytes; }
};

/// Bytes in use, and their peak.
struct bytes_in_use {
  std::size_t now = 0;
  std::size_t most = 0;

  void take(std::size_t bytes) {
    now += bytes;
    most = std::max(most, now);
  }
};

/// Memory that is allocated and freed as a whole.
struct slab : memory_piece {
  enum class source { kokkos, large_pages, addresses };

  source from = source::kokkos;
};

template <class Space>
class slab_pool {
 public:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  /// Returns the smallest free piece that is large enough; the rest of it stays free. If there is none, allocates a new
  /// slab. If it would then hold more than was ever in use at once, it first frees slabs without a piece in use. So a
  /// program that repeats its requests soon allocates nothing: a slab is freed only for a larger one.
  ///
  /// Under a limit, and for the first requests to an empty pool, pieces are not cut, so that slabs in use have no free
  /// rest.
  memory_piece take(std::size_t bytes) {
    memory_piece const taken = find(bytes);
    used_.take(bytes);  // not before: if the allocation fails, nothing is in use
    return taken;
  }

  void give_back(memory_piece returned) {
    used_.now -= returned.bytes;
    uncut_ = uncut_ && used_.now > 0;
    returned.bytes = rounded_up(returned);
    for (std::size_t i = 0; i < free_.size();) {  // merge neighbours; slabs are not adjacent
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

  /// Frees every slab without a piece in use, and resets the peak to the bytes in use now.
  void release() {
    free_unused();
    used_.most = used_.now;
  }

  [[nodiscard]] std::size_t held_bytes() const { return held_; }
  [[nodiscard]] std::size_t peak_bytes() const { return peak_; }
  /// Returns the peak of bytes in use since the last release.
  [[nodiscard]] std::size_t most_used() const { return used_.most; }

  /// Limits the bytes held, unless more are in use at once. Returns the former limit.
  std::size_t limit_to(std::size_t bytes) { return std::exchange(limit_, bytes); }

 private:
  static constexpr std::size_t alignment = 64;  // of the rest of a cut piece; slabs are aligned to at least as much

  memory_piece find(std::size_t bytes) {
    bool const limited = limit_ != no_limit;
    uncut_ = uncut_ || held_ == 0;
    bool const exact = limited || uncut_;
    std::size_t best = free_.size();
    for (std::size_t i = 0; i < free_.size(); ++i)
      if (exact ? free_[i].bytes == bytes
                : free_[i].bytes >= bytes && (best == free_.size() || free_[i].bytes < free_[best].bytes))
        best = i;
    if (best != free_.size()) return cut(best, bytes);
    if (held_ + bytes > (limited ? limit_ : std::max(used_.most, used_.now + bytes))) free_unused();
    return new_slab(bytes);
  }

  // Returns the slab that contains a piece.
  memory_piece const& slab_of(memory_piece const& piece) const {
    std::size_t i = 0;
    while (piece.memory < slabs_[i].memory || piece.memory >= slabs_[i].end()) ++i;
    return slabs_[i];
  }

  // Returns the bytes of a piece in use and of the gap between its end and the next aligned address.
  std::size_t rounded_up(memory_piece const& piece) const {
    std::size_t const rounded = (piece.bytes + alignment - 1) / alignment * alignment;
    std::size_t const left = static_cast<std::size_t>(slab_of(piece).end() - piece.memory);
    return rounded < left ? rounded : left;
  }

  memory_piece cut(std::size_t i, std::size_t bytes) {
    memory_piece const piece{free_[i].memory, bytes};
    std::size_t const taken = rounded_up(piece);
    if (taken < free_[i].bytes)
      free_[i] = {piece.memory + taken, free_[i].bytes - taken};
    else
      forget(free_, i);
    return piece;
  }

  [[gnu::cold]] memory_piece new_slab(std::size_t bytes) {
    slabs_.push_back(allocate_slab(bytes));
    held_ += bytes;
    peak_ = std::max(peak_, held_);
    return slabs_.back();
  }

  slab allocate_slab(std::size_t bytes) {
    if (char* const at = computes() ? allocate_large_pages<Space>(label, bytes) : nullptr)
      return {{at, bytes}, slab::source::large_pages};
    auto const by_kokkos = [&]() -> slab {
      return {{static_cast<char*>(Kokkos::kokkos_malloc<Space>(label, bytes)), bytes}, slab::source::kokkos};
    };
    try {
      return by_kokkos();
    } catch (std::exception const&) {
      free_unused();
      if constexpr (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible) kept_blocks<Space>::release();
    }
    if (char* const at = computes() ? nullptr : reserve_addresses<Space>(label, bytes))
      return {{at, bytes}, slab::source::addresses};
    return by_kokkos();
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
      free_slab(slabs_[s]);
      forget(slabs_, s);
      forget(free_, i);
    }
  }

  static void free_slab(slab const& s) {
    // Kernels and copies in flight may still use a GPU's memory, and copies may use the host's.
    if constexpr (has_gpu || !std::is_same_v<Space, Kokkos::HostSpace>) Kokkos::fence();
    switch (s.from) {
      case slab::source::kokkos: return Kokkos::kokkos_free<Space>(s.memory);
      case slab::source::large_pages: return free_large_pages<Space>(label, s.memory, s.bytes);
      case slab::source::addresses: return free_addresses<Space>(label, s.memory, s.bytes);
    }
  }

  template <class Piece>
  static void forget(dynamic_array<Piece>& list, std::size_t i) {
    list[i] = list.back();
    list.pop_back();
  }

  static constexpr char const* label = "ostraka workspace";

  dynamic_array<slab> slabs_;
  dynamic_array<memory_piece> free_;
  std::size_t held_ = 0;
  std::size_t peak_ = 0;
  bytes_in_use used_;
  std::size_t limit_ = no_limit;
  bool uncut_ = false;  // true from when the pool was empty, as long as anything is in use
};

}  // namespace ostraka::engine
