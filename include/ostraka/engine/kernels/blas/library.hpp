// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All libraries of matrix products that this build knows: library_of<Exec> is the one of an execution space,
/// bfloat16_library_of_program the one of bfloat16 on the host. A new one is a file in this folder and a line here.

#include <ostraka/engine/kernels/blas/cblas.hpp>
#include <ostraka/engine/kernels/blas/cublas.hpp>
#include <ostraka/engine/kernels/blas/onednn.hpp>
#include <ostraka/engine/kernels/blas/rocblas.hpp>
