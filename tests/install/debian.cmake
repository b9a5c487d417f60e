# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DSOURCE=checkout -DSCRATCH=folder -DCONSUMER=folder [-DLINTIAN=lintian] [-DKOKKOS=folder] -P debian.cmake --
#     <arguments for the consumer's cmake>
#
# The Debian source package builds libostraka-dev; lintian reports nothing for either; a user's project finds the
# package, unpacked. If Debian's own packages of Kokkos and MPI are not installed, others stand in (KOKKOS): the package
# has headers, which are the same.

cmake_minimum_required(VERSION 3.23)
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/../examples/after_dashes.cmake")

file(REMOVE_RECURSE "${SCRATCH}")
set(ENV{Kokkos_ROOT} "${KOKKOS}")
set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} "")
run(bash "${SOURCE}/cmake/packaging/make_debian.sh" "${SCRATCH}" -d)
file(GLOB package "${SCRATCH}/libostraka-dev_*_all.deb")
file(GLOB sources "${SCRATCH}/ostraka_*.dsc")
file(GLOB changes "${SCRATCH}/ostraka_*.changes")
if(NOT package OR NOT sources)
  message(FATAL_ERROR "no package, or no source package")
endif()
if(LINTIAN)
  # The package has no address to write to and closes no bug of Debian: this is no upload.
  run("${LINTIAN}" --allow-root --fail-on error,warning
    --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs "${changes}")
endif()
run(dpkg-deb -x "${package}" "${SCRATCH}/unpacked")
run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${SCRATCH}/build" "-DCMAKE_PREFIX_PATH=${SCRATCH}/unpacked/usr" ${command})
run("${CMAKE_COMMAND}" --build "${SCRATCH}/build")
run("${SCRATCH}/build/program")
if(NOT LINTIAN)
  message(STATUS "SKIPPED: the package is built and found, but there is no lintian here to look at it")
endif()
