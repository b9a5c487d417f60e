// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Every way for tensors to meet element by element, partial ones of every kind among them, against plain loops over
/// devices: if the planner accepts, combining the parts after the operation equals combining them before; if it
/// refuses, no kind of result would be right. The laws of the operations are not declared, but found by trying them on
/// numbers.

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ostraka/plan/rules/map_rule.hpp>

#include "plan/every_spec.hpp"
#include "plan/rules/map_by_hand.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::outcome;
using os::preservations;
using os::reduction;
using os::planner::extents;
using os::planner::map_fault;
using os::planner::map_finding;
using os::planner::mesh_set;
using os::planner::spec;
using t::function;
using t::functions;
using t::kinds;
using t::laws_of;
using t::simulation;

namespace {

bool always_gives(function const& f, os::planner::operand_specs const& operands, extents const& e, spec const& result) {
  for (std::uint64_t seed : {1, 2, 3, 4, 5, 6})
    if (!simulation(f, operands, e, seed).gives(result)) return false;
  return true;
}

// True if some kind of result would have been right, with these operands as partial as they are.
bool some_kind_gives(function const& f, os::planner::operand_specs const& operands, extents const& e) {
  os::planner::operand_specs values;
  mesh_set partial;
  for (spec const& s : operands) {
    partial = partial | s.partial;
    values.push_back(s);
    values[values.size() - 1].partial = {};
  }
  map_finding const found = os::planner::find_map(values);
  if (found.fault != map_fault::none) return false;
  spec result = found.result;
  result.partial = partial - result.splits();
  for (reduction kind : kinds) {
    result.kind = kind;
    if (always_gives(f, operands, e, result)) return true;
  }
  return false;
}

std::vector<spec> every_state(t::labels const& labels, int mesh_axes) {
  std::vector<spec> states;
  for (spec s : t::every_spec(labels, mesh_axes)) {
    if (s.partial.empty()) {
      states.push_back(s);
      continue;
    }
    for (reduction kind : kinds) {
      s.kind = kind;
      states.push_back(s);
    }
  }
  return states;
}

// True if the trait cannot express it: that some operands keep their parts together while others stay (for maxima and
// the like this follows from all together), or that two kinds go together.
bool beyond_the_trait(os::planner::operand_specs const& operands, preservations const& laws, extents const& e) {
  for (int m = 0; m < e.mesh_axes; ++m) {
    int partial = 0;
    bool two_kinds = false;
    bool follows = false;
    for (spec const& s : operands) {
      if (!s.partial.contains(m)) continue;
      ++partial;
      follows = laws[s.kind].together.kept && s.kind != reduction::sum && s.kind != reduction::prod;
      for (spec const& other : operands) two_kinds = two_kinds || (other.partial.contains(m) && other.kind != s.kind);
    }
    if (two_kinds || (partial > 1 && partial < operands.size() && !follows)) return true;
  }
  return false;
}

struct tally {
  std::int64_t accepted = 0;
  std::int64_t partial = 0;  // of these, with a partial result
  std::map<map_fault, std::int64_t> refused{};
  std::int64_t wrong = 0;
  std::int64_t too_strict = 0;
  std::int64_t beyond = 0;  // right, but more than the trait can say
};

// Part by part: operator+ causes a false warning of g++ 12.
std::string text_of(function const& f, os::planner::operand_specs const& operands) {
  std::string text = f.name;
  for (spec const& s : operands)
    for (std::string const& part :
         {std::string(" "), t::text_of(s, "ij"), std::string(" by "), std::to_string(static_cast<int>(s.kind))})
      text += part;
  return text;
}

void try_one(function const& f, preservations const& laws, os::planner::operand_specs const& operands, extents const& e,
             tally& n) {
  map_finding const found = os::planner::find_map(operands, laws);
  if (found.fault == map_fault::none) {
    ++n.accepted;
    if (!found.result.partial.empty()) ++n.partial;
    if (always_gives(f, operands, e, found.result)) return;
    if (n.wrong++ < 5)
      FAIL_CHECK("accepted, but wrong: " << text_of(f, operands) << " -> " << t::text_of(found.result, "ij") << " by "
                                         << static_cast<int>(found.result.kind));
    return;
  }
  ++n.refused[found.fault];
  if (found.fault == map_fault::axis_split_differently || found.fault == map_fault::mesh_axis_on_two_axes)
    return;  // map.cpp and its like cover these
  if (!some_kind_gives(f, operands, e)) return;
  if (beyond_the_trait(operands, laws, e)) {
    ++n.beyond;
    return;
  }
  if (n.too_strict++ < 5)
    FAIL_CHECK("refused, but right (" << static_cast<int>(found.fault) << "): " << text_of(f, operands));
}

void sweep(int operands, std::vector<t::labels> const& shapes, extents const& e, tally& n) {
  std::vector<std::vector<spec>> states;
  for (t::labels const& shape : shapes) states.push_back(every_state(shape, e.mesh_axes));
  for (function const& f : functions) {
    if (f.operands != operands) continue;
    preservations const laws = laws_of(f);
    std::vector<std::size_t> at(shapes.size(), 0);
    for (bool more = true; more;) {
      os::planner::operand_specs specs;
      for (std::size_t k = 0; k < shapes.size(); ++k) specs.push_back(states[k][at[k]]);
      try_one(f, laws, specs, e, n);
      more = false;
      for (std::size_t k = 0; k < shapes.size() && !more; ++k) {
        at[k] = (at[k] + 1) % states[k].size();
        more = at[k] != 0;
      }
    }
  }
}

void report(std::string const& what, tally const& n) {
  std::int64_t refused = 0;
  for (auto const& [fault, count] : n.refused) refused += count;
  MESSAGE(what << ": " << n.accepted << " accepted (" << n.partial << " of them partial), " << refused << " refused, "
               << n.wrong << " wrong, " << n.too_strict << " too strict, " << n.beyond << " beyond the trait");
  CHECK(n.wrong == 0);
  CHECK(n.too_strict == 0);
  CHECK(n.partial > 0);
}

}  // namespace

TEST_CASE("the laws that are found are the ones in the table of types/shardings/preserves.hpp") {
  auto const laws = [](char const* name) {
    for (function const& f : functions)
      if (std::string(f.name) == name) return laws_of(f);
    return preservations{};
  };
  // The builders declare the laws that are found; for one operand, alone and together are the same.
  for (reduction kind : kinds) {
    CAPTURE(static_cast<int>(kind));
    auto const first = [&](char const* name) { return laws(name)[kind].alone[0]; };
    CHECK(first("-a") == (os::linear(kind).together.kept ? outcome(kind) : os::non_increasing(kind).alone[0]));
    CHECK(first("3a") == (os::linear(kind).together.kept ? outcome(kind) : os::non_decreasing(kind).alone[0]));
    CHECK(first("a+1") == os::non_decreasing(kind).alone[0]);
    CHECK(first("max(a,0)") == os::non_decreasing(kind).alone[0]);
    CHECK(first("aa") == os::multiplicative(kind).together);
    CHECK(first("1/a") == os::multiplicative(kind).together);
    CHECK(laws("a+b")[kind].together == os::linear(kind).together);
    CHECK(laws("ab")[kind].together == os::multiplicative(kind).together);
    for (int k = 0; k < 2; ++k) {
      CHECK(laws("a+b")[kind].alone[k] == os::non_decreasing(kind).alone[k]);
      CHECK(laws("a-b")[kind].alone[k] == (os::non_decreasing(kind, 0b01) | os::non_increasing(kind, 0b10)).alone[k]);
      CHECK(laws("ab")[kind].alone[k] == os::multilinear(kind).alone[k]);
      CHECK(laws("a/b")[kind].alone[k] == os::multilinear(kind, 0b01).alone[k]);
      CHECK(laws("max(a,b)")[kind].alone[k] == os::non_decreasing(kind).alone[k]);
    }
  }
  CHECK(laws("2^a")[reduction::sum].together == reduction::prod);
  CHECK(laws("log|a|")[reduction::prod].together == reduction::sum);
  CHECK(laws("not a")[reduction::bit_and].together == reduction::bit_or);
  CHECK(laws("max(a,b)")[reduction::max].together == reduction::max);
}

TEST_CASE("one operand, two mesh axes") {
  tally n;
  sweep(1, {{0, 1}}, t::make_extents(2, {5, 3}, {2, 2}),
        n);  // even sizes: of an odd number of factors -a keeps the product
  report("one operand", n);
}

TEST_CASE("two operands, two mesh axes") {
  tally n;
  extents const e = t::make_extents(2, {3, 5}, {2, 2});
  sweep(2, {{0, 1}, {0, 1}}, e, n);
  sweep(2, {{0, 1}, {1}}, e, n);
  sweep(2, {{0}, {1, 0}}, e, n);
  sweep(2, {{0, 1}, {}}, e, n);
  report("two operands", n);
  for (map_fault fault :
       {map_fault::axis_split_differently, map_fault::mesh_axis_on_two_axes, map_fault::partial_in_nonlinear_operation,
        map_fault::partial_kinds_meet, map_fault::partial_meets_divided_axis, map_fault::partial_plus_replicated,
        map_fault::partials_multiplied}) {
    CAPTURE(static_cast<int>(fault));
    CHECK(n.refused[fault] > 0);
  }
}

TEST_CASE("three operands") {
  tally n;
  sweep(3, {{0}, {0}, {0}}, t::make_extents(1, {5}, {2}), n);
  sweep(3, {{0}, {}, {0}}, t::make_extents(1, {5}, {2, 2}), n);
  report("three operands", n);
}
