# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# OSTRAKA_PETSC: the PETSc of the MPI in use, with real numbers of double precision; only examples/petsc needs it.
# PETSC_DIR and PETSC_ARCH in the environment name one that is not installed in a system folder.

set(OSTRAKA_PETSC "")
if(OSTRAKA_ENABLE_MPI)
  set(prefixes "$ENV{PETSC_DIR}/$ENV{PETSC_ARCH}" "$ENV{PETSC_DIR}")
  find_library(OSTRAKA_PETSC_LIBRARY NAMES petsc_real petsc HINTS ${prefixes} PATH_SUFFIXES lib
    DOC "PETSc, for examples/petsc")
  find_path(OSTRAKA_PETSC_INCLUDE_DIR petscsnes.h HINTS ${prefixes} PATH_SUFFIXES include petsc
    DOC "Folder of petscsnes.h, for examples/petsc")
  find_path(OSTRAKA_PETSC_SETTINGS_DIR petscconf.h HINTS ${prefixes} PATH_SUFFIXES include petsc
    DOC "Folder of petscconf.h, for examples/petsc")
  mark_as_advanced(OSTRAKA_PETSC_LIBRARY OSTRAKA_PETSC_INCLUDE_DIR OSTRAKA_PETSC_SETTINGS_DIR)
  if(OSTRAKA_PETSC_LIBRARY AND OSTRAKA_PETSC_INCLUDE_DIR AND OSTRAKA_PETSC_SETTINGS_DIR)
    include(CheckCXXSourceCompiles)
    include(CMakePushCheckState)
    cmake_push_check_state(RESET)
    set(CMAKE_REQUIRED_INCLUDES "${OSTRAKA_PETSC_INCLUDE_DIR}" "${OSTRAKA_PETSC_SETTINGS_DIR}")
    set(CMAKE_REQUIRED_LIBRARIES "${OSTRAKA_PETSC_LIBRARY}" MPI::MPI_CXX)
    set(CMAKE_REQUIRED_QUIET TRUE)
    # PETSc's headers refuse another MPI than the one of its library.
    check_cxx_source_compiles("#include <petscsnes.h>
double& same(PetscScalar& x) { return x; }
int main() { return PetscFinalize(); }" OSTRAKA_PETSC_FITS)
    cmake_pop_check_state()
    if(OSTRAKA_PETSC_FITS)
      set(OSTRAKA_PETSC "${OSTRAKA_PETSC_LIBRARY}")
    endif()
  endif()
endif()
