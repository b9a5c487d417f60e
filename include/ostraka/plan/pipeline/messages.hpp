// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The messages between the stages of a pipeline, and the data that stages have to store, computed from its
/// schedule. At the end of a tick, forward or backward, a stage sends its result to the stage that continues with it.
/// If there are repeats, the last stage sends to the first.

#include <algorithm>
#include <cstdint>

#include <ostraka/plan/pipeline/pipeline_schedule.hpp>

namespace ostraka::planner {

/// One activation, or its gradient, on its way from one stage to another.
struct pipeline_message {
  int from = -1;
  int to = -1;
  /// The sender's work. The receiver's repeat differs if the message goes from the last stage to the first.
  pipeline_work work;

  /// True if nothing is sent.
  [[nodiscard]] constexpr bool none() const { return to < 0; }
  friend constexpr bool operator==(pipeline_message const&, pipeline_message const&) = default;
};

/// The message that a stage sends at the end of a tick, at most one: its last lane's, or, backward, its first lane's.
/// The last stage's result and the first stage's gradient stay, and a single stage sends nothing.
[[nodiscard]] constexpr pipeline_message sent(pipeline_schedule const& s, int tick, int stage) {
  if (s.stages == 1) return {};
  pipeline_work const forward = s.at(tick, stage, s.lanes - 1);
  if (forward.phase == pipeline_phase::forward) {
    if (stage + 1 < s.stages) return {stage, stage + 1, forward};
    return forward.repeat + 1 < s.repeats ? pipeline_message{stage, 0, forward} : pipeline_message{};
  }
  pipeline_work const back = s.at(tick, stage, 0);
  if (back.phase == pipeline_phase::backward) {
    if (stage > 0) return {stage, stage - 1, back};
    if (back.repeat > 0) return {stage, s.stages - 1, back};
  }
  return {};
}

/// The message that a stage receives at the end of a tick from the stage before it (forward) or after it (backward).
[[nodiscard]] constexpr pipeline_message received(pipeline_schedule const& s, int tick, int stage,
                                                  pipeline_phase phase) {
  int const from = (stage + (phase == pipeline_phase::forward ? s.stages - 1 : 1)) % s.stages;
  pipeline_message const m = sent(s, tick, from);
  return m.to == stage && m.work.phase == phase ? m : pipeline_message{};
}

/// The number of messages of all stages in all ticks.
[[nodiscard]] constexpr std::int64_t messages(pipeline_schedule const& s) {
  if (s.stages == 1) return 0;
  return std::int64_t{s.backward ? 2 : 1} * s.microbatches * (std::int64_t{1} * s.stages * s.repeats - 1);
}

/// The bytes that all stages send together, if one microbatch's activation, and its gradient, has `activation_bytes`.
[[nodiscard]] constexpr std::int64_t bytes_sent(pipeline_schedule const& s, std::int64_t activation_bytes) {
  return messages(s) * activation_bytes;
}

/// The most activations that a stage stores at once: from a microbatch's forward to the end of its backward, or,
/// forward only, during the work on it. R·M for gpipe and circular, min(S − s, M) for one_forward_one_backward.
[[nodiscard]] constexpr int activations_stored(pipeline_schedule const& s, int stage) {
  int most = 0;
  int now = 0;
  for (int tick = 0; tick < s.ticks(); ++tick) {
    int done = 0;
    for (int lane = 0; lane < s.lanes; ++lane) {
      pipeline_work const w = s.at(tick, stage, lane);
      now += w.phase == pipeline_phase::forward ? 1 : 0;
      done += w.phase == pipeline_phase::backward || (w.phase == pipeline_phase::forward && !s.backward) ? 1 : 0;
    }
    most = std::max(most, now);
    now -= done;
  }
  return most;
}

/// The most messages that a stage has received but does not need in the next tick: M − S between the repeats of
/// circular, none if every message is needed immediately.
[[nodiscard]] constexpr int messages_waiting(pipeline_schedule const& s, int stage) {
  int most = 0;
  int now = 0;
  for (int tick = 0; tick < s.ticks(); ++tick) {
    pipeline_work const forward = s.at(tick, stage, 0);
    pipeline_work const back = s.at(tick, stage, s.lanes - 1);
    bool const first = stage == 0 && forward.repeat == 0;
    bool const last = stage + 1 == s.stages && back.repeat + 1 == s.repeats;
    if (s.stages > 1 && forward.phase == pipeline_phase::forward && !first) --now;
    if (s.stages > 1 && back.phase == pipeline_phase::backward && !last) --now;
    most = std::max(most, now);
    for (auto const phase : {pipeline_phase::forward, pipeline_phase::backward})
      now += received(s, tick, stage, phase).none() ? 0 : 1;
  }
  return most;
}

}  // namespace ostraka::planner
