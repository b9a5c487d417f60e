# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Part of OstrakaTesting.cmake: tests that a compiler runs.
#
#   ostraka_add_compile_fail_tests(FILES ...)                          compile_fail.<file>.<compiler>: what does not
#     compile, and the sentence that says why
#   ostraka_add_compile_time_tests(<folder>)
#     compile_time.<file>.<compiler>: how much constant evaluation a plan takes

include_guard()

# Finds g++ and the newest installed clang++ from 16 on. An error is a sentence for a reader, so the output of both is
# checked. Older clangs word errors in the same way, and each would cost as many tests again. Tests with the compiler
# that this build does not use have the label ci.
function(ostraka_compile_fail_compilers result)
  set(compilers "")
  find_program(OSTRAKA_COMPILER_g++ g++)
  set(names "")
  foreach(version RANGE 99 16 -1)
    list(APPEND names clang++-${version})
  endforeach()
  find_program(OSTRAKA_COMPILER_clang++ NAMES ${names})
  mark_as_advanced(OSTRAKA_COMPILER_g++ OSTRAKA_COMPILER_clang++)
  foreach(name IN ITEMS g++ clang++)
    if(OSTRAKA_COMPILER_${name})
      ostraka_label_of_compiler(label "${OSTRAKA_COMPILER_${name}}")
      ostraka_leave_out(left_out "${label}" "errors of ${name}")
      if(NOT left_out)
        list(APPEND compilers "${OSTRAKA_COMPILER_${name}}")
      endif()
    endif()
  endforeach()
  set(${result} "${compilers}" PARENT_SCOPE)
endfunction()

function(ostraka_label_of_compiler result compiler)
  set(label ci)
  if(compiler MATCHES "clang" AND (CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR NOT OSTRAKA_COMPILER_g++))
    set(label "")
  elseif(NOT compiler MATCHES "clang" AND (NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR NOT OSTRAKA_COMPILER_clang++))
    set(label "")
  endif()
  set(${result} "${label}" PARENT_SCOPE)
endfunction()

# Arguments that compile-fail tests share: `plan` for tests of floors 1 and 2 alone, `ostraka` for all others, which get
# the flags of ostraka::ostraka.
set(compile_fail_dir "${CMAKE_CURRENT_BINARY_DIR}/compile_fail_shared")
set(compile_fail_arguments_plan "-DINCLUDE_DIR=${PROJECT_SOURCE_DIR}/include")
set(compile_fail_arguments_ostraka ${compile_fail_arguments_plan} "-DFLAGS_FILE=${compile_fail_dir}/flags.cmake")

# Precompiles all headers of the floors, with Kokkos and MPI, once for each compiler, as a fixture of the tests.
function(ostraka_prepare_compile_fail_tests)
  set(headers plan)
  if(TARGET ostraka::ostraka)
    list(APPEND headers ostraka)
    string(CONCAT content
      "set(include_dirs \"$<TARGET_PROPERTY:INCLUDE_DIRECTORIES>\")\n"
      "set(definitions \"$<TARGET_PROPERTY:COMPILE_DEFINITIONS>\")\n"
      "set(options \"$<FILTER:$<TARGET_PROPERTY:COMPILE_OPTIONS>,INCLUDE,openmp>\")\n")
    file(GENERATE OUTPUT "${compile_fail_dir}/flags.cmake" CONTENT "${content}" TARGET ostraka_mpi_test_main)
  endif()
  ostraka_compile_fail_compilers(compilers)
  foreach(compiler IN LISTS compilers)
    cmake_path(GET compiler FILENAME compiler_name)
    foreach(header IN LISTS headers)
      set(precompiled "${compile_fail_dir}/${compiler_name}/${header}.hpp")
      file(CONFIGURE OUTPUT "${precompiled}" CONTENT "#pragma once\n#include <ostraka/${header}.hpp>\n")
      set(test compile_fail.precompile.${header}.${compiler_name})
      add_test(NAME ${test} COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${compiler}" "-DPRECOMPILE=${precompiled}"
        ${compile_fail_arguments_${header}}
        -P "${PROJECT_SOURCE_DIR}/cmake/compile_fail.cmake")
      ostraka_label_of_compiler(label "${compiler}")
      set_tests_properties(${test} PROPERTIES TIMEOUT ${OSTRAKA_TEST_TIMEOUT} LABELS "compile_fail;${label}"
        FIXTURES_SETUP ${test})
    endforeach()
  endforeach()
endfunction()

# Adds the tests of these files. Without ostraka::ostraka it leaves out files that include more than floors 1 and 2. One
# test, <NAME>.<plan or ostraka>, compiles the controls of all files at once, each in a namespace of its own, except
# those with "// control: alone". Without NAME, each file compiles its own control.
# LABELS: added to the labels of all these tests.
function(ostraka_add_compile_fail_tests)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "FILES;LABELS")
  ostraka_compile_fail_compilers(compilers)
  set(headers plan ostraka)
  foreach(file IN LISTS arg_FILES)
    cmake_path(GET file STEM LAST_ONLY stem)
    file(STRINGS "${file}" includes REGEX "^# *include *<ostraka/")
    list(FILTER includes EXCLUDE REGEX "<ostraka/(plan\\.hpp|version\\.hpp|plan/|types/)")
    set(header plan)
    if(includes AND NOT TARGET ostraka::ostraka)
      continue()
    elseif(includes)
      set(header ostraka)
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    ostraka_read_comment(control "${file}" control together)
    set(what "-DSOURCE=${file}")
    if(arg_NAME AND control STREQUAL "together")
      list(APPEND includes_${header} ${includes})
      string(MAKE_C_IDENTIFIER "${stem}" space)
      string(APPEND controls_${header} "namespace control_of_${space} {\n#include \"${file}\"\n}\n")
      list(APPEND what -DMISTAKE_ONLY=ON)
    endif()
    foreach(compiler IN LISTS compilers)
      cmake_path(GET compiler FILENAME compiler_name)
      ostraka_add_compile_fail_test(${stem} "${compiler}" ${header} "${arg_LABELS}" ${what}
        "-DKEEP=${compile_fail_dir}/said/${compiler_name}/${stem}.txt")
      if(arg_NAME AND NOT stem MATCHES "\\.")  # a reason's first program: docs/errors.md shows it
        set_tests_properties(compile_fail.${stem}.${compiler_name} PROPERTIES FIXTURES_SETUP compile_fail.said)
      endif()
    endforeach()
  endforeach()
  foreach(header IN LISTS headers)
    list(REMOVE_DUPLICATES includes_${header})
    if(controls_${header})
      set(controls "${compile_fail_dir}/${arg_NAME}_${header}.cpp")
      set(includes "#include <ostraka/${header}.hpp>\n")
      foreach(include IN LISTS includes_${header})  # before, so that they do nothing within the namespaces
        string(APPEND includes "${include}\n")
      endforeach()
      file(CONFIGURE OUTPUT "${controls}" CONTENT "${includes}${controls_${header}}")
      foreach(compiler IN LISTS compilers)
        ostraka_add_compile_fail_test(${arg_NAME}.${header} "${compiler}" ${header} "${arg_LABELS}"
          "-DCONTROLS=${controls}")
      endforeach()
    endif()
  endforeach()
endfunction()

function(ostraka_add_compile_fail_test name compiler header labels)
  cmake_path(GET compiler FILENAME compiler_name)
  set(test compile_fail.${name}.${compiler_name})
  add_test(NAME ${test} COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${compiler}"
    "-DPRECOMPILED=${compile_fail_dir}/${compiler_name}/${header}.hpp"
    ${compile_fail_arguments_${header}} ${ARGN} -P "${PROJECT_SOURCE_DIR}/cmake/compile_fail.cmake")
  ostraka_label_of_compiler(label "${compiler}")
  set_tests_properties(${test} PROPERTIES TIMEOUT ${OSTRAKA_TEST_TIMEOUT} LABELS "compile_fail;${label};${labels}"
    FIXTURES_REQUIRED compile_fail.precompile.${header}.${compiler_name})
endfunction()

# Each plan of a file in `folder` must be found within the steps of constant evaluation that the file allows ("// g++:
# number", "// clang: number"). Time differs from run to run, this count does not.
function(ostraka_add_compile_time_tests folder)
  ostraka_compile_fail_compilers(compilers)
  file(GLOB files CONFIGURE_DEPENDS "${folder}/*.cpp")
  foreach(file IN LISTS files)
    cmake_path(GET file STEM stem)
    file(STRINGS "${file}" limits REGEX "^// (g\\+\\+|clang): ")
    # the compiler's message when it stops, and (not:) text that it must not print
    file(STRINGS "${file}" says REGEX "^// says: ")
    file(STRINGS "${file}" never REGEX "^// not: ")
    foreach(compiler IN LISTS compilers)
      cmake_path(GET compiler FILENAME compiler_name)
      if(compiler_name MATCHES "clang")
        set(option -fconstexpr-steps)
        string(REGEX REPLACE ".*clang: ([0-9]+).*" "\\1" limit "${limits}")
      else()
        set(option -fconstexpr-ops-limit)
        string(REGEX REPLACE ".*g\\+\\+: ([0-9]+).*" "\\1" limit "${limits}")
      endif()
      set(test compile_time.${stem}.${compiler_name})
      add_test(NAME ${test} COMMAND "${compiler}" -std=c++20 -fsyntax-only "-I${PROJECT_SOURCE_DIR}/include"
        "${option}=${limit}" "${file}")
      ostraka_label_of_compiler(label "${compiler}")
      set_tests_properties(${test} PROPERTIES TIMEOUT ${OSTRAKA_TEST_TIMEOUT} LABELS "compile_fail;${label}")
      if(says)
        string(REPLACE "// says: " "" says "${says}")
        string(REPLACE "// not: " "" never "${never}")
        set_tests_properties(${test} PROPERTIES PASS_REGULAR_EXPRESSION "${says}" FAIL_REGULAR_EXPRESSION "${never}")
      endif()
    endforeach()
  endforeach()
endfunction()
