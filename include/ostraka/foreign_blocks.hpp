// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Copies from and to the arrays of programs that divide their data by rules of their own, such as ScaLAPACK.
/// Opt-in; docs/foreign-blocks.md explains it.
///
///     auto A = os::copy_from_blocks<double, I/X, J>(mesh, I = n, J = m, os::at(I = begin), view);
///     os::copy_to_blocks(A, os::block_cyclic(I = 64, J = 64), os::strided(p, I = 1, J = lld));
///     auto plan = os::plan_blocks<double, I/X, J>(mesh, I = n, J = m, os::at(I = begin), view);
///     plan.copy_from_into(A, view);                                        // as often as you like
///     auto const there = os::scalapack_array_of<I/X, J/Y>(mesh, I = n, J = m, os::block_cyclic(I = 64, J = 64),
///     context);

#include <ostraka/types/support/language.hpp>

#include <ostraka/types/reasons/of_arrays.hpp>

#include <ostraka/arrays/foreign/copy_blocks.hpp>
#include <ostraka/arrays/foreign/plan_blocks.hpp>
#include <ostraka/arrays/foreign/scalapack_array.hpp>
