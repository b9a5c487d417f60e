# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# says: >ostraka::compiled was built with GNU 15.1, but this project has GNU 12.2, which is older; name GNU 15 or a
#   later one with CMAKE_CXX_COMPILER, or build ostraka again.*<
# says: same: <>, newer: <>, another: <>

project(consumer LANGUAGES NONE)
include("${CHECKOUT}/cmake/OstrakaDependencies.cmake")
set(a_compiler "GNU 15.1")
set(b_compiler "GNU 12.2")
set(c_compiler "Clang 19.1")
foreach(build IN ITEMS a b c)
  set(${build}_mpi MPICH)
  set(${build}_kokkos "Kokkos 4.0 (SERIAL)")
endforeach()
ostraka_compare_builds(older a b)
ostraka_compare_builds(same a a)
ostraka_compare_builds(newer b a)
ostraka_compare_builds(another a c)
message(STATUS ">${older}<")
message(STATUS "same: <${same}>, newer: <${newer}>, another: <${another}>")
