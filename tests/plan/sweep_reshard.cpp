// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// timeout: 600

/// @file
/// Every sharding of one tensor to every other, executed on a simulated mesh, uneven extents included: T[I_?, J_?] → T[I_?, J_?].
/// The reference is the general block exchange: what devices need and do not have, counted by loops, is what may be moved.

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <support/simulated_mesh.hpp>

#include "every_spec.hpp"

using namespace ostraka::testing;
using ostraka::communicates;
using ostraka::step;
using ostraka::planner::plan_reshard;

namespace {

struct tally {
  std::int64_t cases = 0;
  std::int64_t exchanged = 0;  // not partial before or after: moved exactly what an exchange has to move
  std::int64_t wrong = 0;
};

// Slice, reduce-scatter, all-reduce, slice, one exchange, zero-pad, mask: communication in this order, and at most one of each.
bool in_order(ostraka::planner::reshard_steps const& steps) {
  int last = -1;
  for (planned_step const& s : steps) {
    if (!communicates(s.kind)) continue;
    int const place = s.kind == step::reduce_scatter ? 0 : s.kind == step::all_reduce ? 1 : 2;
    if (place <= last) return false;
    last = place;
  }
  return true;
}

void sweep(labels const& dims, extents const& e, tally& count) {
  std::vector<spec> const specs = every_spec(dims, e.mesh_axes);
  whole_tensor whole(specs[0], e);
  for (std::size_t n = 0; n < whole.value.size(); ++n) whole.value[n] = noise(n, 5);
  for (spec const& from : specs) {
    sharded_tensor const blocks = simulated_mesh(e).scatter(whole, from, 3);
    for (spec const& to : specs) {
      simulated_mesh mesh(e);
      sharded_tensor t = blocks;
      std::int64_t foretold = 0;
      auto const steps = plan_reshard(from, to, e);
      for (planned_step const& s : steps) {
        mesh.execute(s, t);
        foretold += ostraka::planner::elements_moved(s, e);
        if (!mesh.error.empty()) break;
      }
      mesh.expect_holds(t, whole, to);
      mesh.expect(mesh.moved == foretold, "the plan foretells another volume than was moved");
      mesh.expect(in_order(steps), "the steps are not in order");
      if (from.partial.empty() && to.partial.empty()) {
        mesh.expect(mesh.moved == mesh.missing(from, to), "another volume than that of an exchange");
        ++count.exchanged;
      }
      if (from == to) mesh.expect(steps.empty(), "steps to stay where one is");
      ++count.cases;
      if (!mesh.error.empty() && ++count.wrong <= 5)
        MESSAGE(mesh.error, ": ", text_of(from, "ijk"), " -> ", text_of(to, "ijk"), "  ", text_of(e, "ijk"), text_of(steps, "ijk"), "\n    foretold ", foretold,
                ", moved ", mesh.moved);
    }
  }
}

tally run(std::vector<std::vector<std::int64_t>> const& meshes, std::vector<std::vector<std::int64_t>> const& all_extents, int max_rank) {
  tally count;
  for (auto const& mesh : meshes)
    for (auto const& extent : all_extents)
      for (int rank = 1; rank <= max_rank; ++rank) {
        labels dims;
        for (int l = 0; l < rank; ++l) dims.push_back(l);
        sweep(dims, make_extents(rank, extent, mesh), count);
      }
  MESSAGE(count.cases, " reshards on ", meshes[0].size(), " mesh axes, ", count.exchanged, " of them without partial sums, ", count.wrong, " wrong");
  CHECK(count.wrong == 0);
  return count;
}

spec sharding(std::vector<std::vector<int>> const& over, std::vector<int> const& partial = {}) {
  spec s;
  for (auto const& axes : over) {
    s.push_back(s.rank);
    for (int m : axes) s.over[s.rank - 1].push_back(m);
  }
  for (int m : partial) s.partial.insert(m);
  return s;
}

}  // namespace

TEST_CASE("every reshard on one mesh axis moves what an exchange has to move") {
  CHECK(run({{1}, {2}, {3}, {4}, {7}}, {{5, 3, 4}, {4, 8, 2}, {1, 2, 1}, {2, 0, 3}, {0, 1, 2}}, 3).cases == 1250);
}

TEST_CASE("every reshard on two mesh axes moves what an exchange has to move") {
  CHECK(run({{2, 2}, {2, 3}, {3, 2}, {4, 2}, {1, 3}}, {{7, 5, 3}, {4, 6, 2}, {1, 3, 2}, {3, 0, 2}}, 3).cases == 24160);
}

TEST_CASE("every reshard on three mesh axes moves what an exchange has to move") {
  tally const two = run({{2, 2, 2}, {2, 3, 2}, {3, 1, 2}}, {{5, 7}, {13, 3}}, 2);
  tally const three = run({{2, 2, 2}}, {{5, 3, 4}}, 3);
  CHECK(two.cases + three.cases == 100332);
}

TEST_CASE("a reshard is called by the collective that it is") {
  struct known {
    spec from;
    spec to;
    std::vector<step> steps;
  };
  constexpr int x = 0;
  constexpr int y = 1;
  std::vector<known> const table = {
      {sharding({{}}), sharding({{x}}), {step::slice}},
      {sharding({{x, y}}), sharding({{x}}), {step::all_gather}},
      {sharding({{x, y}}), sharding({{}}), {step::all_gather}},
      {sharding({{x}, {}}), sharding({{}, {x}}), {step::all_to_all}},
      {sharding({{x, y}, {}}), sharding({{x}, {y}}), {step::all_to_all}},
      {sharding({{x, y}, {}}), sharding({{}, {x, y}}), {step::all_to_all}},
      {sharding({{}, {x}}), sharding({{y}, {}}), {step::slice, step::all_gather}},
      {sharding({{x, y}}), sharding({{y}}), {step::block_exchange}},
      {sharding({{x, y}}), sharding({{y, x}}), {step::block_exchange}},
      {sharding({{x}, {y}}), sharding({{y}, {x}}), {step::block_exchange}},
      {sharding({{}}, {x}), sharding({{}}), {step::all_reduce}},
      {sharding({{}}, {x, y}), sharding({{}}), {step::all_reduce}},
      {sharding({{}}, {x}), sharding({{x}}), {step::reduce_scatter}},
      {sharding({{}}, {x, y}), sharding({{x, y}}), {step::reduce_scatter}},
      {sharding({{}}, {x}), sharding({{y, x}}), {step::slice, step::reduce_scatter}},
      {sharding({{}}, {x}), sharding({{y}}), {step::slice, step::all_reduce}},
      {sharding({{x}}), sharding({{}}, {x}), {step::zero_pad}},
      {sharding({{}}), sharding({{}}, {x}), {step::mask}},
      {sharding({{y}}, {x}), sharding({{y}}, {x}), {}},
  };
  extents const e = make_extents(2, {12, 24}, {2, 3});
  for (known const& k : table) {
    auto const steps = plan_reshard(k.from, k.to, e);
    std::string const text = text_of(k.from, "ij") + " -> " + text_of(k.to, "ij") + text_of(steps, "ij");
    CAPTURE(text);
    std::vector<step> kinds;
    for (planned_step const& s : steps) kinds.push_back(s.kind);
    CHECK(kinds == k.steps);
  }
}
