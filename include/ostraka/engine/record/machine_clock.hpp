// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The clock of a machine that is described, not run. It gets the events of a device and computes the time on
/// that machine. Local work takes as long as its flops or its memory accesses, whichever is longer, plus the unhidden
/// part of the other. The rate of memory depends on all that the operation touches, which a cache may hold. A
/// collective occupies its links once it has started and they are free; it overlaps with the device's computation until
/// the device waits for it.
///
///     starts, all_gather over X   |■■■■■■■■■■■■■■■■■|
///     computes                    |■■■■■■■■■■|
///     finishes                               | waits|  now
///
/// The model assumes that all devices run in step: a device waits for bytes, never for a late device.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <ostraka/engine/record/events.hpp>
#include <ostraka/plan/hardware/check_machine.hpp>
#include <ostraka/plan/hardware/collective_time.hpp>
#include <ostraka/plan/hardware/machine_data.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

class machine_clock {
 public:
  explicit machine_clock(planner::machine const& m) : machine_(m) {}

  struct span {
    double begin = 0;
    double end = 0;
    [[nodiscard]] double seconds() const { return end - begin; }
  };

  /// The collectives of one kind over one set of mesh axes.
  struct collectives {
    collective how = collective::all_gather;
    mesh_axes const* mesh = nullptr;
    std::uint32_t over = 0;
    std::int64_t number = 0;
    double seconds = 0;
  };

  /// Checks that the machine carries messages along every axis of a mesh of several devices, and that its numbers are
  /// possible. @throws ostraka::error
  [[gnu::cold]] void check(std::string_view operation, mesh_axes const* mesh) const {
    planner::check_numbers(operation, machine_);
    event e;
    e.mesh = mesh;
    for (std::size_t a = 0; mesh != nullptr && a < mesh->names.size(); ++a) {
      e.over = std::uint32_t{1} << a;
      used_links const used = links_of(e);
      for (int i = 0; i < used.count; ++i)
        planner::check_links(operation, machine_, used.levels[i].links, mesh->names[a]);
    }
  }

  /// Advances the clock by the device's next event.
  void on_event(event const& e) {
    switch (e.kind) {
      case event_kind::begins:
        return begin(e);
      case event_kind::ends:
        return end();
      case event_kind::computes:
        return compute(e);
      case event_kind::starts:
        started_.push_back({e.number, now_});
        return;
      case event_kind::waits:
        return;  // the time to wait is known at the end
      case event_kind::finishes:
        return finish(e);
    }
  }

  /// Does the same local work `times` times. Adds the times one by one, so that sums are rounded as if each had its own
  /// event.
  void on_events(event const& e, std::int64_t times) {
    if (e.kind != event_kind::computes) {
      for (std::int64_t i = 0; i < times; ++i) on_event(e);
      return;
    }
    double const seconds = seconds_of_work(e);
    for (std::int64_t i = 0; i < times; ++i) local(seconds);
  }

  /// Runs `times` equal collectives, one after the other.
  void on_events(event const& starts, event const& finishes, std::int64_t times) {
    on_event(starts);
    finish(finishes, times);
  }

  [[nodiscard]] double now() const { return now_; }
  [[nodiscard]] double computing() const { return computing_; }          ///< local work, and the overhead of operations
  [[nodiscard]] double communicating() const { return communicating_; }  ///< all collectives, overlapped ones included
  [[nodiscard]] double waiting() const { return waiting_; }              ///< for collectives, with no work meanwhile
  /// Returns the span in which the last collective occupied its links.
  [[nodiscard]] span last_collective() const { return last_; }
  [[nodiscard]] dynamic_array<collectives> const& by_kind() const { return by_kind_; }

 private:
  struct region {
    bool operation;
    double touched_before;
  };
  struct started {
    std::uint64_t number;
    double at;
  };
  // Links that carry one collective at a time: those of a torus' axis, or the link to a switch, which all axes share.
  struct carrier {
    planner::link links;
    mesh_axes const* mesh;
    int axis;
    double free_at;
  };

  void begin(event const& e) {
    bool const within = operations_ > 0;
    bool const operation = e.region == region_kind::operation;
    regions_.push_back({operation, touched_});
    operations_ += operation ? 1 : 0;
    if (operation) touched_ = static_cast<double>(e.memory);
    if (operation && !within && !e.resumed) local(machine_.operation_seconds);
  }

  void end() {
    if (regions_.empty()) return;  // the region began before the clock listened
    operations_ -= regions_.back().operation ? 1 : 0;
    touched_ = regions_.back().touched_before;
    regions_.pop_back();
  }

  void compute(event const& e) { local(seconds_of_work(e)); }

  [[nodiscard]] double seconds_of_work(event const& e) const {
    return planner::local_seconds(machine_, static_cast<double>(e.flops), e.element_bytes,
                                  static_cast<double>(e.memory), touched_);
  }

  void local(double seconds) {
    computing_ += seconds;
    now_ += seconds;
  }

  // Finishes `times` equal collectives. Each starts when the device has waited for the previous one.
  void finish(event const& e, std::int64_t times = 1) {
    double began = now_;
    for (std::size_t i = 0; i < started_.size(); ++i)
      if (started_[i].number == e.number) {
        began = started_[i].at;
        started_[i] = started_.back();
        started_.pop_back();
        break;
      }
    used_links const used = links_of(e);
    for (int i = 0; i < used.count; ++i) began = used.levels[i].links.overlaps ? began : now_;
    for_each_carrier(e, used, [&](carrier const& c) { began = began < c.free_at ? c.free_at : began; });
    double const seconds = e.packed > 0 ? seconds_of_rows(e, used) : seconds_of(e, used.levels, used.count);
    collectives& kind = kind_of(e);
    for (std::int64_t i = 0; i < times; ++i, began = now_) {
      last_ = {began, began + seconds};
      communicating_ += last_.seconds();
      ++kind.number;
      kind.seconds += last_.seconds();
      if (last_.end <= now_) continue;
      waiting_ += last_.end - now_;
      now_ = last_.end;
    }
    for_each_carrier(e, used, [&](carrier& c) { c.free_at = last_.end; });
  }

  // The links of a collective, axis by axis; an axis that spans nodes has two levels.
  struct used_links {
    planner::level levels[planner::machine::max_named]{};
    int axis[planner::machine::max_named]{};
    int count = 0;

    void add(planner::link const& links, int of_axis, std::int64_t ways) {
      if (ways < 2 || count == planner::machine::max_named) return;
      levels[count] = {links, ways};
      axis[count++] = of_axis;
    }
  };

  // A group that belongs to no mesh uses the links of unnamed axes.
  [[nodiscard]] used_links links_of(event const& e) const {
    used_links used;
    if (e.mesh == nullptr) {
      used.add(machine_.links, 0, e.members);
      return used;
    }
    bool const network = machine_.between_nodes.bytes_per_second > 0;
    for (std::size_t a = 0; a < e.mesh->names.size(); ++a) {
      if ((e.over >> a & 1u) == 0) continue;
      int const all = e.mesh->sizes[a];
      int const within = a < e.mesh->within_node.size() && e.mesh->within_node[a] > 0 ? e.mesh->within_node[a] : all;
      planner::link const& links = machine_.along(e.mesh->names[a]);
      if (e.level != mesh_level::between_nodes) used.add(links, static_cast<int>(a), within);
      if (e.level != mesh_level::within_node)
        used.add(network ? machine_.between_nodes : links, static_cast<int>(a), all / within);
    }
    return used;
  }

  template <class F>
  void for_each_carrier(event const& e, used_links const& used, F const& f) {
    for (int i = 0; i < used.count; ++i) {
      planner::link const& links = used.levels[i].links;
      bool const shared = links.shape == planner::link_shape::switched;
      mesh_axes const* const mesh = shared ? nullptr : e.mesh;
      int const axis = shared ? 0 : used.axis[i];
      std::size_t k = 0;
      while (k < carriers_.size() &&
             !(carriers_[k].links == links && carriers_[k].mesh == mesh && carriers_[k].axis == axis))
        ++k;
      if (k == carriers_.size()) carriers_.push_back({links, mesh, axis, 0});
      f(carriers_[k]);
    }
  }

  // Returns the time of messages of rows, which the transport packs, or the schedule if they are long.
  [[nodiscard]] double seconds_of_rows(event const& e, used_links used) const {
    for (int i = 0; i < used.count; ++i) used.levels[i].links = planner::for_rows(used.levels[i].links);
    return seconds_of(e, used.levels, used.count);
  }

  [[nodiscard]] double seconds_of(event const& e, planner::level const* levels, int count) const {
    double const bytes = static_cast<double>(e.bytes);
    switch (e.how) {
      case collective::all_gather:
        return whole(planner::collective::all_gather, e, levels, count);
      case collective::reduce_scatter:
        return whole(planner::collective::reduce_scatter, e, levels, count);
      case collective::all_reduce:
        return whole(planner::collective::all_reduce, e, levels, count);
      case collective::gather:
      case collective::scatter:
        return whole(planner::collective::to_root, e, levels, count);
      case collective::broadcast:  // a scatter and an all-gather of the parts; the root's bytes count each member
        return 2 * planner::seconds(levels, count, planner::collective::all_gather,
                                    bytes / static_cast<double>(e.members > 1 ? e.members - 1 : 1));
      case collective::permute:
        return messages(planner::collective::shift, e, levels, count);
      case collective::halo:
        return messages(planner::collective::permute, e, levels, count);
      case collective::exchange:
        if (e.messages + 1 < e.members) return messages(planner::collective::permute, e, levels, count);
        return whole(planner::collective::all_to_all, e, levels, count);
    }
    return 0;
  }

  // Returns the time of a collective in which all devices take part alike, with the same number of bytes each.
  [[nodiscard]] double whole(planner::collective what, event const& e, planner::level const* levels, int count) const {
    double const bytes = planner::whole_bytes(what, e.members, static_cast<double>(e.bytes));
    return planner::seconds(levels, count, what, bytes) +
           planner::reduction_seconds(machine_, what, e.members, bytes, touched_);
  }

  // Returns the time of messages to single devices: on a ring half of them go each way at once; through a switch they
  // go one after the other.
  [[nodiscard]] double messages(planner::collective what, event const& e, planner::level const* levels,
                                int count) const {
    std::int64_t const n = e.messages > 1 ? e.messages : 1;
    double const each = planner::seconds(levels, count, what, static_cast<double>(e.bytes) / static_cast<double>(n));
    bool switched = false;
    for (int i = 0; i < count; ++i) switched = switched || levels[i].links.shape == planner::link_shape::switched;
    return e.messages == 0 ? 0 : each * static_cast<double>(switched ? n : (n + 1) / 2);
  }

  collectives& kind_of(event const& e) {
    std::size_t i = 0;
    while (i < by_kind_.size() &&
           !(by_kind_[i].how == e.how && by_kind_[i].mesh == e.mesh && by_kind_[i].over == e.over))
      ++i;
    if (i == by_kind_.size()) by_kind_.push_back({e.how, e.mesh, e.over, 0, 0});
    return by_kind_[i];
  }

  planner::machine machine_;
  double now_ = 0;
  double computing_ = 0;
  double communicating_ = 0;
  double waiting_ = 0;
  span last_{};
  int operations_ = 0;
  double touched_ = 0;             // bytes of the blocks of the operation that the device is in, if it reports them
  dynamic_array<region> regions_;  // regions that have begun and not ended
  dynamic_array<started> started_;
  dynamic_array<carrier> carriers_;
  dynamic_array<collectives> by_kind_;
};

}  // namespace ostraka::engine
