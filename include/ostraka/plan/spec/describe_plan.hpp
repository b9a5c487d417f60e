// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Specs and plans in the literature's notation: A[I_X, J] {U_Y}.

#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/plan/spec/plan.hpp>

namespace ostraka::planner {

/// Names for the numbers in a plan.
struct naming {
  std::string_view const* labels = nullptr;
  std::string_view const* mesh_axes = nullptr;
  int element_bytes = 0;
  std::string_view const* tensors =
      nullptr;  ///< names of the operands and then the result; a letter replaces an empty name, and all names if null
};

[[nodiscard]] constexpr std::string_view name_of(step s) {
  switch (s) {
    case step::slice: return "slice";
    case step::mask: return "mask";
    case step::zero_pad: return "zero_pad";
    case step::all_gather: return "all_gather";
    case step::all_reduce: return "all_reduce";
    case step::reduce_scatter: return "reduce_scatter";
    case step::all_to_all: return "all_to_all";
    case step::block_exchange: return "block_exchange";
    case step::contract: return "contract";
    case step::ring_contraction: return "ring_contraction";
  }
  return "";
}

/// The name of a reduction: U for sums, {U_X} in the literature, and max and so on for the others.
[[nodiscard]] constexpr std::string_view name_of(reduction kind) {
  switch (kind) {
    case reduction::sum: return "U";
    case reduction::max: return "max";
    case reduction::min: return "min";
    case reduction::prod: return "prod";
    case reduction::bit_and: return "and";
    case reduction::bit_or: return "or";
  }
  return "";
}

namespace detail {

[[gnu::cold]] inline mesh_order in_order(mesh_set axes) {
  mesh_order o;
  for (int m = 0; m < max_mesh_axes; ++m)
    if (axes.contains(m)) o.push_back(m);
  return o;
}

}  // namespace detail

// These are templates so that ostraka::compiled can hold them; plan_in_words.hpp has their bodies.

/// `[I_X, J] {U_Y}`
template <class = void>
[[nodiscard, gnu::cold]] std::string describe(spec const& s, naming const& n);

/// `1,234,567`
template <class = void>
[[nodiscard, gnu::cold]] std::string describe_number(std::int64_t number);

/// `1,234,567 B`
template <class = void>
[[nodiscard, gnu::cold]] std::string describe_bytes(std::int64_t bytes);

/// `C[I_X, K] = A[I_X, J] · B[J, K]`
template <class = void>
[[nodiscard, gnu::cold]] std::string describe_equation(spec const* operands, int count, spec const& result,
                                                       naming const& n);

/// A line for the operation, a line for each step with the bytes that it moves per device at these extents, and a line
/// for the sum. Operands are A, B, … and the result is the next letter, unless `n` names them otherwise. An
/// intermediate is named after its factors: AB.
template <class = void>
[[nodiscard, gnu::cold]] std::string describe(einsum_plan const& plan, naming const& n, extents const& e);

namespace detail {

// I_XY if all names are letters, batch_{data,model} if one is a word.
template <class = void>
[[gnu::cold]] std::string mesh_names(mesh_order o, naming const& n);

// The width in characters, not bytes: UTF-8 continuation bytes take no space.
[[gnu::cold]] inline std::size_t width_of(std::string_view s) {
  std::size_t shown = 0;
  for (char c : s) shown += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return shown;
}

[[gnu::cold]] inline std::string padded(std::string s, std::size_t width) {
  std::size_t const shown = width_of(s);
  if (shown < width) s.append(width - shown, ' ');
  return s;
}

}  // namespace detail

}  // namespace ostraka::planner

#ifndef OSTRAKA_COMPILED
#  include <ostraka/plan/spec/plan_in_words.hpp>
#endif
