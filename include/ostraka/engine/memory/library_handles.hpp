// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The handles of a GPU library: one for each host thread and device, created at its first use. They end with
/// their thread or before Kokkos ends, whichever is first, so that no handle outlives its device.

#include <Kokkos_Core.hpp>

#include <atomic>
#include <utility>

#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// `Library` has a type `handle`, `handle begin(int device)` and `void end(handle)`, all static.
template <class Library>
class library_handles {
 public:
  using handle = typename Library::handle;

  /// Returns the calling thread's handle for a device.
  static handle of(int device) {
    static thread_local constinit library_handles* place = nullptr;
    return per_thread(place).find(device);
  }

  /// Ends all threads' handles. No thread is in an operation.
  [[gnu::cold]] static void end_all() {
    short_lock const lock(list_);
    for (library_handles* h = first_; h != nullptr; h = h->next_) h->end();
  }

  library_handles(library_handles const&) = delete;
  library_handles& operator=(library_handles const&) = delete;

  library_handles() {
    short_lock const alone(list_);
    next_ = std::exchange(first_, this);
    if (!std::exchange(hooked_, true)) Kokkos::push_finalize_hook([] { end_all(); });
  }

  ~library_handles() {
    short_lock const alone(list_);
    for (library_handles** at = &first_; *at != nullptr; at = &(*at)->next_)
      if (*at == this) {
        *at = next_;
        break;
      }
    end();
  }

 private:
  struct held {
    int device;
    handle value;
  };

  handle find(int device) {
    for (held const& h : held_)
      if (h.device == device) return h.value;
    held_.push_back({device, Library::begin(device)});
    return held_.back().value;
  }

  void end() {
    for (; !held_.empty(); held_.pop_back()) Library::end(held_.back().value);
  }

  dynamic_array<held> held_;
  library_handles* next_ = nullptr;  // of another thread
  inline static constinit library_handles* first_ = nullptr;
  inline static constinit bool hooked_ = false;
  inline static std::atomic_flag list_{};
};

}  // namespace ostraka::engine
