// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The elementwise operations that keep the parts of partial tensors. `os::preserves<Op, Kind>` says for which
/// operands f(a ⊕ a', …) = f(a, …) ⊗ f(a', …), where ⊕ is the kind. Parts of such operands become parts of the result,
/// which ⊗ combines.
///
///     kind ⊕   kept together by     kept in one operand alone by            made another kind by
///     sum      +, −, negation       ×, ÷ (numerator), multiples             exp (prod)
///     max      max                  non-decreasing functions, +, − (left)   non-increasing ones, − (right): min
///     min      min                  the same                                the same: max
///     prod     ×, ÷, powers         powers                                  log (sum)
///
/// The rules are those of real numbers. They do not cover infinities combined with zeros or with each other, or
/// integers that overflow.

#include <cstdint>

#include <ostraka/types/values/reduction.hpp>

namespace ostraka {

/// Says whether parts remain parts, and of which kind.
struct outcome {
  bool kept;
  reduction kind;

  // All members are zero by default, without initialisers of their own: with them, g++ 12 does not accept arrays as
  // constant.
  constexpr outcome() = default;
  constexpr outcome(reduction becomes) : kept(true), kind(becomes) {}

  friend constexpr bool operator==(outcome, outcome) = default;
};

/// How an operation keeps operands that are partial by one kind; by default it keeps none.
struct preservation {
  outcome together{};  ///< all operands partial: f(a ⊕ a', b ⊕ b') = f(a, b) ⊗ f(a', b')
  outcome alone[8]{};  ///< operand k partial, the others the same on all devices: f(a ⊕ a', b) = f(a, b) ⊗ f(a', b)

  /// True if some parts are kept.
  [[nodiscard]] constexpr bool any() const {
    for (outcome o : alone)
      if (o.kept) return true;
    return together.kept;
  }

  /// The union of both; where both keep parts, the left one wins.
  friend constexpr preservation operator|(preservation a, preservation const& b) {
    if (!a.together.kept) a.together = b.together;
    for (int k = 0; k < 8; ++k)
      if (!a.alone[k].kept) a.alone[k] = b.alone[k];
    return a;
  }

  friend constexpr bool operator==(preservation const&, preservation const&) = default;
};

/// How the operation keeps parts of this kind; by default it keeps none. Specialise it for the type of a function
/// object, and os::map accepts partial tensors accordingly:
///
///     struct relu { KOKKOS_FUNCTION float operator()(float v) const { return v > 0 ? v : 0; } };
///     template <os::reduction Kind>
///     inline constexpr os::preservation os::preserves<relu, Kind> = os::non_decreasing(Kind);
///
/// @pre the specialisation is true for all values that the elements can have
template <class Op, reduction Kind>
inline constexpr preservation preserves = {};

/// f(a + a', b + b') = f(a, b) + f(a', b'): sums, differences, multiples.
[[nodiscard]] constexpr preservation linear(reduction kind) {
  return kind == reduction::sum ? preservation{kind, {}} : preservation{};
}

/// f(a · a', b · b') = f(a, b) · f(a', b'): products, quotients, powers.
[[nodiscard]] constexpr preservation multiplicative(reduction kind) {
  return kind == reduction::prod ? preservation{kind, {}} : preservation{};
}

/// Linear in each operand with the others fixed: products. `operands` has bit k set for operand k; by default for all.
[[nodiscard]] constexpr preservation multilinear(reduction kind, unsigned operands = 0xFF) {
  preservation p;
  for (int k = 0; k < 8; ++k)
    if (kind == reduction::sum && (operands >> k & 1) != 0) p.alone[k] = kind;
  return p;
}

/// As an operand grows (with the others fixed), the result does not fall: max and min are kept. `operands` has bit k
/// set for operand k.
[[nodiscard]] constexpr preservation non_decreasing(reduction kind, unsigned operands = 0xFF) {
  preservation p;
  for (int k = 0; k < 8; ++k)
    if ((kind == reduction::max || kind == reduction::min) && (operands >> k & 1) != 0) p.alone[k] = kind;
  return p;
}

/// As an operand grows (with the others fixed), the result does not grow: max and min are exchanged. `operands` has bit
/// k set for operand k.
[[nodiscard]] constexpr preservation non_increasing(reduction kind, unsigned operands = 0xFF) {
  preservation p;
  for (int k = 0; k < 8; ++k)
    if ((kind == reduction::max || kind == reduction::min) && (operands >> k & 1) != 0)
      p.alone[k] = kind == reduction::max ? reduction::min : reduction::max;
  return p;
}

/// The number of reductions.
inline constexpr int reduction_kinds = 6;

/// How an operation keeps parts of each kind.
struct preservations {
  preservation of[reduction_kinds]{};

  [[nodiscard]] constexpr preservation const& operator[](reduction kind) const { return of[static_cast<int>(kind)]; }
};

/// The trait as a value, for the planner.
template <class Op>
inline constexpr preservations preservations_of = {
    {preserves<Op, reduction::sum>, preserves<Op, reduction::max>, preserves<Op, reduction::min>,
     preserves<Op, reduction::prod>, preserves<Op, reduction::bit_and>, preserves<Op, reduction::bit_or>}};

}  // namespace ostraka
