// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// timeout: 300

/// @file
/// Every sharding on one mesh to every sharding on another, simulated by loops: the same processes in another order,
/// fewer, more. The moved elements are those that processes need and do not have; holders of the same block take turns;
/// no other reduction of summands is cheaper.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <ostraka/plan/reshard/between_meshes.hpp>
#include <support/simulated_mesh.hpp>

#include "plan/every_spec.hpp"

using namespace ostraka::testing;
using ostraka::planner::mesh_reshard;
using ostraka::planner::mesh_side;
using ostraka::planner::plan_reshard;

namespace {

// Two meshes on processes 0 … P − 1: by process, the device number on either, −1 for none.
struct two_meshes {
  std::vector<std::int64_t> source;
  std::vector<std::int64_t> target;
  std::vector<int> source_device;
  std::vector<int> target_device;
};

std::vector<two_meshes> const all_meshes = {
    {{1}, {1}, {0}, {0}},
    // the same processes: other sizes, another order, the same names for other things
    {{4}, {2, 2}, {0, 1, 2, 3}, {0, 1, 2, 3}},
    {{2, 2}, {2, 2}, {0, 1, 2, 3}, {0, 2, 1, 3}},
    {{2, 2}, {4}, {0, 1, 2, 3}, {3, 2, 1, 0}},
    {{2, 3}, {3, 2}, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}},
    {{6}, {2, 3}, {0, 1, 2, 3, 4, 5}, {4, 0, 3, 1, 5, 2}},
    {{2, 4}, {4, 2}, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}},
    // fewer
    {{2}, {1}, {0, 1}, {-1, 0}},
    {{4}, {2}, {0, 1, 2, 3}, {-1, 1, -1, 0}},
    {{2, 2}, {3}, {0, 1, 2, 3}, {0, 1, 2, -1}},
    {{2, 3}, {2, 2}, {0, 1, 2, 3, 4, 5}, {-1, 3, 0, -1, 1, 2}},
    {{8}, {3}, {0, 1, 2, 3, 4, 5, 6, 7}, {-1, 0, 1, -1, -1, 2, -1, -1}},
    // more
    {{1}, {3}, {-1, 0, -1}, {0, 1, 2}},
    {{2}, {2, 2}, {1, -1, 0, -1}, {0, 1, 2, 3}},
    {{2, 2}, {6}, {-1, 0, 1, 2, 3, -1}, {0, 1, 2, 3, 4, 5}},
    {{3}, {2, 3}, {-1, 2, 1, 0, -1, -1}, {0, 1, 2, 3, 4, 5}},
};

std::vector<int> by_device(std::vector<int> const& device, std::size_t count) {
  std::vector<int> process(count);
  for (std::size_t p = 0; p < device.size(); ++p)
    if (device[p] >= 0) process[static_cast<std::size_t>(device[p])] = static_cast<int>(p);
  return process;
}

// One of the two meshes, as loops see it.
struct played_side {
  extents sizes;
  simulated_mesh mesh;
  std::vector<int> device;
  std::vector<int> process;

  played_side(extents const& e, std::vector<int> const& d)
      : sizes(e), mesh(e), device(d), process(by_device(d, mesh.devices())) {}

  [[nodiscard]] mesh_side holding(spec const& s) const { return {s, sizes, device, process}; }
  [[nodiscard]] bool has(std::size_t p) const { return device[p] >= 0; }
  [[nodiscard]] std::size_t of(std::size_t p) const { return static_cast<std::size_t>(device[p]); }
};

// True if device `d` is the first along the mesh axes over which `s` is partial. Numbers count the first mesh axis
// major.
bool first_summand(extents const& e, spec const& s, std::size_t d) {
  auto rest = static_cast<std::int64_t>(d);
  for (int m = e.mesh_axes - 1; m >= 0; --m) {
    if (s.partial.contains(m) && rest % e.mesh[m] != 0) return false;
    rest /= e.mesh[m];
  }
  return true;
}

struct tally {
  std::int64_t cases = 0;
  std::int64_t partial = 0;
  std::int64_t wrong = 0;
};

// The elements of the target that processes need and do not have in the source.
std::int64_t missing(played_side const& a, spec const& from, played_side const& b, spec const& to) {
  std::int64_t n = 0;
  for (std::size_t p = 0; p < a.device.size(); ++p) {
    if (!b.has(p) || !first_summand(b.sizes, to, b.of(p))) continue;
    box const wanted = b.mesh.block_of(to, b.of(p));
    n += wanted.size();
    if (!a.has(p)) continue;
    box const common = wanted.common(a.mesh.block_of(from, a.of(p)));
    n -= common.size();
  }
  return n;
}

// The least volume over all ways of slicing idle axes, scattering some summands and reducing the others everywhere,
// before the exchange.
std::int64_t least_volume(played_side const& a, spec const& from, played_side const& b, spec const& to,
                          std::vector<spec> const& all) {
  std::int64_t least = -1;
  for (spec const& reduced : all) {
    if (!reduced.partial.empty()) continue;
    bool possible = true;
    for (int i = 0; i < from.rank; ++i) possible = possible && reduced.over[i].starts_with(from.over[i]);
    if (!possible) continue;
    auto const everywhere = static_cast<std::int64_t>(a.mesh.group_size(from.partial - reduced.splits()));
    auto const others = static_cast<std::int64_t>(a.mesh.group_size(from.partial & reduced.splits())) - 1;
    std::int64_t const scattered = a.mesh.held(reduced);
    std::int64_t const n =
        others * scattered + 2 * (everywhere - 1) * (scattered / everywhere) + missing(a, reduced, b, to);
    if (least < 0 || n < least) least = n;
  }
  return least;
}

std::string exchange_and_check(played_side const& a, sharded_tensor const& held, played_side const& b,
                               mesh_reshard const& plan, whole_tensor const& whole) {
  spec const& to = plan.target.sharding;
  std::size_t const processes = a.device.size();
  std::vector<std::vector<int>> sends(processes);
  std::vector<std::vector<int>> receives(processes);
  std::vector<int> served(processes);
  for (std::size_t p = 0; p < processes; ++p) {
    for_each_receiver(plan.source, plan.target, static_cast<int>(p), [&](int q) { sends[p].push_back(q); });
    for_each_sender(plan.source, plan.target, static_cast<int>(p), [&](int q) { receives[p].push_back(q); });
    served[p] = static_cast<int>(sends[p].size());
  }
  std::int64_t moved = 0;
  for (std::size_t p = 0; p < processes; ++p) {
    std::vector<int> const& from = receives[p];
    for (int q : from) {
      auto const& list = sends[static_cast<std::size_t>(q)];
      if (std::count(from.begin(), from.end(), q) != 1) return "received twice from the same process";
      if (std::count(list.begin(), list.end(), static_cast<int>(p)) != 1) return "received what nobody sends";
      if (static_cast<std::size_t>(q) == p) return "sent to itself";
    }
    for (int q : sends[p])
      if (std::count(receives[static_cast<std::size_t>(q)].begin(), receives[static_cast<std::size_t>(q)].end(),
                     static_cast<int>(p)) != 1)
        return "sent to who does not receive";
    if (!std::is_sorted(sends[p].begin(), sends[p].end())) return "receivers out of order";
    if (!b.has(p) || !first_summand(b.sizes, to, b.of(p))) {
      if (!from.empty()) return "received and not needed";
      continue;
    }
    std::string fault;
    for_each(b.mesh.block_of(to, b.of(p)), [&](position const& at) {
      int sources = 0;
      if (a.has(p) && held.block[a.of(p)].contains(at)) {
        ++sources;
        if (held.device[a.of(p)][at] != whole[at]) fault = "wrong value of its own";
      } else {
        ++moved;
      }
      for (int q : from)
        if (held.block[a.of(static_cast<std::size_t>(q))].contains(at)) {
          ++sources;
          if (held.device[a.of(static_cast<std::size_t>(q))][at] != whole[at]) fault = "wrong value";
        }
      if (sources != 1) fault = sources == 0 ? "an element that nobody sends" : "an element from several sources";
    });
    if (!fault.empty()) return fault;
  }
  if (moved != ostraka::planner::elements_exchanged(plan.source, plan.target)) return "another volume than predicted";
  if (moved != missing(a, plan.source.sharding, b, to)) return "another volume than what is missing";
  for (std::size_t p = 0; p < processes; ++p)
    for (std::size_t q = 0; q < processes; ++q)
      if (a.has(p) && a.has(q) && held.block[a.of(p)] == held.block[a.of(q)] && held.block[a.of(p)].size() > 0 &&
          plan.source.copy(plan.source.at(static_cast<int>(p))) !=
              plan.source.copy(plan.source.at(static_cast<int>(q))) &&
          served[p] > served[q] + 1)
        return "one holder serves more than the others";
  return {};
}

void sweep(two_meshes const& meshes, std::vector<std::int64_t> const& extent, int rank, tally& count) {
  labels dims;
  for (int l = 0; l < rank; ++l) dims.push_back(l);
  played_side const a(make_extents(rank, extent, meshes.source), meshes.source_device);
  played_side const b(make_extents(rank, extent, meshes.target), meshes.target_device);
  std::vector<spec> const sources = every_spec(dims, a.sizes.mesh_axes);
  std::vector<spec> const targets = every_spec(dims, b.sizes.mesh_axes);
  whole_tensor whole(sources[0], a.sizes);
  for (std::size_t n = 0; n < whole.value.size(); ++n) whole.value[n] = noise(n, 5);
  for (spec const& from : sources) {
    sharded_tensor const blocks = a.mesh.scatter(whole, from, 3);
    for (spec const& to : targets) {
      mesh_reshard const plan = plan_reshard(a.holding(from), b.holding(to));
      simulated_mesh mesh = a.mesh;
      sharded_tensor held = blocks;
      for (planned_step const& s : plan.steps) mesh.execute(s, held);
      mesh.expect_holds(held, whole, plan.source.sharding);
      mesh.expect(plan.source.sharding.partial.empty(), "summands between the meshes");
      std::string fault = mesh.error;
      if (fault.empty()) fault = exchange_and_check(a, held, b, plan, whole);
      std::int64_t const exchanged = missing(a, plan.source.sharding, b, to);
      if (fault.empty() && plan.elements_moved() != mesh.moved + exchanged)
        fault = "the plan predicts another volume than is moved";
      if (fault.empty() && plan.elements_moved() != least_volume(a, from, b, to, sources))
        fault = "there is a cheaper way to reduce";
      ++count.cases;
      count.partial += from.partial.empty() ? 0 : 1;
      if (!fault.empty() && ++count.wrong <= 5)
        MESSAGE(fault, ": ", text_of(from, "ijk"), " on ", text_of(a.sizes, "ijk"), " -> ", text_of(to, "ijk"), " on ",
                text_of(b.sizes, "ijk"), text_of(plan.steps, "ijk"), "\n    predicted ", plan.elements_moved(),
                ", moved ", mesh.moved, " + ", exchanged, ", least ", least_volume(a, from, b, to, sources));
    }
  }
}

}  // namespace

TEST_CASE("every reshard between two meshes") {
  tally count;
  for (two_meshes const& meshes : all_meshes)
    for (std::vector<std::int64_t> const& extent :
         std::vector<std::vector<std::int64_t>>{{7, 5}, {4, 12}, {1, 2}, {3, 0}})
      for (int rank = 0; rank <= 2; ++rank) sweep(meshes, extent, rank, count);
  MESSAGE(count.cases, " reshards between two meshes, ", count.partial, " of them of partial tensors, ", count.wrong,
          " wrong");
  CHECK(count.wrong == 0);
  CHECK(count.cases == 10700);
}

TEST_CASE("holders of the same block take turns") {
  // Replicated on four processes, wanted by four others: each holder serves one.
  std::vector<int> const four = {0, 1, 2, 3, -1, -1, -1, -1};
  std::vector<int> const eight = {0, 1, 2, 3, 4, 5, 6, 7};
  played_side const a(make_extents(1, {24}, {4}), four);
  played_side const b(make_extents(1, {24}, {8}), eight);
  spec const whole = every_spec({0}, 1)[0];
  for (int p = 0; p < 8; ++p) {
    std::vector<int> receivers;
    for_each_receiver(a.holding(whole), b.holding(whole), p, [&](int q) { receivers.push_back(q); });
    CHECK(receivers == (p < 4 ? std::vector<int>{p + 4} : std::vector<int>{}));
  }
}

TEST_CASE("with more mesh axes than are searched the plan is still right") {
  // [i, j, k, l] {U_XYZWV} on 2⁵ devices: 5⁵ placements are more than are looked at.
  extents const e = make_extents(4, {3, 5, 2, 4}, {2, 2, 2, 2, 2});
  std::vector<int> all;
  for (int p = 0; p < 32; ++p) all.push_back(p);
  std::vector<int> none(32, -1);
  none[7] = 0;
  played_side const a(e, all);
  played_side const b(make_extents(4, {3, 5, 2, 4}, {1}), none);
  spec from;
  for (int l = 0; l < 4; ++l) from.push_back(l);
  spec const to = from;
  from.partial = mesh_set::first(5);
  whole_tensor whole(from, e);
  for (std::size_t n = 0; n < whole.value.size(); ++n) whole.value[n] = noise(n, 5);
  mesh_reshard const plan = plan_reshard(a.holding(from), b.holding(to));
  simulated_mesh mesh = a.mesh;
  sharded_tensor held = a.mesh.scatter(whole, from, 3);
  for (planned_step const& s : plan.steps) mesh.execute(s, held);
  mesh.expect_holds(held, whole, plan.source.sharding);
  CHECK(mesh.error == "");
  CHECK(exchange_and_check(a, held, b, plan, whole) == "");
}

TEST_CASE("a plan is a constant expression") {
  static constexpr int source_device[] = {0, 1};
  static constexpr int target_device[] = {1, 0};
  static constexpr mesh_side source = [] {
    mesh_side s{{}, {}, source_device, source_device};
    s.sharding.push_back(0);
    s.sharding.partial.insert(0);
    s.sizes.labels = s.sizes.mesh_axes = 1;
    s.sizes.label[0] = 9;
    s.sizes.mesh[0] = 2;
    return s;
  }();
  static constexpr mesh_side target = [] {
    mesh_side s{{}, source.sizes, target_device, target_device};
    s.sharding.push_back(0);
    s.sharding.over[0].push_back(0);
    return s;
  }();
  static_assert(plan_reshard(source, target).elements_moved() == 9 + 9);  // scattered, then all change places
}
