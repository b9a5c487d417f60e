// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A pipeline that goes forward and backward, from the view of one stage, by a table that lists both. The last
/// stage computes a microbatch's loss after the last layer, and sends its cotangent back as soon as the table says. A
/// stage stores the operand of its layers from a microbatch's forward to its backward.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ostraka/local_view/pipelines/pipeline_run.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

/// One run on this stage, of a batch that all stages have; the first stage reads its own. `Cotangent` is the type of a
/// microbatch's cotangent.
template <class Block, class Cotangent, class N>
class pipeline_two_ways {
 public:
  /// `of_batch` receives cotangents of the batch on the first stage; nullptr if the caller does not need them.
  pipeline_two_ways(engine::execution_context const& w, planner::pipeline_schedule const& table, Block const& batch,
                    Cotangent const* of_batch)
      : table_(table),
        stage_(static_cast<int>(w.here.at[0])),
        rows_(rows_of_microbatch(table, N::name, batch.extents()[0], false, batch.origins()[0].is_alike(),
                                 ways_of_batch<N, Block>::of(*batch.mesh_handle()))),
        batch_(batch),
        of_batch_(of_batch),
        arrived_(static_cast<std::size_t>(table.microbatches)),
        cotangents_(static_cast<std::size_t>(table.microbatches)),
        kept_(static_cast<std::size_t>(table.repeats * table.microbatches)),
        messages_(engine::instance<space>(), agreed(w.group(planner::mesh_set::first(1)))),
        fault_(w.group(planner::mesh_set::first(1))) {}

  [[nodiscard]] bool is_last() const { return stage_ == table_.stages - 1; }

  /// `forward(h, repeat)` returns this stage's result on a microbatch; `at_end(h, microbatch)` takes its loss and
  /// returns the cotangent of h; `backward(began_with, of_result, repeat)` returns the cotangent of the stage's
  /// operand.
  /// @throws ostraka::error, on all stages alike, if one of these functions throws on one stage
  template <class Forward, class AtEnd, class Backward>
  void run(Forward const& forward, AtEnd const& at_end, Backward const& backward) {
    if (stage_ < 0) return;  // the mesh is elsewhere
    for (int tick = 0; tick < table_.ticks(); ++tick) {
      messages_.arrive(fault_.waiting());
      expect(tick);
      planner::pipeline_work const w = table_.at(tick, stage_);
      count_slot(w.idle());
      if (w.phase == planner::pipeline_phase::forward)
        go_forward(tick, w, forward, at_end);
      else if (w.phase == planner::pipeline_phase::backward)
        go_back(tick, w, backward);
    }
    messages_.arrive(fault_.waiting());
    messages_.arrive(fault_.waiting());  // after this the last messages have been sent, too
    fault_.end("pipeline_loss", "stage");
  }

  /// The rows of a microbatch in a tensor that has the batch's length and division: targets.
  template <class T>
  T rows_of(T const& t, int microbatch) const {
    return part_of_leading_axis<N>(t, microbatch * rows_, rows_);
  }

 private:
  using space = execution_space_type<Block>;
  using element = typename Block::value_type;

  // The stages. In check mode they compare the runs that they are about to begin.
  engine::communicator const& agreed(engine::communicator const& stages) const {
    engine::require_agreement(stages, [&] {
      return join_text("pipeline_loss of ", table_.microbatches, " microbatches with ", rows_, " rows of ", N::name,
                       " each, ", table_.repeats, " repeat(s), order ", static_cast<int>(table_.order),
                       table_.backward ? ", forward and backward" : "");
    });
    return stages;
  }

  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  [[nodiscard]] std::size_t place(planner::pipeline_work const& w) const {
    return at(w.repeat * table_.microbatches + w.microbatch);
  }
  template <class T>
  static std::int64_t size(T const& b) {
    return static_cast<std::int64_t>(b.local().size());
  }

  // Begins to receive what others send in this tick, for the next one: at most one activation and one cotangent.
  void expect(int tick) {
    using planner::pipeline_phase;
    Block const part = part_of_leading_axis<N>(batch_, 0, rows_);
    if (auto const m = planner::received(table_, tick, stage_, pipeline_phase::forward); !m.none()) {
      Block& h = arrived_[at(m.work.microbatch)] = uninitialised_like(part);
      messages_.receive(m.from, h.local().data(), size(h));
    }
    if (auto const m = planner::received(table_, tick, stage_, pipeline_phase::backward); !m.none()) {
      Cotangent& g = cotangents_[at(m.work.microbatch)] =
          make_block_like<Cotangent>(part, part.extents(), part.origins());
      messages_.receive(m.from, g.local().data(), size(g));
    }
  }

  template <class Forward, class AtEnd>
  void go_forward(int tick, planner::pipeline_work const& w, Forward const& forward, AtEnd const& at_end) {
    Block h = std::exchange(arrived_[at(w.microbatch)], Block());
    if (!h.mesh_handle()) h = part_of_leading_axis<N>(batch_, w.microbatch * rows_, rows_);
    if (table_.backward) {
      kept_[place(w)] = h;
      count_stored(++stored_);
    }
    Block made;
    fault_.attempt([&] { made = as_long_as(batch_, rows_, forward(std::move(h), w.repeat)); });
    if (fault_.is_here()) made = zeros_like_microbatch<Block>();
    if (planner::pipeline_message const m = planner::sent(table_, tick, stage_); !m.none()) {
      sent_[tick % 2] = made;  // kept while its message may be on its way
      messages_.send(m.to, made.local().data(), size(made));
    } else if (w.repeat + 1 < table_.repeats) {
      arrived_[at(w.microbatch)] = made;  // a single stage's own next repeat
    } else {
      fault_.attempt([&] { cotangents_[at(w.microbatch)] = at_end(made, w.microbatch); });
    }
  }

  template <class Backward>
  void go_back(int tick, planner::pipeline_work const& w, Backward const& backward) {
    Cotangent const of_result = std::exchange(cotangents_[at(w.microbatch)], Cotangent());
    Cotangent g;
    fault_.attempt([&] { g = backward(std::exchange(kept_[place(w)], Block()), of_result, w.repeat); });
    if (fault_.is_here()) g = zeros_like_microbatch<Cotangent>();
    --stored_;
    if (planner::pipeline_message const m = planner::sent(table_, tick, stage_); !m.none()) {
      sent_back_[tick % 2] = g;
      messages_.send(m.to, g.local().data(), size(g));
    } else if (w.repeat > 0) {
      cotangents_[at(w.microbatch)] = g;
    } else if (of_batch_ != nullptr) {
      auto const rows = part_of_leading_axis<N>(*of_batch_, w.microbatch * rows_, rows_);
      engine::copy_block(engine::instance<space>(), rows.local().data(), elements_of(g), size(g));
    }
  }

  // Takes the place of the result of a stage that has thrown.
  template <class B>
  [[gnu::cold]] B zeros_like_microbatch() const {
    Block const part = part_of_leading_axis<N>(batch_, 0, rows_);
    B const zeros = make_block_like<B>(part, part.extents(), part.origins());
    fill_block("pipeline_loss", zeros, element(0));
    return zeros;
  }

  planner::pipeline_schedule table_;
  int stage_;
  std::int64_t rows_;
  int stored_ = 0;
  Block batch_;
  Cotangent const* of_batch_;
  Block sent_[2];
  Cotangent sent_back_[2];
  dynamic_array<Block> arrived_;         // by microbatch
  dynamic_array<Cotangent> cotangents_;  // cotangents of results, by microbatch
  dynamic_array<Block> kept_;            // by repeat and microbatch
  engine::relay<space, element> messages_;
  engine::shared_fault fault_;
};

}  // namespace ostraka::detail
