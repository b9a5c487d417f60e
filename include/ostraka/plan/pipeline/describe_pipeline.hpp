// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A pipeline's schedule in the literature's notation, a line for each stage and a column for each tick:
///
///     stage 0  F0 F1 F2 .  .  B2 B1 B0
///     stage 1  .  F0 F1 F2 B2 B1 B0 .
///
/// F is forward, B backward, and the number the microbatch. With repeats the repeat follows it: F0.1.

#include <algorithm>
#include <cstddef>
#include <string>

#include <ostraka/plan/pipeline/pipeline_schedule.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::planner {

/// The name of a slot.
[[nodiscard, gnu::cold]] inline std::string name_of(pipeline_work const& w, bool with_repeat) {
  if (w.idle()) return ".";
  std::string s = w.phase == pipeline_phase::forward ? "F" : "B";
  s += std::to_string(w.microbatch);
  if (with_repeat) append_text(s, '.', w.repeat);
  return s;
}

}  // namespace ostraka::planner

namespace ostraka {

/// The table, with a line for each stage, or for each layer if each tick runs one layer.
[[nodiscard, gnu::cold]] inline std::string describe(planner::pipeline_schedule const& s) {
  std::size_t width = 1;
  for (int tick = 0; tick < s.ticks(); ++tick)
    for (int stage = 0; stage < s.stages; ++stage)
      for (int lane = 0; lane < s.lanes; ++lane)
        width = std::max(width, name_of(s.at(tick, stage, lane), s.repeats > 1).size());
  std::string text;
  for (int stage = 0; stage < s.stages; ++stage)
    for (int lane = 0; lane < s.lanes; ++lane) {
      std::string line = join_text("stage ", stage);
      if (s.lanes > 1) append_text(line, ", layer ", lane);
      line += ' ';
      for (int tick = 0; tick < s.ticks(); ++tick) {
        std::string const slot = name_of(s.at(tick, stage, lane), s.repeats > 1);
        append_text(line, ' ', slot, std::string(width - slot.size(), ' '));
      }
      line.erase(line.find_last_not_of(' ') + 1);
      append_text(text, line, '\n');
    }
  return text;
}

}  // namespace ostraka
