// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. HDF5 files, for programs that link ostraka::hdf5 (docs/hdf5.md). Include this header in one source of a
/// program; then os::save and os::load take paths that end in .h5 or .hdf5 in all sources.
///
///     os::save("u.h5", os::together("u", u, "v", v));                       // datasets with the names of their axes
///     os::load_into(os::together("u", u, "v", v), "u.h5");
///     auto u = os::load<double, I/X, J>("u.h5", mesh, os::dataset("u"));    // one of them
///     os::save("u.h5", os::together("u", u), os::chunked(I = 64, J = 64).deflated(4));
///     os::append<time>("run.h5", os::together("u", u));                     // u[time, I, J] grows
///     auto u = os::load<double, I/X, J>("run.h5", mesh, os::dataset("u").at(time = -1));

#include <ostraka/files.hpp>

#include <ostraka/engine/hdf5/hdf5_tensors.hpp>
#include <ostraka/hdf5/append.hpp>
#include <ostraka/hdf5/chunked.hpp>
#include <ostraka/hdf5/dataset.hpp>

namespace ostraka::detail {

/// Tells the rest of the library, before main, that the program has HDF5.
inline bool const has_hdf5 = (engine::hdf5_of_program = &engine::functions_of_hdf5, true);

}  // namespace ostraka::detail
