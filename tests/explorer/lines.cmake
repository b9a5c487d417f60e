# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DEXPLORER=ostraka-plan -DSCRATCH=folder -DCOMPILER=g++ -DFLAGS_FILE=flags.cmake -DINCLUDE_DIR=include -P
#     lines.cmake
#
# The C++ lines of many plans compile, and each moves the bytes that the program printed: --cpp writes a static_assert
# for every line.

cmake_minimum_required(VERSION 3.23)
file(WRITE "${SCRATCH}/program.txt" "mesh X=2, Y=4, Z=2
sizes B=32, S=128, M=1024, H=4096, I=64, J=61, K=64, L=16
h[B_X, S, M_Y] · up[M_X, H_Y] → a[B_X, S, H_Y]
gelu(a) -> g[B_X, S, H_Y]
g · down[H_Y, M_X] → y[B_X, S, M_Y]
P[I_X, J] · Q[J, K_X] -> R[I_X, K]
P · Q -> T[I, K] {U_X}
U[I_X, J] · V[J_Y, K] · W[K, L_X] -> O[I_X, L_Y]
N[I, J_X] {U_Y} -> N_summed[I_Y]
N -> N_moved[I_Y, J_X]
N -> X[J, I_X]
E[I, J] · F[J, K] -> G[I, K]
D[I_XY, J] -> D_turned[I_YX, J]
keys[I_X, J_Y] -> sums[I]
heads[I_X, J] · weights[L, K_Y] -> apart[I, K_X] sum_over(J, L)
heads · weights · others[K_X, H] -> chain[I_X, H] sum_over(J, L)
queries[I_X, J_Y] · keys[K_X, J_Y] -> scores[I_X, K]
")
execute_process(COMMAND "${EXPLORER}" "${SCRATCH}/program.txt" --top 4 --cpp "${SCRATCH}/program.cpp"
  RESULT_VARIABLE status ERROR_VARIABLE complaint)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "ended with ${status} and said:\n${complaint}")
endif()
file(READ "${SCRATCH}/program.cpp" code)
string(REGEX MATCHALL "static_assert" assertions "${code}")
list(LENGTH assertions count)
if(count LESS 40)
  message(FATAL_ERROR "only ${count} lines in ${SCRATCH}/program.cpp")
endif()

include("${FLAGS_FILE}")
list(REMOVE_ITEM include_dirs "${INCLUDE_DIR}" /usr/include)
list(REMOVE_DUPLICATES include_dirs)
list(TRANSFORM include_dirs PREPEND "-isystem")
list(FILTER definitions EXCLUDE REGEX "^$")
list(TRANSFORM definitions PREPEND "-D")
if(COMPILER MATCHES "clang")
  list(FILTER options EXCLUDE REGEX "openmp")
endif()
set(command "${COMPILER}" -std=c++20 -fsyntax-only -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX "-I${INCLUDE_DIR}"
  ${include_dirs} ${definitions} ${options})
execute_process(COMMAND ${command} "${SCRATCH}/program.cpp" RESULT_VARIABLE status ERROR_VARIABLE complaint)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "lines do not have their plans, in ${SCRATCH}/program.cpp:\n${complaint}")
endif()

# The compiler finds a wrong assertion.
string(REGEX REPLACE "bytes\\(\\) == ([1-9])" "bytes() == 1\\1" wrong "${code}")
file(WRITE "${SCRATCH}/wrong.cpp" "${wrong}")
execute_process(COMMAND ${command} "${SCRATCH}/wrong.cpp" RESULT_VARIABLE status ERROR_QUIET)
if(status EQUAL 0)
  message(FATAL_ERROR "wrong bytes compile, too")
endif()
