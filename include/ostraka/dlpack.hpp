// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Passes blocks of tensors to and from other array libraries (NumPy, PyTorch, JAX, CuPy, …) by DLPack,
/// without a copy. Opt-in; docs/python.md explains it. Include Python.h, or nanobind or pybind11, before this header to
/// pass Python's objects.
///
///     auto A = os::from_dlpack<double, I/X, J>(mesh, I = n, J = m, managed);    // a DLManagedTensorVersioned*
///     auto A = os::from_dlpack<double, I/X, J>(mesh, I = n, J = m, object);     // a PyObject* with __dlpack__
///     consume(os::to_dlpack(A).release());
///     return os::to_dlpack_capsule(A, max_version);                             // a PyObject*

#include <ostraka/ostraka.hpp>

#include <ostraka/dlpack/from_dlpack.hpp>
#include <ostraka/dlpack/ghosted_dlpack.hpp>
#include <ostraka/dlpack/python_capsule.hpp>
#include <ostraka/dlpack/to_dlpack.hpp>
