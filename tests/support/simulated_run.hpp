// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Tests of floor 2. Schedules run by plain loops on all devices of a mesh (simulated_device.hpp), in turns from
/// message to message. A message takes its elements when it is started; they have to be the same when it is finished.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/plan/lowering/kinds.hpp>
#include <ostraka/plan/lowering/schedule.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>

#include "simulated_device.hpp"

namespace ostraka::testing {

/// The blocks of a tensor on the devices, dense.
inline std::vector<std::vector<std::int64_t>> dense_blocks(sharded_tensor const& t) {
  std::vector<std::vector<std::int64_t>> all(t.block.size());
  for (std::size_t d = 0; d < all.size(); ++d)
    for_each(t.block[d], [&](position const& at) { all[d].push_back(t.device[d][at]); });
  return all;
}

/// Constants under which all moves are fused, and all messages sent in place, however small they are.
inline constexpr planner::machine_constants all_is_worth_it{1, 1, 1, 1 << 20, 1 << 20, 4, 2, 1, 1, 1};

/// The functions of a program whose plan has these kinds; lowering throws if it asks for more.
inline planner::lowering_functions<planner::schedule> lowering_of(unsigned kinds) {
  planner::lowering_functions<planner::schedule> f = planner::every_lowering();
  auto const lacks = [&](unsigned some) { return (kinds & some) != some; };
  using namespace planner::kinds;
  if (lacks(gathers)) f.gather = nullptr, f.contract_gathered = nullptr;
  if (lacks(scatters)) f.scatter = nullptr, f.contract_scattered = nullptr;
  if (lacks(reduces_all)) f.all_reduce = nullptr;
  if (lacks(exchanges)) f.exchange = nullptr;
  if (lacks(rings | gathers)) f.ring_of_gather = nullptr;
  if (lacks(rings | scatters)) f.ring_of_scatter = nullptr;
  return f;
}

/// All devices with one plan. `error` keeps the first fault as a sentence.
class simulated_run {
 public:
  std::string error{};
  std::int64_t moved = 0;  ///< elements, added over all devices
  std::vector<simulated_device> devices{};

  /// Resets the run for so many devices. Call this before you set their blocks.
  void begin(std::size_t count) {
    error.clear();
    moved = 0;
    devices.resize(count);
    for (simulated_device& d : devices) d.error.clear();
  }

  /// Lowers the plan for each device. `order`: the order of the mesh axes on the running mesh.
  template <class Plan>
  void lower(Plan const& plan, planner::decisions const& decided, extents const& e, scalars call, int const* order,
             planner::machine_constants const& machine) {
    for (std::size_t d = 0; d < devices.size(); ++d) {
      simulated_device& device = devices[d];
      planner::viewpoint v;
      v.sizes = e;
      v.here = planner::coordinates_of(static_cast<std::int64_t>(d), mesh_set::first(e.mesh_axes), e);
      for (int m = 0; m < e.mesh_axes; ++m) v.order[m] = order[m];
      v.scales = call.alpha != 1;
      v.adds = call.beta != 0;
      device.here = v;
      device.call = call;
      unsigned const kinds = planner::kinds_of(planner::plan_view(plan));
      planner::lower_to(device.todo, plan, decided, v, 8, machine, lowering_of(kinds));
      device.expect_kinds(kinds);
      device.prepare();
    }
  }

  /// Puts the devices' results together, each with its block in `t`.
  void results_to(sharded_tensor& t) const {
    for (std::size_t d = 0; d < devices.size(); ++d) {
      std::size_t next = 0;
      for_each(t.block[d], [&](position const& at) { t.device[d][at] = devices[d].result[next++]; });
    }
  }

  /// Runs the schedules of all devices, in turns from message to message.
  void run() {
    for (bool more = true; more && error.empty();) {
      more = false;
      for (simulated_device& d : devices) more = d.advance() || more;
      for (std::size_t d = 0; d < devices.size(); ++d) deliver(d);
      for (simulated_device& d : devices) {
        expect(d.error.empty(), d.error.c_str());
        d.under_way = nullptr;
        d.waits = false;
      }
    }
  }

 private:
  void expect(bool fine, char const* sentence) {
    if (!fine && error.empty()) error = sentence;
  }

  // Delivers the message of device `d`.
  void deliver(std::size_t d) {
    simulated_device& me = devices[d];
    if (!me.waits) return expect(me.under_way == nullptr, "a message is started and not finished");
    planner::scheduled_message const& m = *me.under_way;
    std::vector<simulated_device*> members;
    std::size_t number = 0;
    for (std::int64_t k = 0; k < m.members; ++k) {
      members.push_back(&devices[device_at(me.here.member(m.axes, k))]);
      if (members.back() == &me) number = members.size() - 1;
      simulated_device const& other = *members.back();
      expect(other.waits && other.under_way->kind == m.kind && other.under_way->axes == m.axes &&
                 other.under_way->members == m.members,
             "the members of a group start different messages");
    }
    if (!error.empty()) return;
    if (m.kind == step::all_gather)
      gather(me, m, members, number);
    else if (m.kind == step::all_reduce || m.kind == step::reduce_scatter)
      sum(me, m, members, number);
    else
      exchange(me, m, members, number);
  }

  void gather(simulated_device& me, planner::scheduled_message const& m, std::vector<simulated_device*> const& members,
              std::size_t number) {
    std::int64_t next = 0;
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (k == number && m.own_left_out) continue;
      std::vector<std::int64_t> const& part = members[k]->sent[0];
      expect(static_cast<std::int64_t>(part.size()) == me.count_of(m, static_cast<std::int64_t>(k)),
             "a part is longer or shorter than its receiver thinks");
      for (std::int64_t const v : part) me.at(m.received, next++) = v;
      if (k != number) moved += static_cast<std::int64_t>(part.size());
    }
  }

  void sum(simulated_device& me, planner::scheduled_message const& m, std::vector<simulated_device*> const& members,
           std::size_t number) {
    bool const scatters = m.kind == step::reduce_scatter;
    for (std::int64_t n = 0; n < m.own; ++n) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < members.size(); ++k) {
        if (k == number && m.own_left_out) continue;
        std::int64_t begin = 0;
        for (std::size_t other = 0; scatters && other < number; ++other)
          if (other != k || !m.own_left_out) begin += me.count_of(m, static_cast<std::int64_t>(other));
        std::size_t const at = static_cast<std::size_t>(begin + n);
        expect(at < members[k]->sent[0].size(), "a member sends too little");
        if (!error.empty()) return;
        sum += members[k]->sent[0][at];
      }
      me.write(me.at(m.received, n), sum, m.into);
    }
    std::int64_t const others = static_cast<std::int64_t>(members.size()) - 1;
    if (scatters) moved += others * m.own;
    if (!scatters && number == 0) moved += 2 * others * m.own;
  }

  void exchange(simulated_device& me, planner::scheduled_message const& m,
                std::vector<simulated_device*> const& members, std::size_t number) {
    std::size_t sent = 0;
    for (simulated_device const* other : members) sent += other->sent[number].size();
    for (int k = m.first_part; k < m.first_part + m.parts; ++k) {
      planner::message_part const& p = me.todo.parts[static_cast<std::size_t>(k)];
      expect(p.member != static_cast<std::int64_t>(number), "a device sends itself a message");
      std::vector<std::int64_t> const& part = members[static_cast<std::size_t>(p.member)]->sent[number];
      expect(static_cast<std::int64_t>(part.size()) == p.received.where.size(),
             "a part is longer or shorter than its receiver thinks");
      if (!error.empty()) return;
      std::size_t next = 0;
      simulated_device::for_each_element(p.received,
                                         [&](position const& n) { me.at_index(p.received, n) = part[next++]; });
      moved += static_cast<std::int64_t>(part.size());
      sent -= part.size();
    }
    expect(sent == 0, "a member sends what its receiver does not wait for");
  }

  [[nodiscard]] std::size_t device_at(planner::coordinates const& c) const {
    extents const& e = devices[0].here.sizes;
    std::int64_t n = 0;
    for (int m = 0; m < e.mesh_axes; ++m) n = n * e.mesh[m] + c.at[m];
    return static_cast<std::size_t>(n);
  }
};

}  // namespace ostraka::testing
