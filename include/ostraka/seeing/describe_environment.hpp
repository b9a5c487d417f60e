// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::describe(env)`: the environment of a run, to record beside every timing.

#include <string>

#include <ostraka/engine/environment_report.hpp>
#include <ostraka/environment/environment.hpp>

namespace ostraka {

/// Kokkos with its backend and threads, MPI, BLAS and the processor for which it has chosen its kernels, the vectors of
/// our own kernels: one line each, for this rank, without communication.
[[nodiscard]] inline std::string describe(environment const&) { return engine::describe(engine::find_environment()); }

}  // namespace ostraka
