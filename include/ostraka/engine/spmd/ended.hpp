// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The state after Kokkos has ended, whether Ostraka or the program began it. Operations throw, and memory
/// that is still held is left to the system, with one warning. Kokkos itself would end the program with a trace.

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include <ostraka/engine/machine/job_of_mpi.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::engine {

namespace detail {

struct end_of_kokkos {
  bool began = false;  // Kokkos::finalize was called; its hooks may still use Kokkos
  bool speaks = true;  // true on one rank of the job
};
[[gnu::visibility("default")]] inline end_of_kokkos kokkos_end;

[[gnu::cold]] inline void warn_of_leak() {
  if (!std::exchange(kokkos_end.speaks, false)) return;
  std::fputs(
      "ostraka: environment: a tensor ends before its os::environment does, but one outlives it and its memory is left "
      "to the system; declare tensors after the environment, and assign {} to static ones at the end of main\n",
      stderr);
}

}  // namespace detail

/// True if Kokkos has ended. @pre register_end_hooks has been called, as os::make_mesh does
inline bool has_ended() { return detail::kokkos_end.began && !Kokkos::is_initialized(); }

/// Registers the hooks behind has_ended. Call it while Kokkos and MPI run.
[[gnu::visibility("default"), gnu::cold]] inline void register_end_hooks() {
  static bool const once = [] {
    Kokkos::push_finalize_hook([] { detail::kokkos_end.began = true; });
    detail::kokkos_end.speaks = find_place_in_job().rank == 0;
    return true;
  }();
  static_cast<void>(once);
}

/// @throws ostraka::error if Kokkos has ended
inline void require_not_ended(char const* operation) {
  if (has_ended())
    throw_error(
        operation,
        ": operations run inside the scope of the os::environment, but it has ended; end it after the last of them");
}

/// If Kokkos has ended, moves the view to a place where it is never destroyed. Call it before the owner of a view
/// destroys the view.
template <class View>
void leak_view(View& view) {
  if (!has_ended()) return;
  if (view.use_count() > 0) detail::warn_of_leak();
  alignas(View) unsigned char place[sizeof(View)];
  ::new (static_cast<void*>(place)) View(std::move(view));
}

}  // namespace ostraka::engine
