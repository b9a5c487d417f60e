// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::count_pipeline_slots(f)`: calls f, and returns in how many slots of pipelines this device's stage
/// worked, in how many it was idle, and the most activations that it stored.
///
///     auto const slots = os::count_pipeline_slots([&] { result = step(parameters, tokens); });
///     slots.bubble();                                     // (S − 1) / (R·M + S − 1)

#include <algorithm>
#include <cstdint>
#include <utility>

namespace ostraka {

/// The work of this device's stage in the ticks of pipelines, counted as it runs.
struct pipeline_slots {
  /// Slots with work.
  std::int64_t worked = 0;
  /// Slots without work.
  std::int64_t idle = 0;
  int stored = 0;  ///< the most activations that waited for their backward at once

  /// The fraction of the slots that was idle.
  [[nodiscard]] double bubble() const {
    return worked + idle == 0 ? 0 : static_cast<double>(idle) / static_cast<double>(worked + idle);
  }
};

namespace detail {

/// The counter of slots of this host thread; nullptr if there is none.
[[gnu::visibility("default")]] inline pipeline_slots*& counted_slots() {
  static thread_local constinit pipeline_slots* counted = nullptr;
  return counted;
}

inline void count_slot(bool idle) {
  if (pipeline_slots* const counted = counted_slots(); counted != nullptr) ++(idle ? counted->idle : counted->worked);
}
inline void count_stored(int stored) {
  if (pipeline_slots* const counted = counted_slots(); counted != nullptr)
    counted->stored = std::max(counted->stored, stored);
}

}  // namespace detail

/// Calls f, and returns the slots of all pipelines that it ran on this device, forward and backward. Calls may be
/// nested.
template <class F>
pipeline_slots count_pipeline_slots(F&& f) {
  pipeline_slots own;
  struct as_before {
    pipeline_slots& own;
    pipeline_slots* before;
    ~as_before() {
      detail::counted_slots() = before;
      if (before == nullptr) return;
      before->worked += own.worked;
      before->idle += own.idle;
      before->stored = std::max(before->stored, own.stored);
    }
  } const outside{own, std::exchange(detail::counted_slots(), &own)};
  f();
  return own;
}

}  // namespace ostraka
