// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A rank's page, which the other ranks can read without its help, even while it is blocked in MPI. It holds
/// the collective that each of its host threads entered last, the description of the call, and, in check mode, whether
/// the rank is in an operation and waits there. If MPI has no windows, the pages cannot be read.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <algorithm>
#  include <atomic>
#  include <cstddef>
#  include <cstdint>
#  include <cstring>
#  include <new>
#  include <string>

#  include <ostraka/engine/carriers/readable_pages.hpp>
#  include <ostraka/engine/machine/thread_slot.hpp>

namespace ostraka::engine {

class progress_window {
 public:
  static constexpr int slots = thread_slot::number_of;
  static constexpr std::size_t text_bytes = 1000;

  struct page {
    std::atomic<std::uint64_t> last[slots];  ///< id and count of a group, by thread slot
    std::atomic<std::uint64_t> call[slots];  ///< fingerprint of the call, odd if it is compared
    std::atomic<std::uint64_t> uses;         ///< beginnings and ends of operations: odd inside one
    std::atomic<std::uint64_t> waits;        ///< the same for waits, in an operation, for the calls of others
    std::atomic<std::uint64_t> asks;         ///< 1 while this rank asks which ranks are in MPI
    char text[slots][text_bytes];            ///< the call about to be made
    char unused[8192 - (2 * slots + 3) * 8 - slots * text_bytes];
  };
  // MPICH 4.0 read an odd rank's page of 8088 bytes at an offset of eight bytes. It reads multiples of a memory page
  // correctly.
  static_assert(sizeof(page) % 4096 == 0);
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::uint64_t>) == 8);

  /// The numbers that were read from a page.
  struct numbers {
    std::uint64_t last[slots], call[slots], uses, waits, asks;
  };
  static_assert(offsetof(page, asks) + sizeof(page::asks) == sizeof(numbers));

  /// Opens the pages of all ranks. Collective.
  void open(native_communicator ranks) {
    void* const memory = pages_.open(ranks, sizeof(page));
    mine_ = memory == nullptr ? &unread_ : new (memory) page;
    for (int s = 0; s < slots; ++s) {
      mine_->last[s].store(0);
      mine_->call[s].store(0);
      mine_->text[s][0] = '\0';
    }
    mine_->uses.store(0);
    mine_->waits.store(0);
    mine_->asks.store(0);
    if (is_open()) pages_.begin();
  }

  /// Ends all reading. Collective.
  void close() {
    mine_ = &unread_;
    pages_.close();
  }

  /// True if ranks can read each other's pages.
  [[nodiscard]] bool is_open() const { return pages_.is_open(); }

  [[nodiscard]] page& mine() const { return *mine_; }

  /// Publishes the fingerprint of the call that this thread is about to make, odd if others compare it.
  void announce(std::uint64_t fingerprint) const {
    mine_->call[thread_slot::of_this_thread()].store(fingerprint, std::memory_order_release);
  }

  /// Publishes the description of the call that this thread is about to make.
  void announce(std::string const& text) const {
    std::size_t const n = std::min(text.size(), text_bytes - 1);
    char* const words = mine_->text[thread_slot::of_this_thread()];
    std::memcpy(words, text.data(), n);
    words[n] = '\0';
  }

  /// Reads the numbers on another rank's page. @pre is_open
  [[nodiscard]] numbers numbers_of(int rank) const {
    numbers n{};
    pages_.read(rank, &n, sizeof(n), 0);
    return n;
  }
  [[nodiscard]] std::string text_of(int rank, int slot) const {
    char text[text_bytes]{};
    pages_.read(rank, text, text_bytes, offsetof(page, text) + static_cast<std::size_t>(slot) * text_bytes);
    return text;
  }

 private:
  readable_pages pages_;
  page unread_;
  page* mine_ = &unread_;
};

}  // namespace ostraka::engine

#endif
