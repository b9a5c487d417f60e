// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Moves a batch that is divided over the stages into a pipeline, and its results out of it. Each stage is the
/// home of a block of microbatches. Before the first stage begins a microbatch, its home sends it there. When the last
/// stage has finished it, the result goes home. Each microbatch is sent once in and once out, unless its home is that
/// stage.

#include <cstdint>

#include <ostraka/plan/pipeline/messages.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::planner {

/// The stage that holds a microbatch of a batch divided over the stages.
/// @pre 0 ≤ microbatch < microbatches
[[nodiscard]] constexpr int home_of(pipeline_schedule const& s, int microbatch) {
  int stage = 0;
  while (block(s.microbatches, stage, s.stages).end <= microbatch) ++stage;
  return stage;
}

/// The message to the first stage before a tick: the microbatch that it begins then, unless its home is that stage.
[[nodiscard]] constexpr pipeline_message fed(pipeline_schedule const& s, int tick) {
  pipeline_work const w = s.at(tick, 0, 0);
  if (w.phase != pipeline_phase::forward || w.repeat > 0) return {};
  int const home = home_of(s, w.microbatch);
  return home == 0 ? pipeline_message{} : pipeline_message{home, 0, w};
}

/// The message from the last stage after a tick: the result that it finished then, unless its home is that stage.
[[nodiscard]] constexpr pipeline_message drained(pipeline_schedule const& s, int tick) {
  int const last = s.stages - 1;
  pipeline_work const w = s.at(tick, last, s.lanes - 1);
  if (w.phase != pipeline_phase::forward || w.repeat + 1 < s.repeats) return {};
  int const home = home_of(s, w.microbatch);
  return home == last ? pipeline_message{} : pipeline_message{last, home, w};
}

/// The number of messages that feed the pipeline.
[[nodiscard]] constexpr std::int64_t messages_fed(pipeline_schedule const& s) {
  return s.microbatches - block(s.microbatches, 0, s.stages).size();
}

/// The number of messages that bring results home.
[[nodiscard]] constexpr std::int64_t messages_drained(pipeline_schedule const& s) {
  return s.microbatches - block(s.microbatches, s.stages - 1, s.stages).size();
}

}  // namespace ostraka::planner
