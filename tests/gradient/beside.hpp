// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The other operands of an operation whose gradient by p is taken: variables or constants.

#include <cstdint>
#include <string>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include "support/on_meshes.hpp"

namespace ostraka::testing {

/// Small fractions for an operand.
template <class Type>
Type fractions(test_mesh const& m, extents_by_letter const& e, std::string const& letters, std::uint64_t salt) {
  auto g = whole_numbers<double>(letters, e, salt);
  for (double& v : g.values) v = 0.25 * v + 0.1;
  return placed<Type>(m, g);
}

/// x as a variable of the derivative by p without a place on its tape, or as a tensor if p is one.
template <class P, class A>
auto constant_beside(P const&, A const& x) {
  if constexpr (is_variable<P>)
    return variable<A>(x);
  else
    return x;
}

/// The same on the tape, but independent of p.
template <class P, class A>
auto variable_beside(P const& p, A const& x) {
  return multiply(x, add(scale(sum<>(p), 0.0), 1.0));
}

constexpr auto beside_variables = [](auto const& p, auto const& a) { return variable_beside(p, a); };

}  // namespace ostraka::testing
