// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Admits one host thread at a time: to the operations of a mesh, and, unless MPI was begun with
/// MPI_THREAD_MULTIPLE, to all operations that may communicate. No thread waits: a thread that finds another one there
/// is refused before it has sent anything.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/machine/this_thread.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// A resource that one host thread at a time uses: a mesh, or MPI.
struct used_by_one {
  std::atomic<void const*> user{nullptr};      ///< the thread that uses it now
  std::atomic<void const*> only{nullptr};      ///< the only thread that may use it; null: all may
  std::atomic<std::uint64_t>* shared_count =
      nullptr;  ///< counts beginnings and ends, odd while in use, for other ranks to read; null: no rank reads it
};

/// MPI, which allows one thread at a time unless it was begun for several.
[[gnu::visibility("default")]] inline used_by_one use_of_mpi{};

#if OSTRAKA_ENABLE_MPI

/// True if several threads may communicate at the same time. Otherwise records the one thread that may: the thread that
/// began MPI, or none until that thread has called this function.
/// @pre MPI runs
inline bool mpi_is_thread_multiple() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED) {
    int is_main = 0;
    MPI_Is_thread_main(&is_main);
    void const* nobody = nullptr;
    if (is_main)
      use_of_mpi.only.store(this_thread::mark(), std::memory_order_relaxed);
    else
      use_of_mpi.only.compare_exchange_strong(nobody, &use_of_mpi, std::memory_order_relaxed);
  }
  return level == MPI_THREAD_MULTIPLE;
}

#else

inline bool mpi_is_thread_multiple() { return true; }

#endif

/// Uses a resource while the object exists. A use within another use by the same thread is a part of the outer one. A
/// copy uses nothing by itself.
class exclusive_use {
 public:
  exclusive_use() = default;

  /// `what` is the resource's name in messages. @throws ostraka::error if another thread uses it
  exclusive_use(used_by_one& it, char const* operation, std::string_view what) {
    if (!begin(it)) refuse(it, operation, what);
  }

  /// The same, but without an error: `may` is false if another thread uses it.
  exclusive_use(used_by_one& it, bool& may) { may = begin(it); }
  exclusive_use(exclusive_use const&) {}
  exclusive_use(exclusive_use&& other) noexcept : it_(std::exchange(other.it_, nullptr)) {}
  exclusive_use& operator=(exclusive_use other) noexcept {
    std::swap(it_, other.it_);
    return *this;
  }
  ~exclusive_use() {
    if (it_ == nullptr) return;
    count();
    it_->user.store(nullptr, std::memory_order_release);
  }

 private:
  bool begin(used_by_one& it) {
    void const* const me = this_thread::mark();
    if (it.user.load(std::memory_order_relaxed) == me) return true;
    void const* nobody = nullptr;
    void const* const only = it.only.load(std::memory_order_relaxed);
    if ((only != nullptr && only != me) ||
        !it.user.compare_exchange_strong(nobody, me, std::memory_order_acquire, std::memory_order_relaxed))
      return false;
    it_ = &it;
    count();
    return true;
  }
  void count() const {
    if (it_->shared_count != nullptr)
      it_->shared_count->store(it_->shared_count->load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse(used_by_one const& it, char const* operation,
                                                            std::string_view what) {
    std::string const head = join_text(operation, ": ");
    void const* const only = it.only.load(std::memory_order_relaxed);
    if (only != nullptr && only != this_thread::mark())
      throw_error(
          head,
          "only the thread that began MPI may communicate, as it was begun (MPI_THREAD_FUNNELED), but another calls; "
          "let os::environment begin MPI, or give MPI_Init_thread a higher level");
    if (&it == &use_of_mpi)
      throw_error(
          head,
          "host threads that communicate at the same time need MPI_THREAD_MULTIPLE, but another is in an operation on "
          "a mesh; begin with os::environment(argc, argv, os::threads::multiple), or take turns");
    throw_error(head, "one host thread at a time uses a mesh, but another is in an operation on ", what,
                "; give each thread a mesh of its own (os::make_mesh), or take turns");
  }

  used_by_one* it_ = nullptr;
};

/// Returns the use of MPI, where threads have to take turns. @throws ostraka::error if another thread uses it
inline exclusive_use use_mpi(char const* operation) {
  return mpi_is_thread_multiple() ? exclusive_use() : exclusive_use(use_of_mpi, operation, "MPI");
}

}  // namespace ostraka::engine
