# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   ostraka_add_static_test(types.axis axis.cpp)                       static_asserts, doctest cases; floors 1 and 2
#   ostraka_add_test(plan.cost cost.cpp)                               doctest cases; floors 1 and 2 alone
#   ostraka_add_mpi_test(engine.kernels.copy copy.cpp RANKS 1 2)        doctest cases on every rank:
#     mpi.engine.kernels.copy.np1 and .np2
#   ostraka_add_tests_of_folder(...)                                   one of these for every file below a folder
# Tests that a compiler runs are in OstrakaCompilerTests.cmake.
#
# Comments in a test file override the defaults of its folder:
#   // ranks: 1 2 4   // labels: slow essential   // timeout: 300
#   // gpu:           The test reads no device memory on the host. It is linked for GPUs; on the sham device
#                     (OSTRAKA_TEST_SHAM) it has the label "gpu" and runs on 1, 2 and 4 ranks.
#   // gpu: 2 4       The test also runs again on so many ranks: on the sham device with an MPI that accepts its memory
#                     (mpi.<name>.gpu_direct.np2), elsewhere with host memory treated as a GPU's, which MPI accepts or
#                     does not (mpi.<name>.gpu_staged.np2).
#   // sham:          The test reads no device memory on the host, but is not linked for GPUs, since it gives kernels
#                     functions that only a host can call. There are many such tests, so each has one of the labels
#                     "sham_0", "sham_1" and "sham_2", by its name, and .ci/run chooses one. On the sham device a test
#                     whose "// ranks:" is 1 runs on one rank, and others on 1, 2 and 4.
#   // sham: 1 2      The same on these ranks.
#   // sham: always   The same with the label "gpu".
#   // checked: 2 4   The test runs again in check mode (mpi.<name>.checked.np2).
# The label "essential" marks tests of what another compiler, MPI or Kokkos could break: every leg of .ci/run builds
# these tests. The label "ci" marks tests that cost more than they add to a user's trust in the library: without
# OSTRAKA_TEST_EVERYTHING, as with the README's command, they are neither built nor run. Legs of .ci/run build them by
# the targets ostraka_ci_examples and ostraka_ci_tests.

include_guard()

set(OSTRAKA_TEST_TIMEOUT 120 CACHE STRING "Seconds after which a test has failed")
mark_as_advanced(OSTRAKA_TEST_TIMEOUT)

# By default CMake makes a precompiled header a system header, which would suppress our headers' warnings.
set(CMAKE_PCH_PROLOGUE "")
# These apply to the build types Release and None; with None, .ci/run passes options of its own.
set(OSTRAKA_SHARING_OPTIONS $<$<CONFIG:Release,None>:-O0>)
# With -O3, g++ 12 takes two to three times as long to compile the engine's tests as with -O2.
set(OSTRAKA_TEST_ENGINE_OPTIONS "" CACHE
  STRING "Compiler options for the tests of the engine, after those of the build type")
mark_as_advanced(OSTRAKA_TEST_ENGINE_OPTIONS)

# Groups of tests. Build one to get only what a run of ctest -L needs.
add_custom_target(ostraka_plan_tests)  # without the slow ones
add_custom_target(ostraka_mpi_tests)
add_custom_target(ostraka_essential_tests)  # tests on ranks of what another compiler, MPI or Kokkos could break

add_custom_target(ostraka_gpu_tests)  # with OSTRAKA_TEST_SHAM: tests on the sham device, those with the label gpu
add_custom_target(ostraka_sham_tests)  # the same, the other tests
foreach(part IN ITEMS 0 1 2)
  add_custom_target(ostraka_sham_tests_${part})
  add_dependencies(ostraka_sham_tests ostraka_sham_tests_${part})
endforeach()
add_custom_target(ostraka_ci_examples)  # the programs of tests with the label ci: examples, and below the others
add_custom_target(ostraka_ci_tests)

# ostraka_leave_out(<result> <labels> [<what>]): true if the tests with these labels are left out. It then notes <what>,
# or one more program, for the message at the end.
function(ostraka_leave_out result labels)
  set(${result} FALSE PARENT_SCOPE)
  if("ci" IN_LIST labels AND NOT OSTRAKA_TEST_EVERYTHING)
    set(${result} TRUE PARENT_SCOPE)
    get_property(programs GLOBAL PROPERTY OSTRAKA_PROGRAMS_LEFT_OUT)
    if(ARGN)
      set_property(GLOBAL APPEND PROPERTY OSTRAKA_LEFT_OUT "${ARGN}")
    else()
      math(EXPR programs "${programs} + 1")
      set_property(GLOBAL PROPERTY OSTRAKA_PROGRAMS_LEFT_OUT ${programs})
    endif()
  endif()
endfunction()

# Call this after all tests.
function(ostraka_report_left_out)
  get_property(programs GLOBAL PROPERTY OSTRAKA_PROGRAMS_LEFT_OUT)
  get_property(all GLOBAL PROPERTY OSTRAKA_LEFT_OUT)
  if(programs OR all)
    list(REMOVE_DUPLICATES all)
    list(JOIN all ", " all)
    message(STATUS "ostraka: left out, as only CI needs it (label ci): ${programs} programs, ${all}; bash "
      "cmake/bootstrap.sh test all has it")
  endif()
endfunction()

find_path(OSTRAKA_DOCTEST_INCLUDE_DIR doctest/doctest.h REQUIRED DOC "Folder of doctest/doctest.h")
add_library(ostraka_test_settings INTERFACE)
target_include_directories(ostraka_test_settings SYSTEM INTERFACE "${OSTRAKA_DOCTEST_INCLUDE_DIR}")
target_include_directories(ostraka_test_settings INTERFACE "${PROJECT_SOURCE_DIR}/tests")
# clang reports an int as the index of a std::array as a sign conversion; headers and examples avoid that, tests need
# not.
target_compile_options(ostraka_test_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-sign-conversion)

# doctest's runner is compiled once, not per test.
add_library(ostraka_test_main OBJECT "${PROJECT_SOURCE_DIR}/tests/support/main.cpp")
target_link_libraries(ostraka_test_main PRIVATE ostraka_test_settings ostraka::plan)
if(TARGET ostraka::ostraka)
  file(GLOB support CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.cpp")
  list(REMOVE_ITEM support "${PROJECT_SOURCE_DIR}/tests/support/main.cpp")
  add_library(ostraka_mpi_test_main OBJECT ${support})
  target_link_libraries(ostraka_mpi_test_main PRIVATE ostraka_test_settings ostraka::ostraka)
  target_compile_options(ostraka_compiled PRIVATE ${OSTRAKA_TEST_ENGINE_OPTIONS})
  # The templates of the tests' oracle for all element types, and the headers of tests: see ostraka_share_compiled.
  file(GLOB instances CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/shared/*.cpp")
  add_library(ostraka_test_instances OBJECT EXCLUDE_FROM_ALL ${instances})
  target_link_libraries(ostraka_test_instances PRIVATE ostraka_test_settings ostraka::compiled)
  target_compile_options(ostraka_test_instances PRIVATE $<$<CONFIG:Release,None>:-O1>)  # the loops over whole tensors
  file(CONFIGURE OUTPUT precompiled.cpp
    CONTENT "// What is precompiled belongs to a target, and a target has a source.\n")
  add_library(ostraka_test_precompiled OBJECT EXCLUDE_FROM_ALL "${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp")
  target_link_libraries(ostraka_test_precompiled PRIVATE ostraka_test_settings ostraka::compiled)
  target_compile_options(ostraka_test_precompiled PRIVATE ${OSTRAKA_SHARING_OPTIONS})
  # ccache may return a header that was precompiled for another checkout of the same files, with other time stamps.
  target_compile_options(ostraka_test_precompiled PRIVATE
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  # not by its path, so that the compiled text is the same in every checkout
  target_precompile_headers(ostraka_test_precompiled PRIVATE [["support/precompiled.hpp"]])
endif()

# Plain ctest has to work as root and with more ranks than cores, under Open MPI 4 (OMPI_) and 5 and later (PRTE_);
# MPICH needs nothing. A waiting rank yields its core to the ranks that it waits for. MPIEXEC_TIMEOUT ends the ranks,
# which killing mpirun does not.
set(OSTRAKA_TEST_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_hwloc_base_binding_policy=none
  OMPI_MCA_btl_base_warn_component_unused=0
  OMPI_MCA_pml=ob1  # UCX and libfabric look for networks for 0.2 s a start, which one host does not need
  OMPI_MCA_ess_singleton_isolated=1  # a program without mpiexec starts no daemon
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  PRTE_MCA_hwloc_default_binding_policy=none
  OMP_NUM_THREADS=1
  OMP_PROC_BIND=false
  KOKKOS_DISABLE_WARNINGS=1
  OPENBLAS_NUM_THREADS=1
  OSTRAKA_ADVISE=0)
if(OSTRAKA_TEST_SHAM)
  # Another process that copies a message cannot report that it meets device memory. The rank itself can.
  list(APPEND OSTRAKA_TEST_ENVIRONMENT OMPI_MCA_btl_vader_single_copy_mechanism=none)
  # blocks are not kept: the sham device never uses freed memory again, so it detects a use of it
  list(APPEND OSTRAKA_TEST_ENVIRONMENT OSTRAKA_KEEP_FREED_MEMORY=0)
endif()

function(ostraka_add_static_test name)
  # An executable rather than an object library, so that it counts as a test and can contain doctest cases.
  ostraka_add_test(${name} ${ARGN} LABELS static)
endfunction()

function(ostraka_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LABELS")
  ostraka_test_executable(${name} ostraka_test_main ostraka::plan ${arg_SOURCES} ${arg_UNPARSED_ARGUMENTS})
  if(NOT "slow" IN_LIST arg_LABELS)
    add_dependencies(ostraka_plan_tests ${name})
  endif()
  if("ci" IN_LIST arg_LABELS)
    add_dependencies(ostraka_ci_tests ${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  ostraka_set_test_properties(${name} 1 "${arg_TIMEOUT}" "plan;${arg_LABELS}")
endfunction()

function(ostraka_add_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;RANKS;GPU_RANKS;CHECKED_RANKS;LABELS")
  ostraka_test_executable(${name} ostraka_mpi_test_main ostraka::compiled ${arg_SOURCES} ${arg_UNPARSED_ARGUMENTS})
  add_dependencies(ostraka_mpi_tests ${name})
  if("essential" IN_LIST arg_LABELS)
    add_dependencies(ostraka_essential_tests ${name})
  endif()
  if("gpu" IN_LIST arg_LABELS)
    add_dependencies(ostraka_gpu_tests ${name})
  elseif("${arg_LABELS}" MATCHES "sham_([0-2])")
    add_dependencies(ostraka_sham_tests_${CMAKE_MATCH_1} ${name})
  endif()
  if("ci" IN_LIST arg_LABELS AND "examples" IN_LIST arg_LABELS)
    add_dependencies(ostraka_ci_examples ${name})
  elseif("ci" IN_LIST arg_LABELS)
    add_dependencies(ostraka_ci_tests ${name})
  endif()
  if(NOT arg_RANKS)
    set(arg_RANKS 1 2 4)
  endif()
  if(NOT OSTRAKA_ENABLE_MPI)
    set(arg_RANKS 1)
    set(arg_GPU_RANKS "")
    set(arg_CHECKED_RANKS "")
  endif()
  foreach(mode IN ITEMS "" .checked .gpu_direct .gpu_staged)
    set(all_ranks "${arg_GPU_RANKS}")
    if(mode STREQUAL "")
      set(all_ranks "${arg_RANKS}")
    elseif(mode STREQUAL ".checked")
      set(all_ranks "${arg_CHECKED_RANKS}")
    endif()
    if(OSTRAKA_TEST_SHAM AND mode STREQUAL ".gpu_staged")
      continue()  # as without a mode
    endif()
    foreach(ranks IN LISTS all_ranks)
      set(launcher "")
      if(OSTRAKA_ENABLE_MPI AND ranks GREATER 1)  # one rank starts faster without mpiexec
        set(launcher "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS})
      endif()
      set(test mpi.${name}${mode}.np${ranks})
      add_test(NAME ${test} COMMAND ${launcher} $<TARGET_FILE:${name}> ${MPIEXEC_POSTFLAGS})
      ostraka_set_test_properties(${test} ${ranks} "${arg_TIMEOUT}" "mpi;${arg_LABELS}")
      if(NOT launcher)
        # Open MPI 4 gives programs without mpiexec one session directory, and two at the same time fail in MPI_Init.
        set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT OMPI_MCA_orte_create_session_dirs=0)
      endif()
      if(mode STREQUAL ".checked")
        set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT OSTRAKA_CHECK_SPMD=1)
      elseif(OSTRAKA_TEST_SHAM AND mode)
        set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT OSTRAKA_GPU_AWARE_MPI=1)
      elseif(mode)
        string(REPLACE ".gpu_" "" kind "${mode}")
        set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "OSTRAKA_TEST_GPU=${kind}")
      endif()
    endforeach()
  endforeach()
endfunction()

# ostraka_add_tests_of_folder(<folder> STATIC|PLAIN|MPI [RANKS 1 2 ...] [ESSENTIAL_RANKS 1 2 ...]
#   [CHECKED_RANKS 1 2 ...] [SHARE])
# ESSENTIAL_RANKS: the ranks of tests with that label. A job of three ranks finds few errors that meshes of six, with
# axes of three, do not find.
# SHARE: tests that include a file of tests/support share precompiled headers and objects (ostraka_share_compiled).
# Others link the engine's instances if they include the engine.
function(ostraka_add_tests_of_folder folder kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "SHARE" "" "RANKS;ESSENTIAL_RANKS;CHECKED_RANKS")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")  # its comments are read here
    # engine/kernels/copy.cpp
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE name)
    cmake_path(REMOVE_EXTENSION name LAST_ONLY)
    string(REPLACE "/" "." name "${name}")  # engine.kernels.copy
    ostraka_read_comment(labels "${file}" labels "")
    ostraka_leave_out(left_out "${labels}")
    if(left_out)
      continue()
    endif()
    if(arg_ESSENTIAL_RANKS AND "essential" IN_LIST labels)
      ostraka_read_comment(ranks "${file}" ranks "${arg_ESSENTIAL_RANKS}")
    else()
      ostraka_read_comment(ranks "${file}" ranks "${arg_RANKS}")
    endif()
    ostraka_read_comment(timeout "${file}" timeout "${OSTRAKA_TEST_TIMEOUT}")
    ostraka_read_comment(gpu_ranks "${file}" gpu "")
    if(OSTRAKA_TEST_SHAM)
      ostraka_on_sham_device(labels ranks "${file}" "${name}" "${labels}" "${ranks}")
    endif()
    ostraka_read_comment(checked_ranks "${file}" checked "${arg_CHECKED_RANKS}")
    if(kind STREQUAL "MPI")
      ostraka_add_mpi_test(${name} "${file}" RANKS ${ranks} GPU_RANKS ${gpu_ranks} CHECKED_RANKS ${checked_ranks}
        LABELS ${labels} TIMEOUT ${timeout})
    elseif(kind STREQUAL "STATIC")
      ostraka_add_test(${name} "${file}" LABELS static ${labels} TIMEOUT ${timeout})
    else()
      ostraka_add_test(${name} "${file}" LABELS ${labels} TIMEOUT ${timeout})
    endif()
    if(folder STREQUAL "engine")
      target_compile_options(${name} PRIVATE ${OSTRAKA_TEST_ENGINE_OPTIONS})
    endif()
    file(STRINGS "${file}" support REGEX "^#include \"support/")
    if(arg_SHARE AND support)
      ostraka_share_compiled(${name})
    elseif("${support}" MATCHES "instances.hpp")
      target_sources(${name} PRIVATE $<TARGET_OBJECTS:ostraka_test_instances>)
    endif()
  endforeach()
endfunction()

# Compiles a file with the header of a GPU's library, if Kokkos is built for GPUs and the header is there (.ci/run cuda
# and hip). Nothing is linked or run; tests/sham runs the same over a fake.
function(ostraka_add_gpu_object name file library cuda_header hip_header)
  get_property(devices GLOBAL PROPERTY OSTRAKA_KOKKOS_DEVICES)
  if(NOT devices MATCHES "CUDA|HIP")
    return()
  endif()
  set(header ${cuda_header})
  if("HIP" IN_LIST devices)
    set(header ${hip_header})
  endif()
  set(folder OSTRAKA_${library}_INCLUDE_DIR)
  find_path(${folder} ${header} HINTS ${CUDAToolkit_INCLUDE_DIRS} DOC "Folder of ${header}")
  mark_as_advanced(${folder})
  if(NOT ${folder})
    message(NOTICE "ostraka: ${name} is not compiled: there is no ${header}")
    return()
  endif()
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${file})
  target_link_libraries(${name} PRIVATE ostraka_test_settings ostraka::ostraka)
  target_include_directories(${name} SYSTEM PRIVATE "${${folder}}")
  target_compile_definitions(${name} PRIVATE OSTRAKA_ENABLE_${library}=1)
endfunction()

# Makes a test share compiled code. Call it for tests of many shardings and little work, which cost little but
# compiling: tests/support/precompiled.hpp is compiled once for all of them, the engine is ostraka::compiled, the oracle
# is linked; the rest, the surface, is not optimised. tests/engine tests the code with full optimisation.
function(ostraka_share_compiled target)
  target_compile_options(${target} PRIVATE ${OSTRAKA_SHARING_OPTIONS})
  target_precompile_headers(${target} REUSE_FROM ostraka_test_precompiled)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:ostraka_test_instances>)
endfunction()

# ostraka_on_sham_device(<labels> <ranks> <file> <name> <the labels> <the ranks>): labels and ranks of a test that may
# run on the sham device
function(ostraka_on_sham_device labels_result ranks_result file name labels ranks)
  file(STRINGS "${file}" mark REGEX "^// (gpu|sham):" LIMIT_COUNT 1)
  if(mark MATCHES "^// gpu:")
    list(APPEND labels gpu)
    set(ranks 1 2 4)
  elseif(mark)
    string(REGEX MATCHALL "[1-9]+" said "${mark}")
    if(said)
      set(ranks ${said})
    elseif(NOT ranks STREQUAL "1")
      set(ranks 1 2 4)
    endif()
    if(mark MATCHES "always")
      list(APPEND labels gpu)
    else()
      string(MD5 hash "${name}")
      string(SUBSTRING "${hash}" 0 6 hash)
      math(EXPR part "0x${hash} % 3")
      list(APPEND labels sham_${part})
    endif()
  endif()
  set(${labels_result} "${labels}" PARENT_SCOPE)
  set(${ranks_result} "${ranks}" PARENT_SCOPE)
endfunction()

# The words after "// <key>:" in a file as a list, or the default.
function(ostraka_read_comment result file key default)
  file(STRINGS "${file}" line REGEX "^// ${key}:" LIMIT_COUNT 1)
  string(REGEX REPLACE "^// ${key}: *" "" words "${line}")
  separate_arguments(words UNIX_COMMAND "${words}")
  if(NOT words)
    set(words "${default}")
  endif()
  set(${result} "${words}" PARENT_SCOPE)
endfunction()

function(ostraka_test_executable name main library)
  add_executable(${name} ${ARGN} $<TARGET_OBJECTS:${main}>)
  target_link_libraries(${name} PRIVATE ${library} ostraka_test_settings)
endfunction()

function(ostraka_set_test_properties test processors timeout labels)
  if(NOT timeout)
    set(timeout ${OSTRAKA_TEST_TIMEOUT})
  endif()
  math(EXPR ranks_timeout "${timeout} - 5")
  set_tests_properties(${test} PROPERTIES PROCESSORS ${processors} TIMEOUT ${timeout} LABELS "${labels}"
    ENVIRONMENT "${OSTRAKA_TEST_ENVIRONMENT};MPIEXEC_TIMEOUT=${ranks_timeout}")
endfunction()

include("${CMAKE_CURRENT_LIST_DIR}/OstrakaCompilerTests.cmake")
