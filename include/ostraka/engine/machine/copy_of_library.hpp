// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Identifies the copy of the engine's state, and of Kokkos, that a piece of code uses. A program and its
/// libraries share one copy of each, unless the dynamic linker cannot merge their symbols: a plug-in has its own copies
/// if the program exports no symbols. Neither copy sees the state of the other, so a mesh belongs to the copy that made
/// it.

#include <Kokkos_Core.hpp>

#include <string_view>

#include <ostraka/types/support/error.hpp>

namespace ostraka::engine {

namespace detail {

[[gnu::visibility("default")]] inline char state_of_engine = 0;

}  // namespace detail

/// Identifies the two copies by the addresses of a variable of the engine and of a function of Kokkos.
struct copy_of_library {
  char const* engine = &detail::state_of_engine;
  decltype(&Kokkos::is_initialized) kokkos = &Kokkos::is_initialized;

  /// True if the caller uses this copy.
  [[nodiscard]] bool is_ours() const {
    return engine == &detail::state_of_engine && kokkos == &Kokkos::is_initialized;
  }

  [[noreturn, gnu::cold, gnu::noinline]] static void refuse(std::string_view operation, std::string_view mesh) {
    throw_error(
        operation, ": a program and its libraries share one copy of Ostraka and of Kokkos, but the mesh ", mesh,
        " was made by another copy than the one that is called; export the program's symbols (CMake: ENABLE_EXPORTS) "
        "or open all plug-ins with RTLD_GLOBAL (docs/shared-libraries.md)");
  }
};

}  // namespace ostraka::engine
