# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds the dependencies of ostraka::ostraka: Kokkos and MPI, and FFTW, HDF5 and oneDNN on request; a CBLAS is found in
# OstrakaCblas.cmake, and what GPUs need in OstrakaGpuDependencies.cmake. The build uses this file, and so does the
# installed ostraka-config.cmake, so that both find the same things in the same way and report the same sentence if they
# do not.

include_guard()

include("${CMAKE_CURRENT_LIST_DIR}/OstrakaCblas.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/OstrakaGpuDependencies.cmake")

set(OSTRAKA_KOKKOS_FIRST 3.4)  # the oldest that is tested
set(OSTRAKA_KOKKOS_BEFORE 6)   # the first that is not supported

# ostraka_find_dependencies(MPI <bool> BLAS <bool> MISSING <variable>)
# The variable receives a sentence per missing dependency, or nothing. BLAS is optional: without one, Kokkos multiplies.
function(ostraka_find_dependencies)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "MPI;BLAS;MISSING" "")
  set(missing "")
  ostraka_check_compiler(sentence)
  ostraka_append_sentence(missing "${sentence}")
  if(arg_MPI)
    ostraka_find_mpi(sentence)
    ostraka_append_sentence(missing "${sentence}")
  endif()
  ostraka_find_kokkos(sentence)
  ostraka_append_sentence(missing "${sentence}")
  if(arg_BLAS)
    ostraka_find_cblas()
    ostraka_find_gpu_blas()
  endif()
  set(${arg_MISSING} "${missing}" PARENT_SCOPE)
endfunction()

# Appends a sentence as text: its semicolons would split a list.
function(ostraka_append_sentence variable sentence)
  set(text "${${variable}}")
  if(text AND NOT sentence STREQUAL "")
    string(APPEND text " ")
  endif()
  set(${variable} "${text}${sentence}" PARENT_SCOPE)
endfunction()

# Reports what was found, unless find_package(ostraka QUIET) was called.
function(ostraka_say text)
  if(NOT ostraka_FIND_QUIETLY)
    message(STATUS "ostraka: ${text}")
  endif()
endfunction()

# Makes an imported target. It is visible to the folder that finds it, and to all folders if this project is part of
# another.
function(ostraka_add_imported name)
  add_library(${name} INTERFACE IMPORTED)
  if(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_GLOBAL TRUE)
  endif()
endfunction()

# ostraka_add_found(<name> <title> <folder of headers> <library>…): makes ostraka::<name> of a library, and reports it.
function(ostraka_add_found name title headers)
  ostraka_add_imported(ostraka::${name})
  target_include_directories(ostraka::${name} INTERFACE "${headers}")
  target_link_libraries(ostraka::${name} INTERFACE ${ARGN})
  list(JOIN ARGN ", " libraries)
  ostraka_say("${title} ${libraries}")
endfunction()

function(ostraka_check_compiler sentence)
  set(${sentence} "" PARENT_SCOPE)
  if(NOT CMAKE_CXX_COMPILER_LOADED)
    set(${sentence} "The project has no C++; enable it, as by project(… LANGUAGES CXX)." PARENT_SCOPE)
  elseif((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
      OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16))
    string(CONCAT words
      "The compiler, ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, is too old; install g++ 12 or clang 16, "
      "or a later one, and name it with CMAKE_CXX_COMPILER.")
    set(${sentence} "${words}" PARENT_SCOPE)
  endif()
endfunction()

# Makes the target ostraka::mpi. If it is absent, programs have no MPI.
function(ostraka_find_mpi sentence)
  set(MPI_CXX_SKIP_MPICXX TRUE)
  find_package(MPI 3.1 QUIET COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(${sentence} "" PARENT_SCOPE)
    ostraka_say("MPI ${MPI_CXX_VERSION} (${MPI_CXX_COMPILER})")
    if(NOT TARGET ostraka::mpi)
      ostraka_add_imported(ostraka::mpi)
      target_link_libraries(ostraka::mpi INTERFACE MPI::MPI_CXX)
    endif()
  else()
    set(${sentence}
      "MPI was not found; install one, name its compiler wrapper with MPI_CXX_COMPILER, or set OSTRAKA_ENABLE_MPI=OFF."
      PARENT_SCOPE)
  endif()
endfunction()

# Kokkos' own version file refuses ranges across major versions, so this asks for any version and then checks it.
function(ostraka_find_kokkos sentence)
  set(range "${OSTRAKA_KOKKOS_FIRST} or later and before ${OSTRAKA_KOKKOS_BEFORE}")
  if(TARGET Kokkos::kokkos AND NOT DEFINED Kokkos_VERSION)  # a superproject's Kokkos, which chooses its version itself
    set(${sentence} "" PARENT_SCOPE)
    return()
  endif()
  if(NOT TARGET Kokkos::kokkos)
    find_package(Kokkos QUIET CONFIG)
    ostraka_mend_kokkos()
  endif()
  if(NOT TARGET Kokkos::kokkos AND Kokkos_CONSIDERED_CONFIGS)
    list(GET Kokkos_CONSIDERED_CONFIGS 0 config)
    cmake_path(GET config PARENT_PATH folder)
    string(REGEX REPLACE "[ .]+$" "" why "${Kokkos_NOT_FOUND_MESSAGE}")
    string(CONCAT words
      "Kokkos in ${folder} cannot be used here (${why}); install what it lacks for ${CMAKE_CXX_COMPILER}, or name "
      "another Kokkos with Kokkos_ROOT.")
    set(${sentence} "${words}" PARENT_SCOPE)
  elseif(NOT TARGET Kokkos::kokkos)
    set(${sentence} "Kokkos was not found; install it (${range}) and name its prefix with Kokkos_ROOT." PARENT_SCOPE)
  elseif(Kokkos_VERSION VERSION_LESS OSTRAKA_KOKKOS_FIRST OR Kokkos_VERSION VERSION_GREATER_EQUAL OSTRAKA_KOKKOS_BEFORE)
    string(CONCAT words
      "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is not supported; install ${range} and name its prefix with "
      "Kokkos_ROOT.")
    set(${sentence} "${words}" PARENT_SCOPE)
  else()
    ostraka_check_openmp(lacks)
    set(${sentence} "${lacks}" PARENT_SCOPE)
    list(JOIN Kokkos_DEVICES ", " devices)
    ostraka_say("Kokkos ${Kokkos_VERSION} (${devices})")
    set_property(GLOBAL PROPERTY OSTRAKA_KOKKOS "Kokkos ${Kokkos_VERSION} (${devices})")
    set_property(GLOBAL PROPERTY OSTRAKA_KOKKOS_DEVICES "${Kokkos_DEVICES}")
  endif()
endfunction()

# Kokkos::kokkos of Debian 12's libtrilinos-kokkos-dev names a folder of headers that does not exist, and
# Kokkos_INCLUDE_DIRS the right one. CMake would stop with an error about the target ostraka::ostraka.
function(ostraka_mend_kokkos)
  if(NOT TARGET Kokkos::kokkos OR NOT EXISTS "${Kokkos_INCLUDE_DIRS}/Kokkos_Core.hpp")
    return()
  endif()
  get_target_property(folders Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
  foreach(folder IN LISTS folders)
    if(IS_ABSOLUTE "${folder}" AND NOT EXISTS "${folder}")
      set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")
    endif()
  endforeach()
endfunction()

# Checks that a Kokkos built by another compiler can use this one's OpenMP. It compiles and does not link, so that a
# Kokkos with headers only passes, too.
function(ostraka_check_openmp sentence)
  set(${sentence} "" PARENT_SCOPE)
  get_target_property(imported Kokkos::kokkos IMPORTED)
  if(NOT "OPENMP" IN_LIST Kokkos_DEVICES OR NOT imported)
    return()
  endif()
  string(MD5 remembered "${CMAKE_CXX_COMPILER} ${Kokkos_DIR}")
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_QUIET TRUE)
  set(CMAKE_REQUIRED_LIBRARIES Kokkos::kokkos)
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  string(CONCAT words
    "#include <omp.h>\n#ifndef _OPENMP\n#error\n#endif\nint threads() { return omp_get_max_threads(); }")
  check_cxx_source_compiles("${words}" OSTRAKA_HAS_OPENMP_${remembered})
  if(NOT OSTRAKA_HAS_OPENMP_${remembered})
    string(CONCAT words
      "Kokkos in ${Kokkos_DIR} has OpenMP, and ${CMAKE_CXX_COMPILER} has not; install its OpenMP (for clang "
      "libomp-dev), or name a Kokkos without with Kokkos_ROOT.")
    set(${sentence} "${words}" PARENT_SCOPE)
  endif()
endfunction()

# --- what programs share with ostraka::compiled -----------------------------------------------------------------------

# ostraka_describe_build(<prefix>): sets <prefix>_mpi, _kokkos and _compiler to the names that messages use for those of
# this project. Call it after the dependencies have been found.
function(ostraka_describe_build prefix)
  ostraka_which_mpi(mpi)
  get_property(kokkos GLOBAL PROPERTY OSTRAKA_KOKKOS)  # empty for a superproject's own Kokkos
  set(${prefix}_mpi "${mpi}" PARENT_SCOPE)
  set(${prefix}_kokkos "${kokkos}" PARENT_SCOPE)
  set(${prefix}_compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" PARENT_SCOPE)
endfunction()

# Names the MPI by its binary interface: "Open MPI", "MPICH" (Intel MPI, MVAPICH and Cray's share its interface),
# "another MPI", "no MPI". It compiles a program and reads the name from the program's text, since programs do not run
# when cross-compiling.
function(ostraka_which_mpi result)
  if(NOT TARGET ostraka::mpi)
    set(${result} "no MPI" PARENT_SCOPE)
    return()
  endif()
  string(MD5 remembered
    "${CMAKE_CXX_COMPILER} ${MPI_CXX_COMPILER} ${MPI_CXX_HEADER_DIR} ${MPI_CXX_COMPILER_INCLUDE_DIRS}")
  set(remembered OSTRAKA_WHICH_MPI_${remembered})
  if(NOT DEFINED CACHE{${remembered}})
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/ostraka_which_mpi")
    file(WRITE "${folder}/which_mpi.cpp" "#include <mpi.h>
#if defined(OPEN_MPI)
#  define WHICH \"Open MPI\"
#elif defined(MPICH_VERSION) || defined(MPICH_NUMVERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
#  define WHICH \"MPICH\"
#else
#  define WHICH \"another MPI\"
#endif
extern char const which_mpi[] = \"ostraka: which MPI: \" WHICH \".\";
int main(int count, char**) { return which_mpi[count]; }
")
    try_compile(compiled "${folder}/build" SOURCES "${folder}/which_mpi.cpp" LINK_LIBRARIES MPI::MPI_CXX
      COPY_FILE "${folder}/which_mpi")
    set(name "another MPI")
    if(compiled)
      file(STRINGS "${folder}/which_mpi" text REGEX "ostraka: which MPI: ")
      string(REGEX REPLACE ".*ostraka: which MPI: ([A-Za-z ]*).*" "\\1" name "${text}")
    endif()
    set(${remembered} "${name}" CACHE INTERNAL "")
  endif()
  set(${result} "${${remembered}}" PARENT_SCOPE)
endfunction()

# ostraka_compare_builds(<variable> <built> <here>): compares the build that made ostraka::compiled, prefix <built>,
# with this one, <here>. The variable receives a sentence per difference that makes their objects incompatible, or
# nothing.
function(ostraka_compare_builds variable built here)
  set(all "")
  set(otherwise "or build ostraka again, with this project's")
  if(NOT ${built}_mpi STREQUAL ${here}_mpi)
    set(remedy "name the same with MPI_CXX_COMPILER")
    if(${built}_mpi STREQUAL "no MPI")
      set(remedy "set OSTRAKA_ENABLE_MPI=OFF")
    elseif(${here}_mpi STREQUAL "no MPI")
      set(remedy "set OSTRAKA_ENABLE_MPI=ON")
    endif()
    ostraka_append_sentence(all
      "ostraka::compiled was built with ${${built}_mpi}, but this project has ${${here}_mpi}; ${remedy}, ${otherwise}.")
  endif()
  if(${built}_kokkos AND ${here}_kokkos AND NOT ${built}_kokkos STREQUAL ${here}_kokkos)
    string(CONCAT words
      "ostraka::compiled was built with ${${built}_kokkos}, but this project has ${${here}_kokkos}; name the same "
      "with Kokkos_ROOT, ${otherwise}.")
    ostraka_append_sentence(all "${words}")
  endif()
  # The standard library of an older compiler lacks what the newer one's objects call.
  string(REGEX MATCH "^([A-Za-z]+) ([0-9]+)" _ "${${built}_compiler}")
  set(name "${CMAKE_MATCH_1}")
  set(version "${CMAKE_MATCH_2}")
  if(name AND ${here}_compiler MATCHES "^${name} ([0-9]+)" AND CMAKE_MATCH_1 LESS version)
    string(CONCAT words
      "ostraka::compiled was built with ${${built}_compiler}, but this project has ${${here}_compiler}, which is "
      "older; name ${name} ${version} or a later one with CMAKE_CXX_COMPILER, ${otherwise}.")
    ostraka_append_sentence(all "${words}")
  endif()
  set(${variable} "${all}" PARENT_SCOPE)
endfunction()

# --- on request -------------------------------------------------------------------------------------------------------

# Makes the target ostraka::fftw from the two libraries for double and float, on request only. Programs that link it and
# include <ostraka/fft.hpp> transform by FFTW, whose licence is the GPL.
function(ostraka_find_fftw sentence)
  set(${sentence} "" PARENT_SCOPE)
  if(TARGET ostraka::fftw)
    return()
  endif()
  find_path(OSTRAKA_FFTW_INCLUDE_DIR fftw3.h DOC "Folder of fftw3.h")
  find_library(OSTRAKA_FFTW_LIBRARY NAMES fftw3 DOC "FFTW 3 for double")
  find_library(OSTRAKA_FFTWF_LIBRARY NAMES fftw3f DOC "FFTW 3 for float")
  mark_as_advanced(OSTRAKA_FFTW_INCLUDE_DIR OSTRAKA_FFTW_LIBRARY OSTRAKA_FFTWF_LIBRARY)
  if(NOT OSTRAKA_FFTW_INCLUDE_DIR OR NOT OSTRAKA_FFTW_LIBRARY OR NOT OSTRAKA_FFTWF_LIBRARY)
    string(CONCAT words
      "FFTW 3 for double and float was not found; install it (Debian: libfftw3-dev), name OSTRAKA_FFTW_INCLUDE_DIR, "
      "OSTRAKA_FFTW_LIBRARY and OSTRAKA_FFTWF_LIBRARY, or go without: os::fft has transforms of its own.")
    set(${sentence} "${words}" PARENT_SCOPE)
    return()
  endif()
  ostraka_add_found(fftw "FFTW" "${OSTRAKA_FFTW_INCLUDE_DIR}" "${OSTRAKA_FFTW_LIBRARY}" "${OSTRAKA_FFTWF_LIBRARY}")
  target_compile_definitions(ostraka::fftw INTERFACE OSTRAKA_ENABLE_FFTW=1)
endfunction()

# Makes the target ostraka::hdf5 from the HDF5 that was built with the MPI in use, or without MPI, and its high-level
# library; on request only, after MPI was looked for. Debian has one HDF5 for each MPI.
function(ostraka_find_hdf5 sentence)
  set(${sentence} "" PARENT_SCOPE)
  if(TARGET ostraka::hdf5)
    return()
  endif()
  ostraka_which_mpi(mpi)
  set(flavour_of_Open\ MPI openmpi)
  set(flavour_of_MPICH mpich)
  set(flavour_of_no\ MPI serial)
  set(flavour "${flavour_of_${mpi}}")
  set(package "libhdf5-${flavour}-dev")
  string(REPLACE "-serial" "" package "${package}")
  string(CONCAT remedy
    "install the one for ${mpi} (Debian: ${package}), name its prefix with HDF5_ROOT, or name "
    "OSTRAKA_HDF5_INCLUDE_DIR, OSTRAKA_HDF5_LIBRARY and OSTRAKA_HDF5_HL_LIBRARY.")
  find_path(OSTRAKA_HDF5_INCLUDE_DIR hdf5.h HINTS "${HDF5_ROOT}" ENV HDF5_ROOT
    PATH_SUFFIXES hdf5/${flavour} include/hdf5/${flavour} ${flavour}-${CMAKE_SYSTEM_PROCESSOR} include
    DOC "Folder of the hdf5.h for this MPI")
  foreach(part IN ITEMS "" _HL)
    string(TOLOWER "${part}" ending)
    find_library(OSTRAKA_HDF5${part}_LIBRARY NAMES hdf5_${flavour}${ending} hdf5${ending} HINTS "${HDF5_ROOT}"
      ENV HDF5_ROOT
      PATH_SUFFIXES hdf5/${flavour} ${flavour}/lib lib DOC "HDF5${part} for this MPI")
  endforeach()
  mark_as_advanced(OSTRAKA_HDF5_INCLUDE_DIR OSTRAKA_HDF5_LIBRARY OSTRAKA_HDF5_HL_LIBRARY)
  if(NOT OSTRAKA_HDF5_INCLUDE_DIR OR NOT OSTRAKA_HDF5_LIBRARY OR NOT OSTRAKA_HDF5_HL_LIBRARY)
    set(${sentence} "HDF5 with its high-level library was not found; ${remedy}" PARENT_SCOPE)
    return()
  endif()
  set(parallel "")
  file(GLOB settings "${OSTRAKA_HDF5_INCLUDE_DIR}/H5pubconf*.h")
  foreach(file IN LISTS settings)
    file(STRINGS "${file}" line REGEX "^#define H5_HAVE_PARALLEL 1")
    string(APPEND parallel "${line}")
  endforeach()
  if(parallel AND mpi STREQUAL "no MPI")
    set(${sentence} "HDF5 in ${OSTRAKA_HDF5_INCLUDE_DIR} was built with MPI, and this project has none; ${remedy}"
      PARENT_SCOPE)
    return()
  elseif(NOT parallel AND NOT mpi STREQUAL "no MPI")
    set(${sentence} "HDF5 in ${OSTRAKA_HDF5_INCLUDE_DIR} was built without MPI; ${remedy}" PARENT_SCOPE)
    return()
  endif()
  ostraka_add_found(hdf5 "HDF5" "${OSTRAKA_HDF5_INCLUDE_DIR}" "${OSTRAKA_HDF5_HL_LIBRARY}" "${OSTRAKA_HDF5_LIBRARY}")
endfunction()

# Makes the target ostraka::onednn from oneDNN, version 2 or 3, on request only. Programs that link it, and
# ostraka::ostraka or ostraka::compiled, multiply bfloat16 by it on processors that have instructions for this.
function(ostraka_find_onednn sentence)
  set(${sentence} "" PARENT_SCOPE)
  if(TARGET ostraka::onednn)
    return()
  endif()
  find_path(OSTRAKA_ONEDNN_INCLUDE_DIR oneapi/dnnl/dnnl.h HINTS "${ONEDNN_ROOT}" ENV ONEDNN_ROOT PATH_SUFFIXES include
    DOC "Folder of oneapi/dnnl/dnnl.h")
  find_library(OSTRAKA_ONEDNN_LIBRARY NAMES dnnl HINTS "${ONEDNN_ROOT}" ENV ONEDNN_ROOT PATH_SUFFIXES lib DOC "oneDNN")
  mark_as_advanced(OSTRAKA_ONEDNN_INCLUDE_DIR OSTRAKA_ONEDNN_LIBRARY)
  if(NOT OSTRAKA_ONEDNN_INCLUDE_DIR OR NOT OSTRAKA_ONEDNN_LIBRARY)
    string(CONCAT words
      "oneDNN was not found; install it (Debian: libdnnl-dev), name its prefix with ONEDNN_ROOT, or name "
      "OSTRAKA_ONEDNN_INCLUDE_DIR and OSTRAKA_ONEDNN_LIBRARY, or go without: bfloat16 is multiplied as floats.")
    set(${sentence} "${words}" PARENT_SCOPE)
    return()
  endif()
  ostraka_add_found(onednn "oneDNN" "${OSTRAKA_ONEDNN_INCLUDE_DIR}" "${OSTRAKA_ONEDNN_LIBRARY}")
  target_compile_definitions(ostraka::onednn INTERFACE OSTRAKA_ENABLE_ONEDNN=1)
endfunction()
