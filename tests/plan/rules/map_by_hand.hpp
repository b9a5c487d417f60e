// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Functions of a few numbers, the laws that they keep, found by trying them, and a mesh of plain loops whose devices
/// apply one to their parts.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <ostraka/plan/rules/map_rule.hpp>

namespace ostraka::testing {

using planner::extents;
using planner::mesh_set;
using planner::spec;

inline constexpr reduction kinds[] = {reduction::sum,  reduction::max,     reduction::min,
                                      reduction::prod, reduction::bit_and, reduction::bit_or};

inline double combine(reduction how, double a, double b) {
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

inline bool same(double a, double b) { return a == b || std::abs(a - b) <= 1e-10 * (1 + std::abs(a) + std::abs(b)); }

// A small number: of either sign and not zero, or, for functions of bits, from 0 to 63.
inline double number(std::uint64_t a, std::uint64_t b, bool bits) {
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

inline function const functions[] = {
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
    {"a and b", 2, true,
     [](double const* v) {
       return static_cast<double>(static_cast<std::int64_t>(v[0]) & static_cast<std::int64_t>(v[1]));
     }},
    {"a or b", 2, true,
     [](double const* v) {
       return static_cast<double>(static_cast<std::int64_t>(v[0]) | static_cast<std::int64_t>(v[1]));
     }},
    {"a+b+c", 3, false, [](double const* v) { return v[0] + v[1] + v[2]; }},
    {"ab+c", 3, false, [](double const* v) { return v[0] * v[1] + v[2]; }},
    {"abc", 3, false, [](double const* v) { return v[0] * v[1] * v[2]; }},
    {"max(a,b,c)", 3, false, [](double const* v) { return std::max(v[0], std::max(v[1], v[2])); }},
    {"max(a,b-c)", 3, false, [](double const* v) { return std::max(v[0], v[1] - v[2]); }},
};

// True if f(a ⊕ a', …) = f(a, …) ⊗ f(a', …) holds, in all operands or in operand k alone.
inline bool law_holds(function const& f, reduction before, reduction after, int alone) {
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

inline outcome law_of(function const& f, reduction kind, int alone) {
  if (law_holds(f, kind, kind, alone)) return kind;
  for (reduction after : kinds)
    if (law_holds(f, kind, after, alone)) return after;
  return {};
}

inline preservations laws_of(function const& f) {
  preservations p;
  for (reduction kind : kinds) {
    p.of[static_cast<int>(kind)].together = law_of(f, kind, -1);
    for (int k = 0; k < f.operands; ++k) p.of[static_cast<int>(kind)].alone[k] = law_of(f, kind, k);
  }
  return p;
}

using coordinates = std::vector<std::int64_t>;

inline std::int64_t begin_of(spec const& s, int dimension, coordinates const& at, extents const& e, std::int64_t next) {
  std::int64_t d = 0;
  std::int64_t p = 1;
  for (int k = 0; k < s.over[dimension].size(); ++k) {
    int const m = s.over[dimension][k];
    d = d * e.mesh[m] + at[static_cast<std::size_t>(m)];
    p *= e.mesh[m];
  }
  return (d + next) * e.label[s.label[dimension]] / p;
}

// A mesh on which each device has its part of each operand, and applies the operation to it.
class simulation {
 public:
  simulation(function const& f, planner::operand_specs const& operands, extents const& e, std::uint64_t seed)
      : f_(f), operands_(operands), e_(e), seed_(seed) {}

  // True if the combined parts of the result equal the operation on the whole tensors, and replicas are equal.
  bool gives(spec const& result) const {
    bool right = true;
    each_device(mesh_set::first(e_.mesh_axes), coordinates(static_cast<std::size_t>(e_.mesh_axes), 0),
                [&](coordinates const& here) {
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
    for (int i = 0; i < operands_[k].rank; ++i)
      place = place * 16 + static_cast<std::uint64_t>(index[operands_[k].label[i]]) + 1;
    std::uint64_t number_of_part = 0;
    for (int m = 0; m < e_.mesh_axes; ++m)
      if (operands_[k].partial.contains(m))
        number_of_part = number_of_part * 8 + static_cast<std::uint64_t>(at[static_cast<std::size_t>(m)]) + 1;
    return number(place, number_of_part, f_.bits);
  }

  double whole(int k, std::int64_t const* index) const {
    bool first = true;
    double total = 0;
    each_device(operands_[k].partial, coordinates(static_cast<std::size_t>(e_.mesh_axes), 0),
                [&](coordinates const& at) {
                  double const v = part(k, at, index);
                  total = first ? v : combine(operands_[k].kind, total, v);
                  first = false;
                });
    return total;
  }

  function const& f_;
  planner::operand_specs const& operands_;
  extents const& e_;
  std::uint64_t seed_;
};

}  // namespace ostraka::testing
