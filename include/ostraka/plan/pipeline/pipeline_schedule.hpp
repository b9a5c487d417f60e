// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A network is cut into stages and a batch into microbatches. In each tick every stage works on one
/// microbatch, or on none: that slot is part of the bubble. A pipeline's schedule is the table (tick, stage) →
/// (microbatch, repeat, phase). The value holds sizes only and answers from formulas, so it can be a compile-time
/// constant or a run-time value. Engine, cost model and tests read the same value.
///
///     constexpr auto table = os::gpipe(4, 8);                         // 4 stages, 8 microbatches
///     static_assert(table.ticks() == 11 && table.at(3, 1).microbatch == 2);

#include <algorithm>
#include <cstdint>

namespace ostraka::planner {

enum class pipeline_phase : std::uint8_t { idle, forward, backward };

/// The work of a stage in a tick.
struct pipeline_work {
  int microbatch = -1;
  int repeat = 0;  ///< the number of earlier rounds of the microbatch; selects the stage's layers
  pipeline_phase phase = pipeline_phase::idle;

  [[nodiscard]] constexpr bool idle() const { return phase == pipeline_phase::idle; }
  friend constexpr bool operator==(pipeline_work, pipeline_work) = default;
};

/// The order in which a stage takes its work.
///
///     all_forward            forward of all microbatches, one repeat after another; then all backward, mirrored
///     all_forward_by_groups  the same, but as many microbatches as there are stages go through all repeats, then the
///                            next ones: a returning microbatch continues immediately, and none waits
///     one_forward_one_backward   stage s has S − s microbatches under way, then finishes one before it takes another
enum class pipeline_order : std::uint8_t { all_forward, all_forward_by_groups, one_forward_one_backward };

/// A pipeline's schedule. A stage has one lane, or one for each of its layers: then each layer takes another microbatch
/// in a tick, and one device computes all of them, so a tick lasts as long as a tick of the whole stage.
struct pipeline_schedule {
  pipeline_order order = pipeline_order::all_forward;
  int stages = 1;
  int microbatches = 0;
  int repeats = 1;
  int lanes = 1;
  bool backward = false;  ///< one_forward_one_backward always has it

  friend constexpr bool operator==(pipeline_schedule const&, pipeline_schedule const&) = default;

  /// The same schedule with the backward phase.
  [[nodiscard]] constexpr pipeline_schedule with_backward() const {
    pipeline_schedule s = *this;
    s.backward = true;
    return s;
  }

  /// The number of ticks from the first work to the last.
  [[nodiscard]] constexpr int ticks() const {
    if (microbatches == 0) return 0;
    return order == pipeline_order::one_forward_one_backward ? 2 * (microbatches + stages - 1)
                                                             : (backward ? 2 : 1) * forward_ticks();
  }

  /// The work of a lane of a stage in a tick.
  /// @pre 0 ≤ tick, 0 ≤ stage < stages, 0 ≤ lane < lanes
  [[nodiscard]] constexpr pipeline_work at(int tick, int stage, int lane = 0) const {
    if (tick >= ticks()) return {};
    if (order == pipeline_order::one_forward_one_backward) return alternating(tick, stage);
    int const forward = forward_ticks();
    if (tick < forward) return first_pass(tick, stage, lane);
    pipeline_work w = first_pass(2 * forward - 1 - tick, stage, lane);
    if (!w.idle()) w.phase = pipeline_phase::backward;
    return w;
  }

  /// The tick in which a lane of a stage does this work; the inverse of `at`.
  /// @pre the work is one of the schedule's
  [[nodiscard]] constexpr int tick_of(pipeline_work const& w, int stage, int lane = 0) const {
    bool const forwards = w.phase == pipeline_phase::forward;
    if (order == pipeline_order::one_forward_one_backward) {
      if (!forwards) return 2 * stages - 1 - stage + 2 * w.microbatch;
      return stage + (w.microbatch < stages - stage ? w.microbatch : 2 * w.microbatch);
    }
    int const tick =
        (w.microbatch / group() * repeats + w.repeat) * period() + w.microbatch % group() + stage * lanes + lane;
    return forwards ? tick : 2 * forward_ticks() - 1 - tick;
  }

  /// The number of slots of the table: a slot is a lane of a stage in a tick.
  [[nodiscard]] constexpr std::int64_t slots() const { return std::int64_t{1} * ticks() * stages * lanes; }

  /// The number of slots with work.
  [[nodiscard]] constexpr std::int64_t busy_slots() const {
    return std::int64_t{backward ? 2 : 1} * microbatches * repeats * stages * lanes;
  }

  [[nodiscard]] constexpr std::int64_t idle_slots() const { return slots() - busy_slots(); }

  /// The fraction of all slots that is idle: (S − 1) / (R·M + S − 1) for S stages, M ≥ S microbatches and R repeats,
  /// and for any M if R is 1 (by groups: if S divides M, or R is 1).
  [[nodiscard]] constexpr double bubble() const {
    return slots() == 0 ? 0 : static_cast<double>(idle_slots()) / static_cast<double>(slots());
  }

 private:
  // The number of microbatches that go through all repeats before others begin.
  [[nodiscard]] constexpr int group() const {
    return order == pipeline_order::all_forward_by_groups ? std::min(microbatches, stages * lanes) : microbatches;
  }

  // The number of ticks from a microbatch's repeat to its next one: it has to pass all stages, and its group goes
  // first.
  [[nodiscard]] constexpr int period() const { return std::max(group(), stages * lanes); }

  [[nodiscard]] constexpr int forward_ticks() const {
    pipeline_work const last{microbatches - 1, repeats - 1, pipeline_phase::forward};
    return tick_of(last, stages - 1, lanes - 1) + 1;
  }

  // Lane l of stage s is s·lanes + l ticks after the first lane, which does its group's repeats period by period.
  [[nodiscard]] constexpr pipeline_work first_pass(int tick, int stage, int lane) const {
    int const since = tick - (stage * lanes + lane);
    if (since < 0) return {};
    int const round = since / period();
    int const in_group = since % period();
    int const microbatch = round / repeats * group() + in_group;
    if (in_group >= group() || microbatch >= microbatches) return {};
    return {microbatch, round % repeats, pipeline_phase::forward};
  }

  // Forward of microbatch m is at s + m while fewer than S − s are under way, then at s + 2m; backward is at 2S − 1 − s
  // + 2m.
  [[nodiscard]] constexpr pipeline_work alternating(int tick, int stage) const {
    int const since = tick - stage;
    int const first = std::min(stages - stage, microbatches);
    if (since >= 0 && since < first) return {since, 0, pipeline_phase::forward};
    if (since >= 2 * first && since % 2 == 0 && since / 2 < microbatches)
      return {since / 2, 0, pipeline_phase::forward};
    int const after = tick - (2 * stages - 1 - stage);
    if (after >= 0 && after % 2 == 0 && after / 2 < microbatches) return {after / 2, 0, pipeline_phase::backward};
    return {};
  }
};

}  // namespace ostraka::planner

namespace ostraka {

/// A way to schedule a pipeline before its sizes are known. Call it with the sizes to get the table.
struct pipeline_rule {
  planner::pipeline_order order = planner::pipeline_order::all_forward;
  bool per_layer = false;  ///< a tick is one of a layer

  /// `pieces`: the number of repeats, or, if each tick runs one layer, the number of layers of a stage.
  /// @pre stages ≥ 1, microbatches ≥ 0, pieces ≥ 1, and 1 for one_forward_one_backward
  [[nodiscard]] constexpr planner::pipeline_schedule operator()(int stages, int microbatches, int pieces = 1) const {
    return {order,
            stages,
            microbatches,
            per_layer ? 1 : pieces,
            per_layer ? pieces : 1,
            order == planner::pipeline_order::one_forward_one_backward};
  }

  friend constexpr bool operator==(pipeline_rule const&, pipeline_rule const&) = default;
};

/// All microbatches forward (and all backward): `os::gpipe(stages, microbatches)`.
inline constexpr pipeline_rule gpipe{};

/// Microbatches go through the stages several times, each time through other layers: `os::circular(stages,
/// microbatches, repeats)`. The smallest bubble for any number of microbatches. With M microbatches over S stages, M −
/// S wait between repeats.
inline constexpr pipeline_rule circular{};

/// The same in groups of as many microbatches as there are stages, so that no microbatch waits. The bubble is equally
/// small if the number of stages divides the number of microbatches.
inline constexpr pipeline_rule circular_by_groups{planner::pipeline_order::all_forward_by_groups};

/// Forward and backward alternate, so that a stage stores the activations of only a few microbatches.
inline constexpr pipeline_rule one_forward_one_backward{planner::pipeline_order::one_forward_one_backward};

/// A tick per layer: `os::tick_per_layer(stages, microbatches, layers of a stage)`. In one tick each layer of a stage
/// works on another microbatch, so the bubble is as large as with one stage per layer.
inline constexpr pipeline_rule tick_per_layer{planner::pipeline_order::all_forward, true};

}  // namespace ostraka
