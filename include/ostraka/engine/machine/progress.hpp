// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The operations that a host thread has in flight, and the call that lets them progress. MPI moves a long
/// message only during a call of MPI, so a program that computes for long calls `progress()` in between. If nothing is
/// in flight, the call costs one test of a pointer.

namespace ostraka::engine {

/// An operation in flight, in the list of the host thread that began it. It progresses when polled.
class in_flight {
 public:
  in_flight(in_flight const&) = delete;
  in_flight& operator=(in_flight const&) = delete;

  /// Returns the first operation of the calling thread, or null.
  [[nodiscard]] static in_flight* first() { return first_; }
  [[nodiscard]] in_flight* next() const { return next_; }

  /// Does everything that needs no waiting. It neither begins a message nor throws.
  virtual void poll() noexcept = 0;

 protected:
  in_flight() = default;
  ~in_flight() { leave(); }

  /// Adds this operation at the end of the list, so that earlier messages go first.
  void enlist() {
    in_flight** at = &first_;
    while (*at != nullptr) at = &(*at)->next_;
    *at = this;
    next_ = nullptr;
  }
  void leave() {
    for (in_flight** at = &first_; *at != nullptr; at = &(*at)->next_)
      if (*at == this) {
        *at = next_;
        return;
      }
  }

 private:
  in_flight* next_ = nullptr;
  [[gnu::visibility("default")]] inline static thread_local constinit in_flight* first_ = nullptr;
};

/// Lets all operations progress that the calling thread has in flight.
inline void progress() {
  for (in_flight* f = in_flight::first(); f != nullptr; f = f->next()) f->poll();
}

}  // namespace ostraka::engine
