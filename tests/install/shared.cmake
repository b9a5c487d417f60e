# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DSCRATCH=folder -DSOURCE=checkout -DKOKKOS=folder of KokkosConfig.cmake [-DREADELF=readelf]
#     [-DPKG_CONFIG=pkg-config] -DCOMPILER=g++ [-DLAUNCHER=its|words] -P shared.cmake -- <arguments for cmake>
#
# ostraka::compiled as a shared library: this configures, builds and installs it, with its soname; programs link it and
# run, with visible symbols and with hidden ones, by CMake and by pkg-config. If Kokkos is static, its archives are
# linked to shared libraries first: they are position-independent.

cmake_minimum_required(VERSION 3.23)
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/../examples/after_dashes.cmake")

if(LAUNCHER)
  string(REPLACE "|" ";" launcher "${LAUNCHER}")
  set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} "${launcher}")
endif()
set(builds "${SCRATCH}/builds")
file(REMOVE_RECURSE "${SCRATCH}")

# Configuring with the static Kokkos prints one sentence.
set(ours ${command} -DBUILD_SHARED_LIBS=ON -DOSTRAKA_BUILD_COMPILED=ON -DOSTRAKA_BUILD_TESTS=OFF
  -DOSTRAKA_BUILD_EXAMPLES=OFF "-DCMAKE_INSTALL_PREFIX=${SCRATCH}/prefix")
cmake_path(SET libraries NORMALIZE "${KOKKOS}/../..")
set(kokkos "${KOKKOS}")
if(EXISTS "${libraries}/libkokkoscore.a")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${builds}/refused" ${ours} "-DKokkos_DIR=${KOKKOS}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  string(CONCAT words "a shared ostraka::compiled needs a shared Kokkos, but the one in [^ ]+ is static; "
    "build Kokkos with BUILD_SHARED_LIBS=ON")
  if(status EQUAL 0 OR NOT output MATCHES "${words}")
    message(FATAL_ERROR "with a static Kokkos CMake has to end with its sentence, but ended with ${status}: ${output}")
  endif()

  set(kokkos "${SCRATCH}/kokkos/lib/cmake/Kokkos")
  file(GLOB archives "${libraries}/libkokkos*.a")
  list(REMOVE_ITEM archives "${libraries}/libkokkoscore.a")
  set(linked "")
  foreach(archive IN ITEMS "${libraries}/libkokkoscore.a" LISTS archives)
    cmake_path(GET archive STEM name)
    file(MAKE_DIRECTORY "${SCRATCH}/kokkos/lib")
    set(library "${SCRATCH}/kokkos/lib/${name}.so")
    run("${COMPILER}" -shared -fopenmp -Wl,--whole-archive "${archive}" -Wl,--no-whole-archive ${linked} -ldl
      -Wl,-soname,${name}.so -o "${library}")
    list(APPEND linked "${library}")
  endforeach()
  file(GLOB files "${KOKKOS}/*.cmake")
  foreach(file IN LISTS files)
    cmake_path(GET file FILENAME name)
    file(READ "${file}" text)
    string(REPLACE "STATIC IMPORTED" "SHARED IMPORTED" text "${text}")
    string(REGEX REPLACE "(libkokkos[a-z]*)[.]a" "\\1.so" text "${text}")
    # the headers stay where they are
    string(REPLACE "\${_IMPORT_PREFIX}/include" "${libraries}/../include" text "${text}")
    file(WRITE "${kokkos}/${name}" "${text}")
  endforeach()
  set(libraries "${SCRATCH}/kokkos/lib")
endif()

run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${builds}/ostraka" ${ours} "-DKokkos_DIR=${kokkos}")
run("${CMAKE_COMMAND}" --build "${builds}/ostraka")
run("${CMAKE_COMMAND}" --install "${builds}/ostraka")

file(STRINGS "${SOURCE}/include/ostraka/version.hpp" lines REGEX "^#define OSTRAKA_VERSION_")
list(TRANSFORM lines REPLACE "^[^0-9]*([0-9]+)$" "\\1")
list(JOIN lines "." version)
list(GET lines 0 major)
set(soversion ${version})
if(major GREATER 0)
  set(soversion ${major})
endif()
file(GLOB_RECURSE installed "${SCRATCH}/prefix/libostraka_compiled.*")
list(TRANSFORM installed REPLACE ".*/" "")
list(SORT installed)
set(expected libostraka_compiled.so libostraka_compiled.so.${soversion} libostraka_compiled.so.${version})
list(REMOVE_DUPLICATES expected)
if(NOT installed STREQUAL expected)
  message(FATAL_ERROR "${expected} have to be installed, but there are ${installed}")
endif()
file(GLOB_RECURSE library "${SCRATCH}/prefix/libostraka_compiled.so")
if(READELF)
  run(OUTPUT header "${READELF}" -d "${library}")
  if(NOT header MATCHES "SONAME[^\n]*\\[libostraka_compiled[.]so[.]${soversion}\\]"
    OR NOT header MATCHES "NEEDED[^\n]*libkokkoscore[.]so")
    message(FATAL_ERROR "the soname has to be libostraka_compiled.so.${soversion}, and Kokkos a shared library that is "
      "needed")
  endif()
else()
  message(STATUS "SKIPPED: no readelf, so that the soname was not looked at")
endif()
cmake_path(GET library PARENT_PATH folder)

foreach(visibility IN ITEMS default hidden)
  run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/consumer" -B "${builds}/${visibility}" ${command} -DWAY=package
    -DCOMPILED=ON
    "-DCMAKE_PREFIX_PATH=${SCRATCH}/prefix" "-DKokkos_DIR=${kokkos}" "-DCMAKE_CXX_VISIBILITY_PRESET=${visibility}"
    -DCMAKE_VISIBILITY_INLINES_HIDDEN=ON)
  run("${CMAKE_COMMAND}" --build "${builds}/${visibility}")
  run("${builds}/${visibility}/program")
endforeach()
if(PKG_CONFIG)
  set(PREFIX "${SCRATCH}/prefix")
  set(NAME ostraka-compiled)
  set(LIBRARIES "${libraries};${folder}")
  set(SCRATCH "${builds}/pkg_config")
  set(SOURCE "${CMAKE_CURRENT_LIST_DIR}/consumer/program.cpp")
  include("${CMAKE_CURRENT_LIST_DIR}/pkg_config.cmake")
endif()
