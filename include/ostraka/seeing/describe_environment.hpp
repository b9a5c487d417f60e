// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::describe(env)`: what runs, to stand beside every timing.

#include <string>

#include <ostraka/engine/what_runs.hpp>
#include <ostraka/environment/environment.hpp>

namespace ostraka {

/// Kokkos with its backend and threads, MPI, BLAS and for which processor it has chosen its kernels, the vectors of our
/// own kernels: a line each, of this rank, without communication.
[[nodiscard]] inline std::string describe(environment const&) { return engine::describe(engine::ask_what_runs()); }

}  // namespace ostraka
