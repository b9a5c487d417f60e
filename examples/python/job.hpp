// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The job of a Python module. The module initialises Kokkos when it is imported, finalises it after Python, and makes
/// meshes over mpi4py's communicators.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include <ostraka/ostraka.hpp>

namespace job {

inline std::unique_ptr<ostraka::environment> environment;

/// Begins the job. If the program has imported mpi4py.MPI, mpi4py has initialised MPI and also finalises it. The
/// functions that Python calls at its end run in reverse order, so Kokkos ends before MPI. By then Python has destroyed
/// its objects, and with them the tensors.
inline void begin() {
  static char name[] = "python";
  static char* arguments[] = {name, nullptr};
  static char** argv = arguments;
  static int argc = 1;
  environment = std::make_unique<ostraka::environment>(argc, argv);
  if (Py_AtExit([] { environment.reset(); }) != 0)
    throw std::runtime_error("Python calls no more functions at its end");
}

/// The MPI communicator in a communicator of mpi4py. mpi4py and this module need the same MPI library: two that are
/// loaded side by side do not know each other's communicators, and crash.
inline MPI_Comm communicator_of(nanobind::handle communicator) {
  nanobind::module_ const mpi4py = nanobind::module_::import_("mpi4py.MPI");
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  std::string const ours(version, static_cast<std::size_t>(length));
  auto const theirs = nanobind::cast<std::string>(mpi4py.attr("Get_library_version")());
  if (std::strcmp(ours.c_str(), theirs.c_str()) != 0)
    throw std::runtime_error("mpi4py and this module need one MPI, but they have \"" + theirs + "\" and \"" + ours +
                             "\"; install mpi4py for the MPI that this module is built with");
  auto const address = nanobind::cast<std::uintptr_t>(mpi4py.attr("_addressof")(communicator));
  return *reinterpret_cast<MPI_Comm const*>(address);
}

/// A mesh of all processes of a communicator, along one mesh axis.
template <auto Axis>
auto mesh_of(nanobind::handle communicator) {
  MPI_Comm const processes = communicator_of(communicator);
  int size = 0;
  MPI_Comm_size(processes, &size);
  return ostraka::make_mesh(processes, Axis = size);
}

}  // namespace job
