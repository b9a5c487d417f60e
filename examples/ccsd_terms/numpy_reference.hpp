// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The terms as NumPy 1.24.2 computes them: written by numpy_reference.py.

struct checksums {
  double weighted, squares;
};

namespace numpy {

inline constexpr checksums particle_ladder{6370.00, 23226400.0000};
inline constexpr checksums hole_ladder{260.00, 1156000.0000};
inline constexpr checksums rings{-6695.00, 7194600.0000};
inline constexpr checksums quadratic{9750.00, 1209184000.0000};
inline constexpr checksums singles{148850.00, 3996160000.0000};
inline constexpr double energy = 250.00;

}  // namespace numpy
