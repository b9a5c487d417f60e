// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::describe(env)`: the environment of a run, to record with every timing.

#include <string>

#include <ostraka/engine/environment_report.hpp>
#include <ostraka/environment/environment.hpp>

namespace ostraka {

/// One line each for Kokkos with its backend and threads, MPI, BLAS and the processor for which it has chosen its
/// kernels, and the vector width of the library's own kernels. For this rank, without communication.
[[nodiscard]] inline std::string describe(environment const&) { return engine::describe(engine::find_environment()); }

}  // namespace ostraka
