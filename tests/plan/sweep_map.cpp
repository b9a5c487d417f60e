// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Every way for tensors to meet element by element, partial ones of every kind among them, against plain loops over devices: where the
/// planner accepts, combining the parts after the operation gives what combining before does; where it refuses, no kind of result would.
/// What the operations keep is not declared but found by trying their laws on numbers.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ostraka/plan/map.hpp>

#include "plan/every_spec.hpp"

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

namespace {

constexpr reduction kinds[] = {reduction::sum, reduction::max, reduction::min, reduction::prod, reduction::bit_and, reduction::bit_or};

double combine(reduction how, double a, double b) {
  auto const bits = [](double v) { return std::abs(v) < 1e9 ? static_cast<std::int64_t>(v) : 0; };
  switch (how) {
    case reduction::sum: return a + b;
    case reduction::max: return a != a || b != b ? a + b : std::max(a, b);
    case reduction::min: return a != a || b != b ? a + b : std::min(a, b);
    case reduction::prod: return a * b;
    case reduction::bit_and: return static_cast<double>(bits(a) & bits(b));
    case reduction::bit_or: return static_cast<double>(bits(a) | bits(b));
  }
  return 0;
}

bool same(double a, double b) { return a == b || std::abs(a - b) <= 1e-10 * (1 + std::abs(a) + std::abs(b)); }

// A small number: of either sign and not zero, or, for functions of bits, from 0 to 63.
double number(std::uint64_t a, std::uint64_t b, bool bits) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15U + b * 0xd1b54a32d192ed03U + 0x8cb92ba72f3d8dd7U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  z ^= z >> 31;
  if (bits) return static_cast<double>(z % 64);
  return static_cast<double>(z % 16 + 1) * (z % 32 < 16 ? 1 : -1);
}

struct function {
  char const* name;
  int operands;
  bool bits;
  double (*of)(double const*);
};

function const functions[] = {
    {"-a", 1, false, [](double const* v) { return -v[0]; }},
    {"3a", 1, false, [](double const* v) { return 3 * v[0]; }},
    {"a+1", 1, false, [](double const* v) { return v[0] + 1; }},
    {"max(a,0)", 1, false, [](double const* v) { return std::max(v[0], 0.0); }},
    {"aa", 1, false, [](double const* v) { return v[0] * v[0]; }},
    {"|a|", 1, false, [](double const* v) { return std::abs(v[0]); }},
    {"2^a", 1, false, [](double const* v) { return std::exp2(v[0]); }},
    {"log|a|", 1, false, [](double const* v) { return std::log(std::abs(v[0])); }},
    {"1/a", 1, false, [](double const* v) { return 1 / v[0]; }},
    {"not a", 1, true, [](double const* v) { return static_cast<double>(~static_cast<std::int64_t>(v[0])); }},
    {"a!=0", 1, true, [](double const* v) { return v[0] != 0 ? 1.0 : 0.0; }},
    {"a+b", 2, false, [](double const* v) { return v[0] + v[1]; }},
    {"a-b", 2, false, [](double const* v) { return v[0] - v[1]; }},
    {"ab", 2, false, [](double const* v) { return v[0] * v[1]; }},
    {"a/b", 2, false, [](double const* v) { return v[0] / v[1]; }},
    {"max(a,b)", 2, false, [](double const* v) { return std::max(v[0], v[1]); }},
    {"min(a,b)", 2, false, [](double const* v) { return std::min(v[0], v[1]); }},
    {"aa+b", 2, false, [](double const* v) { return v[0] * v[0] + v[1]; }},
    {"a|b|", 2, false, [](double const* v) { return v[0] * std::abs(v[1]); }},
    {"a and b", 2, true, [](double const* v) { return static_cast<double>(static_cast<std::int64_t>(v[0]) & static_cast<std::int64_t>(v[1])); }},
    {"a or b", 2, true, [](double const* v) { return static_cast<double>(static_cast<std::int64_t>(v[0]) | static_cast<std::int64_t>(v[1])); }},
    {"a+b+c", 3, false, [](double const* v) { return v[0] + v[1] + v[2]; }},
    {"ab+c", 3, false, [](double const* v) { return v[0] * v[1] + v[2]; }},
    {"abc", 3, false, [](double const* v) { return v[0] * v[1] * v[2]; }},
    {"max(a,b,c)", 3, false, [](double const* v) { return std::max(v[0], std::max(v[1], v[2])); }},
    {"max(a,b-c)", 3, false, [](double const* v) { return std::max(v[0], v[1] - v[2]); }},
};

// Does f(a ⊕ a', …) = f(a, …) ⊗ f(a', …) hold, in all operands or in operand k alone?
bool law_holds(function const& f, reduction before, reduction after, int alone) {
  for (std::uint64_t sample = 0; sample < 400; ++sample) {
    double one[3], other[3], both[3];
    for (int k = 0; k < 3; ++k) {
      auto const at = static_cast<std::uint64_t>(k);
      one[k] = number(sample, at, f.bits);
      other[k] = alone < 0 || alone == k ? number(sample, at + 3, f.bits) : one[k];
      both[k] = alone < 0 || alone == k ? combine(before, one[k], other[k]) : one[k];
    }
    if (!same(f.of(both), combine(after, f.of(one), f.of(other)))) return false;
  }
  return true;
}

outcome law_of(function const& f, reduction kind, int alone) {
  if (law_holds(f, kind, kind, alone)) return kind;
  for (reduction after : kinds)
    if (law_holds(f, kind, after, alone)) return after;
  return {};
}

preservations laws_of(function const& f) {
  preservations p;
  for (reduction kind : kinds) {
    p.of[static_cast<int>(kind)].together = law_of(f, kind, -1);
    for (int k = 0; k < f.operands; ++k) p.of[static_cast<int>(kind)].alone[k] = law_of(f, kind, k);
  }
  return p;
}

using coordinates = std::vector<std::int64_t>;

std::int64_t begin_of(spec const& s, int dimension, coordinates const& at, extents const& e, std::int64_t next) {
  std::int64_t d = 0;
  std::int64_t p = 1;
  for (int k = 0; k < s.over[dimension].size(); ++k) {
    int const m = s.over[dimension][k];
    d = d * e.mesh[m] + at[static_cast<std::size_t>(m)];
    p *= e.mesh[m];
  }
  return (d + next) * e.label[s.label[dimension]] / p;
}

// A mesh on which each device has its part of each operand, and does the operation on what it holds.
class simulation {
 public:
  simulation(function const& f, os::planner::operand_specs const& operands, extents const& e, std::uint64_t seed) : f_(f), operands_(operands), e_(e), seed_(seed) {}

  // Are the parts of the result, combined, what the operation gives on the whole tensors, and replicas equal?
  bool gives(spec const& result) const {
    bool right = true;
    each_device(mesh_set::first(e_.mesh_axes), coordinates(static_cast<std::size_t>(e_.mesh_axes), 0), [&](coordinates const& here) {
      if (right) right = right_on(here, result);
    });
    return right;
  }

 private:
  template <class Visit>
  void each_device(mesh_set axes, coordinates at, Visit const& visit, int m = 0) const {
    while (m < e_.mesh_axes && !axes.contains(m)) ++m;
    if (m == e_.mesh_axes) return visit(at);
    for (std::int64_t c = 0; c < e_.mesh[m]; ++c) {
      at[static_cast<std::size_t>(m)] = c;
      each_device(axes, at, visit, m + 1);
    }
  }

  bool right_on(coordinates const& here, spec const& result) const {
    std::int64_t const n = e_.labels > 1 ? e_.label[1] : 1;
    for (std::int64_t i = 0; i < e_.label[0] * n; ++i) {
      std::int64_t const index[] = {i / n, i % n};
      if (!holds(result, here, index)) continue;
      bool first = true;
      bool fine = true;
      double total = 0;
      each_device(result.partial, here, [&](coordinates const& other) {
        double v[3]{};
        for (int k = 0; k < operands_.size(); ++k) {
          fine = fine && holds(operands_[k], other, index);
          v[k] = part(k, other, index);
        }
        double const r = f_.of(v);
        total = first ? r : combine(result.kind, total, r);
        first = false;
      });
      double v[3]{};
      for (int k = 0; k < operands_.size(); ++k) v[k] = whole(k, index);
      if (!fine || !same(total, f_.of(v))) return false;
      if (!replicated(here, result, index)) return false;
    }
    return true;
  }

  // Along mesh axes that the result does not use, devices have the same.
  bool replicated(coordinates const& here, spec const& result, std::int64_t const* index) const {
    coordinates first = here;
    for (int m = 0; m < e_.mesh_axes; ++m)
      if (!result.uses().contains(m)) first[static_cast<std::size_t>(m)] = 0;
    double a[3]{};
    double b[3]{};
    for (int k = 0; k < operands_.size(); ++k) {
      a[k] = part(k, here, index);
      b[k] = part(k, first, index);
    }
    double const x = f_.of(a);
    double const y = f_.of(b);
    return same(x, y) || (x != x && y != y);
  }

  bool holds(spec const& s, coordinates const& at, std::int64_t const* index) const {
    for (int i = 0; i < s.rank; ++i) {
      std::int64_t const x = index[s.label[i]];
      if (x < begin_of(s, i, at, e_, 0) || x >= begin_of(s, i, at, e_, 1)) return false;
    }
    return true;
  }

  double part(int k, coordinates const& at, std::int64_t const* index) const {
    std::uint64_t place = seed_ * 8 + static_cast<std::uint64_t>(k);
    for (int i = 0; i < operands_[k].rank; ++i) place = place * 16 + static_cast<std::uint64_t>(index[operands_[k].label[i]]) + 1;
    std::uint64_t number_of_part = 0;
    for (int m = 0; m < e_.mesh_axes; ++m)
      if (operands_[k].partial.contains(m)) number_of_part = number_of_part * 8 + static_cast<std::uint64_t>(at[static_cast<std::size_t>(m)]) + 1;
    return number(place, number_of_part, f_.bits);
  }

  double whole(int k, std::int64_t const* index) const {
    bool first = true;
    double total = 0;
    each_device(operands_[k].partial, coordinates(static_cast<std::size_t>(e_.mesh_axes), 0), [&](coordinates const& at) {
      double const v = part(k, at, index);
      total = first ? v : combine(operands_[k].kind, total, v);
      first = false;
    });
    return total;
  }

  function const& f_;
  os::planner::operand_specs const& operands_;
  extents const& e_;
  std::uint64_t seed_;
};

bool always_gives(function const& f, os::planner::operand_specs const& operands, extents const& e, spec const& result) {
  for (std::uint64_t seed : {1, 2, 3, 4, 5, 6})
    if (!simulation(f, operands, e, seed).gives(result)) return false;
  return true;
}

// Would some kind of result have been right, with these operands partial as they are?
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

// Is it more than the trait can say: that some operands keep their parts together while others stay (which of maxima and the like
// follows from all together), or that two kinds go together?
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

// Part by part: g++ 12 warns of what it thinks that operator+ does.
std::string text_of(function const& f, os::planner::operand_specs const& operands) {
  std::string text = f.name;
  for (spec const& s : operands)
    for (std::string const& part : {std::string(" "), t::text_of(s, "ij"), std::string(" by "), std::to_string(static_cast<int>(s.kind))}) text += part;
  return text;
}

void try_one(function const& f, preservations const& laws, os::planner::operand_specs const& operands, extents const& e, tally& n) {
  map_finding const found = os::planner::find_map(operands, laws);
  if (found.fault == map_fault::none) {
    ++n.accepted;
    if (!found.result.partial.empty()) ++n.partial;
    if (always_gives(f, operands, e, found.result)) return;
    if (n.wrong++ < 5) FAIL_CHECK("accepted, but wrong: " << text_of(f, operands) << " -> " << t::text_of(found.result, "ij") << " by " << static_cast<int>(found.result.kind));
    return;
  }
  ++n.refused[found.fault];
  if (found.fault == map_fault::axis_split_differently || found.fault == map_fault::mesh_axis_on_two_axes) return;  // of these map.cpp and its like tell
  if (!some_kind_gives(f, operands, e)) return;
  if (beyond_the_trait(operands, laws, e)) {
    ++n.beyond;
    return;
  }
  if (n.too_strict++ < 5) FAIL_CHECK("refused, but right (" << static_cast<int>(found.fault) << "): " << text_of(f, operands));
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
  MESSAGE(what << ": " << n.accepted << " accepted (" << n.partial << " of them partial), " << refused << " refused, " << n.wrong << " wrong, " << n.too_strict
               << " too strict, " << n.beyond << " beyond the trait");
  CHECK(n.wrong == 0);
  CHECK(n.too_strict == 0);
  CHECK(n.partial > 0);
}

}  // namespace

TEST_CASE("the laws that are found are the ones in the table of types/preserves.hpp") {
  auto const laws = [](char const* name) {
    for (function const& f : functions)
      if (std::string(f.name) == name) return laws_of(f);
    return preservations{};
  };
  // The builders say what is found; of one operand, alone and together are the same.
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
  sweep(1, {{0, 1}}, t::make_extents(2, {5, 3}, {2, 2}), n);  // even sizes: of an odd number of factors -a keeps the product
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
  for (map_fault fault : {map_fault::axis_split_differently, map_fault::mesh_axis_on_two_axes, map_fault::partial_in_nonlinear_operation, map_fault::partial_kinds_meet,
                          map_fault::partial_meets_divided_axis, map_fault::partial_plus_replicated, map_fault::partials_multiplied}) {
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
