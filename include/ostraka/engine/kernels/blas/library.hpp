// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All libraries of matrix products in this build: library_of<Exec> is the library of an execution space,
/// bfloat16_library_of_program the library for bfloat16 on the host. To add one, add a file to this folder and a line
/// here.

#include <ostraka/engine/kernels/blas/cblas.hpp>
#include <ostraka/engine/kernels/blas/cublas.hpp>
#include <ostraka/engine/kernels/blas/onednn.hpp>
#include <ostraka/engine/kernels/blas/rocblas.hpp>
