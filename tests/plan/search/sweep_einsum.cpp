// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// labels: slow ci
// timeout: 600

/// @file
/// Every sharding of every operand and of the result, planned, lowered and run on a simulated mesh: each device must
/// end with its block of the plain product, and the plan must predict exactly what was moved. C[I_?, K_?] = sum over J
/// of A[I_?, J_?] · B[J_?, K_?]. The steps are executed as the rules say, and the schedules of all devices action by
/// action.

#include <cstdint>
#include <map>
#include <vector>

#include <doctest/doctest.h>

#include <ostraka/plan/workspace/passes.hpp>
#include <support/simulated_mesh.hpp>
#include <support/simulated_run.hpp>

#include "plan/every_spec.hpp"

using namespace ostraka::testing;
using ostraka::communicates;
using ostraka::step;

namespace {

struct tally {
  std::int64_t cases = 0;
  std::int64_t wrong = 0;
  std::int64_t moving = 0;  // cases whose plan communicates
};

// Random small integers, and the product of the tensors in one place.
struct data {
  std::vector<whole_tensor> operands{};
  whole_tensor result;
  whole_tensor before;  // what the result held

  data(einsum_labels const& labels, extents const& e) : result(every_spec(labels.result, 0)[0], e), before(result) {
    for (std::size_t n = 0; n < before.value.size(); ++n) before.value[n] = noise(n, 99);
    box all;
    all.rank = e.labels;
    for (int l = 0; l < e.labels; ++l) all.end[l] = e.label[l];
    for (auto const& dims : labels.operands) {
      operands.emplace_back(every_spec(dims, 0)[0], e);
      for (std::size_t n = 0; n < operands.back().value.size(); ++n)
        operands.back().value[n] = noise(operands.size() + 77, n);
    }
    for_each(all, [&](position const& at) {
      std::int64_t product = 1;
      for (std::size_t k = 0; k < operands.size(); ++k) product *= operands[k][picked(labels.operands[k], at)];
      result[picked(labels.result, at)] += product;
    });
  }

 private:
  static position picked(std::vector<int> const& dims, position const& at) {
    position p{};
    int i = 0;
    for (int l : dims) p[i++] = at[l];
    return p;
  }
};

// A tensor under one sharding: everywhere on the simulated mesh, and in blocks on the devices.
struct placed_tensor {
  sharded_tensor everywhere;
  std::vector<std::vector<std::int64_t>> blocks;

  explicit placed_tensor(sharded_tensor t) : everywhere(std::move(t)), blocks(dense_blocks(everywhere)) {}
};

// Walks the steps: each moves one tensor, or multiplies two (takes one, if there is no other) that are not used again.
void execute(einsum_plan const& plan, data const& d, simulated_mesh& mesh,
             std::vector<std::vector<placed_tensor>> const& placed, std::vector<std::size_t> const& which) {
  mesh.expect(plan.feasible, "the plan is not feasible");
  std::map<int, sharded_tensor> tensors;
  for (std::size_t k = 0; k < d.operands.size(); ++k) tensors[static_cast<int>(k)] = placed[k][which[k]].everywhere;
  for (planned_step const& s : plan.steps) {
    if (!mesh.error.empty()) return;
    if (ostraka::contracts(s.kind)) {
      std::vector<sharded_tensor> factors;
      for (int factor : {s.left, s.right}) {
        if (factor == ostraka::planner::no_tensor && d.operands.size() == 1) continue;
        mesh.expect(tensors.count(factor) == 1, "a factor is not there");
        if (!mesh.error.empty()) return;
        factors.push_back(tensors[factor]);
        tensors.erase(factor);
      }
      mesh.expect(tensors.count(s.operand) == 0, "a tensor is made twice");
      tensors[s.operand] = mesh.contract(factors, s.to);
    } else {
      mesh.expect(tensors.count(s.operand) == 1, "a tensor is moved that is not there");
      if (mesh.error.empty()) mesh.execute(s, tensors[s.operand]);
    }
  }
  mesh.expect(tensors.size() == 1 && tensors.count(ostraka::planner::the_result) == 1,
              "something is left over, or there is no result");
  if (mesh.error.empty()) mesh.expect_holds(tensors[ostraka::planner::the_result], d.result, plan.result);
  mesh.expect(mesh.moved == plan.elements_moved(plan.sizes), "the plan predicts another volume than was moved");
}

// The label over which the plan is run in passes in case number `number`: none in most of them.
int label_of_passes(einsum_plan const& plan, std::int64_t number) {
  for (int l = 0; l < plan.sizes.labels && number % 5 == 0; ++l)
    if (ostraka::planner::detail::splits_into_passes(plan, l)) return l;
  return -1;
}

// Lowers the plan for each device and runs the schedules: C <- alpha A B + beta C. Every other case fuses all that it
// can, and has its mesh axes in another order on the running mesh; some run in three passes.
void run_schedules(einsum_plan const& plan, data const& d, simulated_mesh& mesh, simulated_run& run,
                   std::vector<std::vector<placed_tensor>> const& placed, std::vector<std::size_t> const& which,
                   std::int64_t number) {
  constexpr scalars calls[] = {{1, 0}, {3, 2}, {1, 2}, {3, 0}};
  constexpr int orders[2][ostraka::planner::max_mesh_axes] = {{0, 1, 2, 3, 4, 5}, {2, 0, 1, 3, 4, 5}};
  scalars const call = calls[number / 2 % 4];
  auto const& machine = number % 2 == 0 ? ostraka::planner::measured : all_is_worth_it;
  placed_tensor const& before = placed.back()[which.back()];
  run.begin(static_cast<std::size_t>(plan.sizes.devices()));
  for (std::size_t device = 0; device < run.devices.size(); ++device) {
    run.devices[device].operands.resize(d.operands.size());
    for (std::size_t k = 0; k < d.operands.size(); ++k)
      run.devices[device].operands[k] = placed[k][which[k]].blocks[device];
    run.devices[device].result = before.blocks[device];
  }
  extents e = plan.sizes;
  int const label = label_of_passes(plan, number);
  if (label >= 0) e.now = {label, ostraka::planner::detail::division_of(plan, label, e).same_everywhere, 0, 3};
  for (; e.now.part < e.now.parts && run.error.empty(); ++e.now.part) {
    bool const adds_up = e.now.part > 0 && plan.result.find(label) < 0;
    run.lower(plan, ostraka::planner::decide(plan, e, machine), e, adds_up ? scalars{call.alpha, 1} : call,
              orders[number % 2], machine);
    run.run();
  }
  mesh.expect(run.error.empty(), run.error.c_str());
  if (!mesh.error.empty()) return;
  sharded_tensor held = before.everywhere;
  run.results_to(held);
  whole_tensor wanted = d.result;
  for (std::size_t n = 0; n < wanted.value.size(); ++n)
    wanted.value[n] = call.alpha * d.result.value[n] + call.beta * d.before.value[n];
  mesh.expect_holds(held, wanted, plan.result);
  mesh.expect(run.moved == plan.elements_moved(plan.sizes), "the schedules move something else than the plan predicts");
}

// One case in `one_in` of all combinations of shardings, spread over them.
void sweep(einsum_labels const& labels, extents const& e, std::int64_t one_in, tally& count) {
  data const d(labels, e);
  std::vector<std::vector<spec>> specs;
  std::vector<std::vector<placed_tensor>> placed;
  std::int64_t combinations = 1;
  for (std::size_t k = 0; k <= labels.operands.size(); ++k) {
    bool const operand = k < labels.operands.size();
    specs.push_back(every_spec(operand ? labels.operands[k] : labels.result, e.mesh_axes));
    combinations *= static_cast<std::int64_t>(specs.back().size());
    placed.emplace_back();
    for (spec const& s : specs.back())
      placed.back().emplace_back(simulated_mesh(e).scatter(operand ? d.operands[k] : d.before, s, k + 1));
  }
  constexpr std::int64_t stride = 1000003;  // a prime: no combination twice
  simulated_run run;
  for (std::int64_t n = 0; n < combinations / one_in; ++n) {
    std::int64_t rest = one_in == 1 ? n : n * stride % combinations;
    std::vector<std::size_t> which;
    einsum_problem problem;
    for (auto const& s : specs) {
      which.push_back(static_cast<std::size_t>(rest) % s.size());
      rest /= static_cast<std::int64_t>(s.size());
      if (which.size() < specs.size()) problem.operands.push_back(s[which.back()]);
    }
    problem.result = specs.back()[which.back()];
    problem.sizes = e;
    problem.directions = static_cast<int>(n / 2 % 3);  // a third with rings one way, a third with rings both ways
    einsum_plan const plan = ostraka::planner::plan_einsum(problem);
    simulated_mesh mesh(e);
    if (e.mesh_axes == 1 || n % 4 == 0) execute(plan, d, mesh, placed, which);
    if (mesh.error.empty()) run_schedules(plan, d, mesh, run, placed, which, n);
    ++count.cases;
    count.moving += plan.communications() > 0 ? 1 : 0;
    if (mesh.error.empty()) continue;
    if (++count.wrong <= 5)
      MESSAGE(mesh.error, ": ", text_of(plan, labels.names), "\n    predicted ", plan.elements_moved(e), ", moved ",
              mesh.moved);
  }
}

struct sweep_of {
  char const* einsum;
  std::vector<std::vector<std::int64_t>> meshes;
  std::vector<std::vector<std::int64_t>> extents;  // of the labels in the order in which they occur
  std::int64_t one_in;
};

tally run(std::vector<sweep_of> const& sweeps) {
  tally count;
  for (sweep_of const& s : sweeps) {
    tally own;
    einsum_labels const labels(s.einsum);
    for (auto const& mesh : s.meshes)
      for (auto const& extent : s.extents) sweep(labels, make_extents(labels.count(), extent, mesh), s.one_in, own);
    MESSAGE(labels.text, ": ", own.cases, " cases on ", s.meshes[0].size(), " mesh axes, ", own.moving,
            " of them communicate, ", own.wrong, " wrong");
    CHECK(own.wrong == 0);
    count.cases += own.cases;
    count.wrong += own.wrong;
  }
  return count;
}

// Uneven over 2, 3 and 4; smaller than the mesh; one label empty.
std::vector<std::vector<std::int64_t>> const all_extents = {{3, 5, 2, 3}, {5, 3, 4, 7}, {4, 4, 4, 4}, {1, 2, 1, 3},
                                                            {2, 0, 3, 2}, {0, 2, 2, 1}, {3, 2, 0, 2}};
std::vector<std::vector<std::int64_t>> const uneven_extents = {{3, 5, 2, 3}, {2, 3, 5, 2}};
std::vector<std::vector<std::int64_t>> const line_meshes = {{1}, {2}, {3}, {4}};
std::vector<std::vector<std::int64_t>> const grid_meshes = {{2, 2}, {2, 3}, {3, 2}, {4, 2}, {1, 3}};
std::vector<std::vector<std::int64_t>> const cube_meshes = {{2, 2, 2}, {2, 1, 3}, {3, 2, 2}, {2, 3, 4}};

}  // namespace

TEST_CASE("every sharding on one mesh axis gives the product and moves what the plan says") {
  std::vector<sweep_of> sweeps;
  for (char const* einsum : {"ij,jk->ik", "bij,bjk->bik", "j,j->", "i,k->ik", "bj,bj->b", "ij->i", "ij->j", "ij->",
                             "ij->ji", "ij,k->ik", "ij,jk->ki", "ij,->ij"})
    sweeps.push_back({einsum, line_meshes, all_extents, 1});
  sweeps.push_back({"bij,bik->bjk", {{2}, {3}}, uneven_extents, 1});
  CHECK(run(sweeps).cases == 14024);
}

TEST_CASE("every sharding on two mesh axes gives the product and moves what the plan says") {
  tally const count = run({{"ij,jk->ik", grid_meshes, uneven_extents, 1},
                           {"ij,jk->ik", {{2, 2}}, {{2, 0, 3}, {1, 1, 2}, {4, 4, 4}}, 1},
                           {"ij,jk->ki", {{2, 3}}, uneven_extents, 1},
                           {"ij,k->ik", {{2, 2}, {3, 2}}, {{3, 2, 5}}, 1},
                           {"j,j->", grid_meshes, all_extents, 1},
                           {"i,k->ik", grid_meshes, uneven_extents, 1},
                           {"bj,bj->b", grid_meshes, uneven_extents, 1},
                           {"ij->i", grid_meshes, all_extents, 1},
                           {"ij->j", grid_meshes, all_extents, 1},
                           {"ij->", grid_meshes, all_extents, 1},
                           {"ij->ji", grid_meshes, uneven_extents, 1},
                           {"bij,bjk->bik", {{2, 2}, {2, 3}}, {{3, 2, 5, 2}}, 2}});
  CHECK(count.cases == 198672);
}

TEST_CASE("shardings on three mesh axes give the product and move what the plan says") {
  tally const count = run({{"ij,jk->ik", cube_meshes, uneven_extents, 601},
                           {"bij,bjk->bik", cube_meshes, {{2, 3, 5, 2}}, 6007},
                           {"j,j->", cube_meshes, uneven_extents, 23},
                           {"i,k->ik", cube_meshes, uneven_extents, 307},
                           {"bj,bj->b", cube_meshes, uneven_extents, 421},
                           {"ij->i", cube_meshes, uneven_extents, 7},
                           {"ij->ji", cube_meshes, uneven_extents, 17},
                           {"ij,k->ik", cube_meshes, {{3, 2, 5}}, 401}});
  CHECK(count.cases == 38740);
}

TEST_CASE("three and four operands give the product and move what the plan says") {
  tally const count = run({{"ij,jk,kl->il", {{2}, {3}}, uneven_extents, 1},
                           {"ij,jk,kl->il", {{4}}, all_extents, 3},
                           {"ij,jk,k->i", {{2}, {3}}, all_extents, 1},
                           {"bqd,bkd,bke->bqe", {{2}, {3}}, {{3, 2, 5, 2, 3}}, 3},
                           {"i,j,k->kji", {{3}}, uneven_extents, 1},
                           {"ij,jk,kl->il", {{2, 2}, {2, 3}}, uneven_extents, 401},
                           {"ij,jk,ki->", {{3, 2}}, uneven_extents, 101},
                           {"bqd,bkd,bke->bqe", {{2, 2}}, {{3, 2, 5, 2, 3}}, 2003},
                           {"ij,jk,kl,lm->im", {{2}, {3}}, {{3, 5, 2, 3, 4}, {2, 0, 3, 2, 1}}, 3},
                           {"ij,jk,kl,l->i", {{4}}, all_extents, 3},
                           {"abc,ai,bj,ck->ijk", {{2}}, {{3, 2, 2, 3, 2, 3}}, 5},
                           {"ij,jk,kl,lm->im", {{2, 2}, {3, 2}}, {{3, 5, 2, 3, 4}}, 8009},
                           {"ij,jk,kl,li->", {{2, 3}}, uneven_extents, 601}});
  CHECK(count.cases == 11025);
}

TEST_CASE(
    "more operands than are searched exhaustively, and more mesh axes, give the product and move what the plan says") {
  tally const count = run({{"ij,jk,kl,lm,m->i", {{2}, {3}}, {{3, 5, 2, 3, 4}}, 11},
                           {"ij,jk,kl,lm,m->i", {{2, 3}}, {{3, 5, 2, 3, 4}}, 100003},
                           {"ab,bc,cd,de,ef,f->a", {{2, 2}}, {{2, 3, 2, 3, 2, 3}}, 4000037},
                           {"ij,jk,kl->il", {{2, 2, 2}, {2, 1, 3}}, uneven_extents, 300007},
                           {"ij,jk,kl,l->i", {{2, 2, 2}}, {{3, 5, 2, 3}}, 700001},
                           {"ij,jk->ik", {{2, 2, 1, 2}}, {{3, 5, 2}}, 100003},
                           {"i,i,i,i,i,i,i,i->i", {{2}}, {{3}}, 31}});
  CHECK(count.cases == 5300);
}

TEST_CASE("plans that a policy admits give the product and move what the policy says") {
  using ostraka::planner::admit;
  einsum_labels const labels("ij,jk->ik");
  std::int64_t admitted = 0;
  std::int64_t wrong = 0;
  for (auto const& sizes : std::vector<std::vector<std::int64_t>>{{2}, {3}, {2, 2}, {3, 2}}) {
    extents const e = make_extents(labels.count(), {7, 6, 8}, sizes);
    data const d(labels, e);
    auto const specs_a = every_spec(labels.operands[0], e.mesh_axes);
    auto const specs_b = every_spec(labels.operands[1], e.mesh_axes);
    auto const specs_c = every_spec(labels.result, e.mesh_axes);
    std::vector<std::vector<placed_tensor>> placed(3);
    simulated_run run;
    for (spec const& s : specs_a) placed[0].emplace_back(simulated_mesh(e).scatter(d.operands[0], s, 1));
    for (spec const& s : specs_b) placed[1].emplace_back(simulated_mesh(e).scatter(d.operands[1], s, 2));
    for (spec const& s : specs_c) placed[2].emplace_back(simulated_mesh(e).scatter(d.before, s, 3));
    for (std::size_t a = 0; a < specs_a.size(); ++a)
      for (std::size_t b = 0; b < specs_b.size(); ++b)
        for (std::size_t c = 0; c < specs_c.size(); ++c) {
          einsum_problem problem;
          problem.operands.push_back(specs_a[a]);
          problem.operands.push_back(specs_b[b]);
          problem.result = specs_c[c];
          problem.sizes = e;
          einsum_plan const cheapest = ostraka::planner::plan_einsum(problem);
          for (admit rule : {admit::gather_left, admit::gather_right, admit::reduce_result, admit::no_communication}) {
            problem.rule = rule;
            problem.directions = static_cast<int>(admitted / 2 % 3);
            einsum_plan const plan = ostraka::planner::plan_einsum(problem);
            simulated_mesh mesh(e);
            if (rule == admit::no_communication)
              mesh.expect(plan.feasible == (cheapest.communications() == 0),
                          "a plan without communication is not found");
            if (plan.feasible) {
              ++admitted;
              execute(plan, d, mesh, placed, {a, b});
              if (mesh.error.empty()) run_schedules(plan, d, mesh, run, placed, {a, b, c}, admitted);
              for (planned_step const& s : plan.steps) {
                if (!communicates(s.kind)) continue;
                mesh.expect(rule != admit::no_communication, "a plan without communication communicates");
                mesh.expect(rule != admit::gather_left || (s.kind == step::all_gather && s.operand == 0),
                            "something else is moved than the left operand");
                mesh.expect(rule != admit::gather_right || (s.kind == step::all_gather && s.operand == 1),
                            "something else is moved than the right operand");
                mesh.expect(rule != admit::reduce_result || s.operand == ostraka::planner::the_result,
                            "something else is moved than the result");
              }
            }
            if (!mesh.error.empty() && ++wrong <= 5) MESSAGE(mesh.error, ": ", text_of(plan, labels.names));
          }
        }
  }
  MESSAGE(admitted, " plans admitted by policies, ", wrong, " wrong");
  CHECK(wrong == 0);
  CHECK(admitted >= 4992);
}
