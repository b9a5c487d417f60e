// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The elements that MPI reduces. A build without MPI gives the same answer: its dry meshes predict what a job
/// with MPI sends.

#include <type_traits>

#include <ostraka/types/values/half.hpp>
#include <ostraka/types/values/reduction.hpp>

namespace ostraka::engine {

/// True if MPI reduces such elements to the same bits on all members. Its maximum of numbers that compare equal or not
/// at all (-0 and 0, NaN) may differ between devices. A sum or product of two numbers is the same both ways round, so
/// the trees of all devices agree. (A complex product is not, where a compiler fuses multiplication and addition.) MPI
/// has no operations for numbers of 16 bits.
template <class T>
constexpr bool reduced_by_mpi(reduction how) {
  bool const any_tree_agrees =
      how == reduction::sum || (how == reduction::prod && std::is_arithmetic_v<T>) || std::is_integral_v<T>;
  return any_tree_agrees && !is_narrow<T>;
}

}  // namespace ostraka::engine
