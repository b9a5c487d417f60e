// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The elements that MPI reduces. A build without MPI returns the same answers, since its dry meshes predict
/// the messages of a job with MPI.

#include <type_traits>

#include <ostraka/types/values/half.hpp>
#include <ostraka/types/values/reduction.hpp>

namespace ostraka::engine {

/// True if MPI reduces such elements to the same bits on all members. Its maximum of numbers that compare equal (-0 and
/// 0), or not at all (NaN), may differ between devices. Sums and products of two numbers are commutative, so the trees
/// of all devices agree. (A complex product is not commutative where a compiler fuses multiplication and addition.) MPI
/// has no operations for numbers of 16 bits.
template <class T>
constexpr bool reduced_by_mpi(reduction how) {
  bool const any_tree_agrees =
      how == reduction::sum || (how == reduction::prod && std::is_arithmetic_v<T>) || std::is_integral_v<T>;
  return any_tree_agrees && !is_narrow<T>;
}

}  // namespace ostraka::engine
