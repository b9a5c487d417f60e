// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The oracle for schedules of pipelines, by events instead of formulas: every worker (a stage, or a layer if a tick is
/// one of a layer) has a list of its work, in the order that the literature draws, and in each tick it does the next
/// item if its operands have arrived in an earlier tick. The simulation observes messages, and what stages keep.

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace ostraka::testing {

struct pipeline_event {
  int tick, worker, microbatch, repeat;
  bool backward;
  friend auto operator<=>(pipeline_event const&, pipeline_event const&) = default;
};

struct pipeline_delivery {
  int tick, from, to, microbatch, repeat;
  bool backward;
  friend auto operator<=>(pipeline_delivery const&, pipeline_delivery const&) = default;
};

enum class work_order { all_forward, groups, alternating };

class event_simulation {
 public:
  event_simulation(work_order order, int stages, int lanes, int microbatches, int repeats, bool backward)
      : stages_(stages), lanes_(lanes), microbatches_(microbatches), repeats_(repeats), both_(backward) {
    workers_ = stages * lanes;
    for (int w = 0; w < workers_; ++w) todo_.push_back(list_of(order, w));
    stored_.resize(stages), waiting_.resize(stages), most_stored_.resize(stages), most_waiting_.resize(stages);
    run();
  }

  std::set<pipeline_event> const& events() const { return events_; }
  std::set<pipeline_delivery> const& deliveries() const { return deliveries_; }
  int ticks() const { return ticks_; }
  bool stuck() const { return stuck_; }
  int most_stored(int stage) const { return most_stored_[stage]; }
  int most_waiting(int stage) const { return most_waiting_[stage]; }

 private:
  struct task {
    int microbatch, repeat;
    bool backward;
  };

  std::vector<task> list_of(work_order order, int worker) const {
    std::vector<task> list;
    if (order == work_order::alternating) {
      int forward = 0, back = 0;
      for (; forward < std::min(microbatches_, stages_ - worker); ++forward) list.push_back({forward, 0, false});
      while (back < microbatches_) {
        list.push_back({back++, 0, true});
        if (forward < microbatches_) list.push_back({forward++, 0, false});
      }
      return list;
    }
    int const group = order == work_order::groups ? workers_ : std::max(microbatches_, 1);
    for (int begin = 0; begin < microbatches_; begin += group)
      for (int r = 0; r < repeats_; ++r)
        for (int m = begin; m < std::min(begin + group, microbatches_); ++m) list.push_back({m, r, false});
    if (both_)
      for (int k = static_cast<int>(list.size()) - 1; k >= 0; --k)
        list.push_back({list[k].microbatch, list[k].repeat, true});
    return list;
  }

  // The worker and task whose result this one takes; worker −1 for inputs from outside.
  std::pair<int, task> source_of(int worker, task t) const {
    if (!t.backward) {
      if (worker > 0) return {worker - 1, t};
      return t.repeat > 0 ? std::pair{workers_ - 1, task{t.microbatch, t.repeat - 1, false}} : std::pair{-1, t};
    }
    if (worker + 1 < workers_) return {worker + 1, t};
    return t.repeat + 1 < repeats_ ? std::pair{0, task{t.microbatch, t.repeat + 1, true}} : std::pair{-1, t};
  }

  bool done_before(int tick, int worker, task t) const {
    auto const found = done_.find({worker, t.microbatch, t.repeat, t.backward});
    return found != done_.end() && found->second < tick;
  }

  bool ready(int tick, int worker, task t) const {
    if (t.backward && !done_before(tick, worker, {t.microbatch, t.repeat, false})) return false;
    auto const [from, source] = source_of(worker, t);
    return from < 0 || done_before(tick, from, source);
  }

  void run() {
    std::vector<std::size_t> next(workers_, 0);
    for (int tick = 0; !stuck_; ++tick) {
      std::vector<pipeline_event> now;
      bool finished = true;
      for (int w = 0; w < workers_; ++w) {
        if (next[w] == todo_[w].size()) continue;
        finished = false;
        task const t = todo_[w][next[w]];
        if (!ready(tick, w, t)) continue;
        ++next[w];
        now.push_back({tick, w, t.microbatch, t.repeat, t.backward});
      }
      if (finished) return;
      stuck_ = now.empty();
      ticks_ = tick + 1;
      account(now);
    }
  }

  void account(std::vector<pipeline_event> const& now) {
    using key = std::tuple<int, int, int, bool>;
    std::vector<std::vector<key>> ends(stages_), arrives(stages_);
    for (auto const& e : now) {
      int const stage = e.worker / lanes_;
      done_[{e.worker, e.microbatch, e.repeat, e.backward}] = e.tick;
      events_.insert(e);
      waiting_[stage].erase({e.worker, e.microbatch, e.repeat, e.backward});
      if (!e.backward) stored_[stage].insert({e.worker, e.microbatch, e.repeat, false});
      if (e.backward || !both_) ends[stage].push_back({e.worker, e.microbatch, e.repeat, false});
      // Finds the worker that continues with it.
      for (int w = 0; w < workers_; ++w)
        for (int r = 0; r < repeats_; ++r) {
          auto const [from, source] = source_of(w, {e.microbatch, r, e.backward});
          if (from != e.worker || source.repeat != e.repeat || w / lanes_ == stage) continue;
          deliveries_.insert({e.tick, stage, w / lanes_, e.microbatch, e.repeat, e.backward});
          arrives[w / lanes_].push_back({w, e.microbatch, r, e.backward});
        }
    }
    for (int s = 0; s < stages_; ++s) {
      most_stored_[s] = std::max(most_stored_[s], static_cast<int>(stored_[s].size()));
      most_waiting_[s] = std::max(most_waiting_[s], static_cast<int>(waiting_[s].size()));
      for (auto const& k : ends[s]) stored_[s].erase(k);
      for (auto const& k : arrives[s]) waiting_[s].insert(k);
    }
  }

  int stages_, lanes_, microbatches_, repeats_, workers_ = 0, ticks_ = 0;
  bool both_, stuck_ = false;
  std::vector<std::vector<task>> todo_;
  std::map<std::tuple<int, int, int, bool>, int> done_;
  std::vector<std::set<std::tuple<int, int, int, bool>>> stored_, waiting_;
  std::vector<int> most_stored_, most_waiting_;
  std::set<pipeline_event> events_;
  std::set<pipeline_delivery> deliveries_;
};

}  // namespace ostraka::testing
