// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Schedules of pipelines for 1 to 8 stages, 0 to 12 microbatches, 1 to 3 repeats or layers per stage, forward alone
/// and with backward: each work once, none before its operands, the bubble of the literature, and slot by slot, message
/// by message and activation by activation the results of a simulation by events.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <ostraka/plan/pipeline/describe_pipeline.hpp>
#include <ostraka/plan/pipeline/feeding.hpp>
#include <ostraka/plan/pipeline/messages.hpp>

#include "event_simulation.hpp"

using namespace ostraka::testing;
namespace os = ostraka;
using os::planner::pipeline_message;
using os::planner::pipeline_order;
using os::planner::pipeline_phase;
using os::planner::pipeline_schedule;
using os::planner::pipeline_work;

namespace {

constexpr int most_stages = 8;
constexpr int most_microbatches = 12;
constexpr int most_pieces = 3;

constexpr std::array rules{os::gpipe, os::circular, os::circular_by_groups, os::one_forward_one_backward,
                           os::tick_per_layer};
constexpr char const* names[] = {"gpipe", "circular", "circular_by_groups", "one_forward_one_backward",
                                 "tick_per_layer"};

// Calls f(schedule, name of its rule) for every schedule of the sweep.
template <class F>
constexpr void for_each_schedule(int stages, int microbatches, int pieces, F f) {
  for (std::size_t k = 0; k < rules.size(); ++k)
    for (int s = 1; s <= stages; ++s)
      for (int m = 0; m <= microbatches; ++m)
        for (int p = 1; p <= (k == 0 || k == 3 ? 1 : pieces); ++p) {
          f(rules[k](s, m, p), names[k]);
          if (k != 3) f(rules[k](s, m, p).with_backward(), names[k]);
          if (k == 4) {  // several layers at once, and several repeats
            pipeline_schedule both = rules[k](s, m, p);
            both.repeats = 2;
            f(both, names[k]);
            f(both.with_backward(), names[k]);
          }
        }
}

// The tick in which a work is done, found by looking through the table; −1 if never, −2 if more than once.
constexpr int found(pipeline_schedule const& s, pipeline_work const& w, int stage, int lane) {
  int tick = -1;
  for (int t = 0; t < s.ticks(); ++t)
    if (s.at(t, stage, lane) == w) tick = tick == -1 ? t : -2;
  return tick;
}

// Every work is done once, where tick_of says, and after what it needs. Nothing else is done.
constexpr bool test_order(pipeline_schedule const& s) {
  std::int64_t works = 0;
  int const layers = s.stages * s.lanes;
  for (int m = 0; m < s.microbatches; ++m)
    for (int phase = 1; phase <= (s.backward ? 2 : 1); ++phase) {
      bool const back = phase == 2;
      int before = -1;
      for (int k = 0; k < s.repeats * layers; ++k) {  // the way of a microbatch through all layers
        int const at = back ? s.repeats * layers - 1 - k : k;
        int const stage = at % layers / s.lanes;
        int const lane = at % s.lanes;
        pipeline_work w{m, at / layers, pipeline_phase::forward};
        int const forward = found(s, w, stage, lane);
        if (back) w.phase = pipeline_phase::backward;
        int const tick = back ? found(s, w, stage, lane) : forward;
        if (tick <= before || s.tick_of(w, stage, lane) != tick || (back && tick <= forward)) return false;
        before = tick;
        ++works;
      }
    }
  std::int64_t busy = 0;
  for (int t = 0; t < s.ticks(); ++t)
    for (int stage = 0; stage < s.stages; ++stage)
      for (int lane = 0; lane < s.lanes; ++lane) busy += s.at(t, stage, lane).idle() ? 0 : 1;
  return works == busy && busy == s.busy_slots() && s.slots() - busy == s.idle_slots();
}

// (S − 1) / (R·M + S − 1) of all slots are idle, with S the stages, or the layers where a tick is one of a layer.
constexpr bool test_bubble(pipeline_schedule const& s) {
  std::int64_t const stages = s.stages * s.lanes;
  std::int64_t const m = s.microbatches;
  bool const by_groups = s.order == pipeline_order::all_forward_by_groups;
  if (m == 0) return s.ticks() == 0 && s.bubble() == 0;
  if (s.repeats > 1 && (m < stages || (by_groups && m % stages != 0)))
    return s.idle_slots() * (s.repeats * m + stages - 1) >= (stages - 1) * s.slots();
  return s.idle_slots() * (s.repeats * m + stages - 1) == (stages - 1) * s.slots();
}

constexpr bool test_while_compiling() {
  bool good = true;
  for_each_schedule(2, 2, 2,
                    [&](pipeline_schedule const& s, char const*) { good = good && test_order(s) && test_bubble(s); });
  return good;
}

constexpr bool test_by_hand() {
  constexpr auto forward = pipeline_phase::forward;
  constexpr auto backward = pipeline_phase::backward;
  // 12 layers on 4 stages, 8 microbatches: 3 of 11 ticks idle; 24 layers in 2 repeats: 3 of 19.
  bool good = os::gpipe(4, 8).ticks() == 11 && os::circular(4, 8, 2).ticks() == 19;
  good = good && os::gpipe(4, 8).at(3, 1) == pipeline_work{2, 0, forward} && os::gpipe(4, 8).at(2, 3).idle();
  good = good && os::circular(4, 8, 2).at(8, 0) == pipeline_work{0, 1, forward};
  // The tutorial's: 4 layers on 2 stages, 4 microbatches: 7 ticks of a layer for 5 of a stage.
  good = good && os::tick_per_layer(2, 4, 2).ticks() == 7 && os::gpipe(2, 4).ticks() == 5;
  // Activations kept: all 8 microbatches, or as many as there are stages from here on.
  constexpr auto gpipe = os::gpipe(4, 8).with_backward();
  constexpr auto turns = os::one_forward_one_backward(4, 8);
  good = good && gpipe.ticks() == 22 && turns.ticks() == 22 && turns.at(7, 3) == pipeline_work{2, 0, forward};
  good = good && turns.at(4, 3) == pipeline_work{0, 0, backward};
  for (int s = 0; s < 4; ++s) good = good && activations_stored(gpipe, s) == 8 && activations_stored(turns, s) == 4 - s;
  // Between repeats 8 − 4 microbatches wait on the first stage, none by groups.
  good = good && messages_waiting(os::circular(4, 8, 2), 0) == 4 && messages_waiting(os::circular(4, 8, 2), 1) == 0 &&
         messages_waiting(os::circular_by_groups(4, 8, 2), 0) == 0 && os::circular_by_groups(4, 8, 2).ticks() == 19;
  // 3 boundaries, or 7 with the way round, for 8 microbatches.
  return good && bytes_sent(os::gpipe(4, 8), 100) == 2400 && bytes_sent(os::circular(4, 8, 2), 100) == 5600 &&
         bytes_sent(gpipe, 100) == 4800 && bytes_sent(os::gpipe(1, 8), 100) == 0;
}

static_assert(test_while_compiling());
static_assert(test_by_hand());

std::string text_of(pipeline_schedule const& s, char const* name) {
  return std::string(name) + ", " + std::to_string(s.stages) + " stages, " + std::to_string(s.microbatches) +
         " microbatches, " + std::to_string(s.repeats) + " repeats, " + std::to_string(s.lanes) + " lanes" +
         (s.backward ? ", backward" : "");
}

// The difference from the simulation by events, or "".
std::string difference(pipeline_schedule const& s) {
  auto const order = s.order == pipeline_order::one_forward_one_backward ? work_order::alternating
                     : s.order == pipeline_order::all_forward_by_groups  ? work_order::groups
                                                                         : work_order::all_forward;
  event_simulation const run(order, s.stages, s.lanes, s.microbatches, s.repeats, s.backward);
  if (run.stuck()) return "the simulation is stuck";
  if (run.ticks() != s.ticks()) return "ticks";
  std::set<pipeline_event> events;
  std::set<pipeline_delivery> deliveries;
  for (int t = 0; t < s.ticks(); ++t)
    for (int stage = 0; stage < s.stages; ++stage) {
      for (int lane = 0; lane < s.lanes; ++lane)
        if (pipeline_work const w = s.at(t, stage, lane); !w.idle())
          events.insert({t, stage * s.lanes + lane, w.microbatch, w.repeat, w.phase == pipeline_phase::backward});
      pipeline_message const m = sent(s, t, stage);
      if (m.none()) continue;
      if (received(s, t, m.to, m.work.phase) != m) return "the receiver does not know of a message";
      deliveries.insert({t, m.from, m.to, m.work.microbatch, m.work.repeat, m.work.phase == pipeline_phase::backward});
    }
  if (events != run.events()) return "slots";
  if (deliveries != run.deliveries()) return "messages";
  if (messages(s) != static_cast<std::int64_t>(deliveries.size())) return "number of messages";
  for (int stage = 0; stage < s.stages; ++stage) {
    if (activations_stored(s, stage) != run.most_stored(stage)) return "activations stored";
    if (messages_waiting(s, stage) != run.most_waiting(stage)) return "messages waiting";
  }
  return {};
}

}  // namespace

TEST_CASE("schedules by hand") { CHECK(test_by_hand()); }

TEST_CASE("each work is done once, after what it needs, and the bubble is the literature's") {
  int schedules = 0;
  for_each_schedule(most_stages, most_microbatches, most_pieces, [&](pipeline_schedule const& s, char const* name) {
    INFO(text_of(s, name));
    CHECK(test_order(s));
    CHECK(test_bubble(s));
    ++schedules;
  });
  CHECK(schedules == 8 * 13 * (2 + 6 + 6 + 1 + 12));
}

TEST_CASE("slots, messages and what stages keep are those of a simulation by events") {
  for_each_schedule(most_stages, most_microbatches, most_pieces, [&](pipeline_schedule const& s, char const* name) {
    INFO(text_of(s, name));
    CHECK(difference(s) == "");
  });
}

TEST_CASE("what stages keep, in closed form") {
  for (int stages = 1; stages <= most_stages; ++stages)
    for (int m = 0; m <= most_microbatches; ++m)
      for (int stage = 0; stage < stages; ++stage) {
        CHECK(activations_stored(os::one_forward_one_backward(stages, m), stage) == std::min(stages - stage, m));
        CHECK(activations_stored(os::gpipe(stages, m).with_backward(), stage) == m);
        CHECK(messages_waiting(os::gpipe(stages, m), stage) == 0);
        CHECK(messages_waiting(os::circular_by_groups(stages, m, 3), stage) == 0);
        CHECK(messages_waiting(os::circular(stages, m, 3), stage) ==
              (stage == 0 && stages > 1 ? std::max(m - stages, 0) : 0));
      }
}

TEST_CASE("each microbatch comes from its home in time and its result goes there") {
  for_each_schedule(most_stages, most_microbatches, most_pieces, [&](pipeline_schedule const& s, char const* name) {
    INFO(text_of(s, name));
    // Homes by dealing out: stage d has the microbatches from ⌊d·M/S⌋ up to ⌊(d+1)·M/S⌋.
    std::vector<int> home;
    for (int d = 0; d < s.stages; ++d) home.resize((d + 1) * s.microbatches / s.stages, d);
    std::vector<int> fed_to(s.microbatches, 0), sent_home(s.microbatches, 0);
    for (int t = 0; t < s.ticks(); ++t) {
      if (pipeline_message const m = fed(s, t); !m.none()) {
        CHECK((m.from == home[m.work.microbatch] && m.to == 0 && s.at(t, 0) == m.work));
        ++fed_to[m.work.microbatch];
      }
      if (pipeline_message const m = drained(s, t); !m.none()) {
        CHECK((m.from == s.stages - 1 && m.to == home[m.work.microbatch]));
        CHECK((s.at(t, m.from, s.lanes - 1) == m.work && m.work.repeat == s.repeats - 1));
        ++sent_home[m.work.microbatch];
      }
    }
    int in = 0, out = 0;
    for (int m = 0; m < s.microbatches; ++m) {
      CHECK(home_of(s, m) == home[m]);
      CHECK(fed_to[m] == (home[m] == 0 ? 0 : 1));
      CHECK(sent_home[m] == (home[m] == s.stages - 1 ? 0 : 1));
      in += fed_to[m], out += sent_home[m];
    }
    CHECK(messages_fed(s) == in);
    CHECK(messages_drained(s) == out);
  });
}

TEST_CASE("the table as it is drawn") {
  CHECK(os::describe(os::gpipe(2, 3).with_backward()) ==
        "stage 0  F0 F1 F2 .  .  B2 B1 B0\n"
        "stage 1  .  F0 F1 F2 B2 B1 B0 .\n");
  CHECK(os::describe(os::one_forward_one_backward(2, 3)) ==
        "stage 0  F0 F1 .  B0 F2 B1 .  B2\n"
        "stage 1  .  F0 B0 F1 B1 F2 B2 .\n");
  CHECK(os::describe(os::circular(2, 2, 2)) ==
        "stage 0  F0.0 F1.0 F0.1 F1.1 .\n"
        "stage 1  .    F0.0 F1.0 F0.1 F1.1\n");
  CHECK(os::describe(os::tick_per_layer(2, 1, 2)) ==
        "stage 0, layer 0  F0 .  .  .\n"
        "stage 0, layer 1  .  F0 .  .\n"
        "stage 1, layer 0  .  .  F0 .\n"
        "stage 1, layer 1  .  .  .  F0\n");
  CHECK(os::describe(os::gpipe(2, 0)) == "stage 0\nstage 1\n");
}
