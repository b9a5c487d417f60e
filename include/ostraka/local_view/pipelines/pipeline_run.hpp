// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A pipeline from the view of one stage. In each tick it takes the microbatch that has arrived, does the work
/// in the table, and sends the result on. All stages know the table, so each knows what the others send.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <ostraka/blocks/fill.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/engine/blocks/dense.hpp>
#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/moves/relay.hpp>
#include <ostraka/engine/spmd/shared_fault.hpp>
#include <ostraka/local_view/pipelines/pipeline_operands.hpp>
#include <ostraka/local_view/pipelines/pipeline_slots.hpp>
#include <ostraka/plan/pipeline/feeding.hpp>
#include <ostraka/plan/pipeline/messages.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

[[noreturn, gnu::cold]] inline void throw_pipeline(std::string const& why) { throw_error("pipeline: ", why); }

[[noreturn, gnu::cold]] inline void throw_stages_differ(std::string_view layers) {
  throw_pipeline(join_text("with a tick per layer all stages have as many layers, and ", layers,
                           " was divided unevenly; choose os::gpipe, whose stages may differ, or pad the layers"));
}

// The number of devices over which the batch of a block is divided.
template <class N, class Block>
struct ways_of_batch {
  static int of(engine::device_mesh const&) { return 1; }
};
template <class N, class T, class... Entries, class Space>
struct ways_of_batch<N, basic_tensor<T, sharding<Entries...>, Space>> {
  template <class... Ms>
  static int entry(engine::device_mesh const& mesh, type_list<over<N, Ms...>>) {
    return (1 * ... * mesh.size(mesh.find(Ms::name)));
  }
  template <class Entry>
  static int entry(engine::device_mesh const&, type_list<Entry>) {
    return 1;
  }
  static int of(engine::device_mesh const& mesh) { return (1 * ... * entry(mesh, type_list<Entries>{})); }
};

/// The rows of a microbatch. The batch has `own` rows on this stage, which are divided over `devices` devices; each of
/// these contributes its part of every microbatch. @throws ostraka::error, on all devices alike
inline std::int64_t rows_of_microbatch(planner::pipeline_schedule const& s, std::string_view axis, std::int64_t own,
                                       bool divided, bool alike, int devices) {
  std::string const n(axis);
  if (s.microbatches < 1)
    throw_pipeline(
        join_text("a batch has one microbatch or more, not ", s.microbatches, "; give os::microbatches = 8"));
  if (!alike)
    throw_pipeline(join_text("all stages have as many rows of ", n,
                             ", which was divided unevenly; choose an extent that the mesh axes divide"));
  if (divided && s.microbatches % s.stages != 0)
    throw_pipeline(join_text("as many microbatches of ", n, " are at home on each stage, and ", s.microbatches,
                             " are divided over ", s.stages,
                             " stages; choose a multiple, or do not divide the batch over the stages"));
  std::int64_t const rows = divided ? own * s.stages : own;
  if (rows % s.microbatches != 0)
    throw_pipeline(join_text("microbatches divide ", n, " evenly, and ", rows, " rows are cut in ", s.microbatches,
                             "; choose another number, or pad the batch"));
  if (rows / s.microbatches % devices != 0)
    throw_pipeline(join_text("each device has as much of every microbatch, and ", rows / s.microbatches, " rows of ", n,
                             " are divided over ", devices, " devices; choose fewer microbatches, or pad the batch"));
  return rows / s.microbatches;
}

/// Checks that a layer's result has the extents of a microbatch, so that it can be sent on as one.
template <class Block>
Block const& as_long_as(Block const& batch, std::int64_t rows, Block const& made) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(Block::rank); ++i)
    if (made.extents()[i] != (i == 0 ? rows : batch.extents()[i]))
      throw_pipeline(join_text("a layer's result is as long as its input, so that the next takes it, but axis number ",
                               i, " is ", made.extents()[i], "; give layers parameters of equal extents in and out"));
  return made;
}

/// The direction through the stages: backwards begins with the last stage, and with the last microbatch.
enum class pipeline_way : std::uint8_t { forwards, backwards };

/// One run on this stage, of blocks whose first axis N is the batch. `Divided`: each stage is the home of its rows;
/// otherwise all have the whole batch, the first stage reads its own, and all get the whole result. Backwards stages,
/// microbatches, repeats and lanes are counted from their ends, and the table is the same. A result that is not divided
/// then stays where it was made, and is zero on the other stages: they hold summands.
template <class Block, class N, bool Divided>
class pipeline_run {
 public:
  pipeline_run(engine::execution_context const& w, planner::pipeline_schedule const& table, Block const& given,
               pipeline_way way = pipeline_way::forwards)
      : table_(table),
        way_(way),
        stage_(numbered(static_cast<int>(w.here.at[0]))),
        rows_(rows_of_microbatch(table, N::name, given.extents()[0], Divided, given.origins()[0].is_alike(),
                                 ways_of_batch<N, Block>::of(*given.mesh_handle()))),
        batch_(given),
        result_(uninitialised_like(given)),
        arrived_(static_cast<std::size_t>(table.microbatches)),
        made_(static_cast<std::size_t>(table.lanes) + 1),
        messages_(engine::instance<space>(), agreed(w.group(planner::mesh_set::first(1)))),
        fault_(w.group(planner::mesh_set::first(1))) {}

  /// `work(block, lane, repeat, microbatch)` returns the result of a lane of this stage on a microbatch.
  /// @throws ostraka::error, on all stages alike, if the work of one throws
  template <class Work>
  Block run(Work const& work) {
    if (stage_ < 0) return result_;  // the mesh is elsewhere
    if constexpr (!Divided)
      if (is_backwards() && stage_ != last()) fill_block("pipeline", result_, element(0));
    for (int tick = -1; tick < table_.ticks(); ++tick) {  // tick −1 only feeds the first tick
      messages_.arrive(fault_.waiting());
      feed(tick + 1);
      if (tick < 0) continue;
      expect(tick);
      for (int lane = table_.lanes - 1; lane >= 0; --lane) {
        planner::pipeline_work const w = table_.at(tick, stage_, lane);
        count_slot(w.idle());
        if (!w.idle()) do_work(work, w, lane);
      }
      propagate(tick);
    }
    messages_.arrive(fault_.waiting());
    fault_.end("pipeline", "stage");
    if constexpr (!Divided)
      if (!is_backwards()) spread();
    return result_;
  }

 private:
  using space = execution_space_type<Block>;
  using element = typename Block::value_type;

  // The stages. In check mode they compare the runs that they are about to begin.
  engine::communicator const& agreed(engine::communicator const& stages) const {
    engine::require_agreement(stages, [&] {
      return join_text("pipeline of ", table_.microbatches, " microbatches with ", rows_, " rows of ", N::name,
                       " each, ", table_.repeats, " repeat(s), ", table_.lanes, " layer(s) a tick, order ",
                       static_cast<int>(table_.order), Divided ? ", divided over the stages" : "",
                       is_backwards() ? ", backwards" : "");
    });
    return stages;
  }

  template <class Work>
  void do_work(Work const& work, planner::pipeline_work const& w, int lane) {
    Block& made = made_[at(lane + 1)];
    auto const given = [&]() -> Block { return lane > 0 ? made_[at(lane)] : taken(w.microbatch); };
    fault_.attempt([&] {
      made = as_long_as(batch_, rows_,
                        is_backwards() ? work(given(), table_.lanes - 1 - lane, table_.repeats - 1 - w.repeat,
                                              table_.microbatches - 1 - w.microbatch)
                                       : work(given(), lane, w.repeat, w.microbatch));
    });
    if (fault_.is_here()) made = zero_microbatch();
  }

  // Takes the place of the result of a stage that has thrown.
  [[gnu::cold]] Block zero_microbatch() const {
    Block const zero = uninitialised_like(part_of_leading_axis<N>(batch_, 0, rows_));
    fill_block("pipeline", zero, element(0));
    return zero;
  }

  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  [[nodiscard]] int last() const { return table_.stages - 1; }
  [[nodiscard]] int home(int microbatch) const { return Divided ? planner::home_of(table_, microbatch) : last(); }

  // Converts a stage's number between the mesh and this direction. A device outside the mesh has no number.
  [[nodiscard]] int numbered(int stage) const { return is_backwards() && stage >= 0 ? last() - stage : stage; }
  [[nodiscard]] bool is_backwards() const { return way_ == pipeline_way::backwards; }

  // A microbatch of a block that holds the microbatches of this stage's home rows.
  Block at_home(Block const& whole, int microbatch) const {
    int const count = Divided ? table_.microbatches / table_.stages : table_.microbatches;
    int const place = microbatch - (Divided ? count * stage_ : 0);
    return part_of_leading_axis<N>(whole, (is_backwards() ? count - 1 - place : place) * rows_, rows_);
  }

  static std::int64_t size(Block const& b) { return static_cast<std::int64_t>(b.local().size()); }
  void send(int to, Block const& b) { messages_.send(numbered(to), b.local().data(), size(b)); }
  void receive(int from, Block const& b) { messages_.receive(numbered(from), b.local().data(), size(b)); }
  Block& make_arrive(int microbatch) {
    return arrived_[at(microbatch)] = uninitialised_like(part_of_leading_axis<N>(batch_, 0, rows_));
  }

  // Sends the microbatch that the first stage begins in this tick from its home.
  void feed(int tick) {
    if constexpr (Divided) {
      planner::pipeline_message const m = planner::fed(table_, tick);
      if (m.to == stage_) receive(m.from, make_arrive(m.work.microbatch));
      if (m.from == stage_) send(m.to, at_home(batch_, m.work.microbatch));
    }
  }

  // Begins to receive what others send in this tick, for the next one.
  void expect(int tick) {
    planner::pipeline_message const m = planner::received(table_, tick, stage_, planner::pipeline_phase::forward);
    if (!m.none()) receive(m.from, make_arrive(m.work.microbatch));
    if (int const done = finished(tick); done >= 0 && stage_ == home(done) && stage_ != last())
      receive(last(), at_home(result_, done));
  }

  // The operand of this stage: the block that another stage sent, or its own.
  Block taken(int microbatch) {
    Block b = std::exchange(arrived_[at(microbatch)], Block());
    return b.mesh_handle() ? b : at_home(batch_, microbatch);
  }

  // The microbatch that the last stage finishes in this tick, or −1.
  [[nodiscard]] int finished(int tick) const {
    planner::pipeline_work const w = table_.at(tick, last(), table_.lanes - 1);
    return w.idle() || w.repeat + 1 < table_.repeats ? -1 : w.microbatch;
  }

  void propagate(int tick) {
    Block const& made = made_[made_.size() - 1];
    planner::pipeline_work const w = table_.at(tick, stage_, table_.lanes - 1);
    if (w.idle()) return;
    sent_[tick % 2] = made;  // kept while its message may be on its way
    if (planner::pipeline_message const m = planner::sent(table_, tick, stage_); !m.none()) {
      send(m.to, made);
    } else if (stage_ == last()) {
      if (w.repeat + 1 < table_.repeats)
        arrived_[at(w.microbatch)] = made;  // a single stage's own next repeat
      else if (home(w.microbatch) != stage_)
        send(home(w.microbatch), made);
      else
        engine::copy_block(engine::instance<space>(), at_home(result_, w.microbatch).local().data(), elements_of(made),
                           size(made));
    }
  }

  // Sends the last stage's result to all, along a tree.
  void spread() {
    int const place = (stage_ + 1) % table_.stages;
    for (int step = 1; step < table_.stages; step *= 2) {
      if (place < step && place + step < table_.stages) send((place + step - 1) % table_.stages, result_);
      if (place >= step && place < 2 * step) receive((place - step + last()) % table_.stages, result_);
      messages_.arrive();
    }
  }

  planner::pipeline_schedule table_;
  pipeline_way way_;
  int stage_;  // in the order of this direction
  std::int64_t rows_;
  Block batch_, result_;
  Block sent_[2];
  dynamic_array<Block> arrived_;  // by microbatch
  dynamic_array<Block> made_;     // by lane, each the operand of the next; the last is the stage's result
  engine::relay<space, element> messages_;
  engine::shared_fault fault_;
};

}  // namespace ostraka::detail
