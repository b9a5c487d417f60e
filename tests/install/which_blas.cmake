# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DSCRATCH=folder -DCOMPILER=g++ -DDEPENDENCIES=.../OstrakaDependencies.cmake -P which_blas.cmake
#
# CMake recognises netlib's reference BLAS by its contents, says so, and leaves it out unless asked for it; it takes
# others. The libraries are made here, all with one file name, and nothing outside of their folder is found.

cmake_minimum_required(VERSION 3.23)
file(REMOVE_RECURSE "${SCRATCH}")

# make_library(<name> <source of what it has in addition to the BLAS>)
function(make_library name more)
  set(root "${SCRATCH}/${name}/usr")
  file(WRITE "${root}/include/cblas.h" "enum { CblasRowMajor = 101, CblasNoTrans = 111 };
    void cblas_dgemm(int, int, int, int, int, int, double, double const*, int, double const*, int, double, double*,
                     int);\n")
  file(WRITE "${SCRATCH}/${name}/blas.cpp" "extern \"C\" {\n#include \"usr/include/cblas.h\"
    void cblas_dgemm(int, int, int, int, int, int, double, double const*, int, double const*, int, double, double*,
                     int) {}
    void sgemm_() {}\n${more}\n}\n")
  file(MAKE_DIRECTORY "${root}/lib")
  execute_process(COMMAND "${COMPILER}" -shared -fPIC -o "${root}/lib/libblas.so" "${SCRATCH}/${name}/blas.cpp"
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# expect(<name> <regex of CMake's message> <TRUE if it is used> [<more arguments for cmake>...])
function(expect name says used)
  set(project "${SCRATCH}/project")
  file(WRITE "${project}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.23)
    project(which_blas LANGUAGES CXX)
    set(CMAKE_FIND_ROOT_PATH \"${SCRATCH}/${name}\")
    set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
    set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
    include(\"${DEPENDENCIES}\")
    ostraka_find_cblas()
    if(TARGET ostraka::cblas)
      message(STATUS \"used: yes\")
    else()
      message(STATUS \"used: no\")
    endif()\n")
  string(MD5 build "${name} ${ARGN}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${project}" -B "${SCRATCH}/build-${build}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0 OR NOT output MATCHES "${says}" OR NOT output MATCHES "used: ${used}")
    message(FATAL_ERROR "${name}, ${ARGN}: CMake has to say \"${says}\" and \"used: ${used}\", but ended with "
      "${status} and said\n${output}")
  endif()
endfunction()

make_library(netlib "int CBLAS_CallFromC;")
make_library(openblas "void openblas_get_config() {}")
make_library(blis "int CBLAS_CallFromC; void bli_info_get_version_str() {}")
make_library(somebodys "")
set(named "-DOSTRAKA_CBLAS_LIBRARY=${SCRATCH}/netlib/usr/lib/libblas.so")

expect(netlib "ostraka: no CBLAS \\([^\n]*/libblas.so is netlib's reference BLAS[^\n]*OSTRAKA_ENABLE_REFERENCE_BLAS=ON"
  no)
expect(netlib "ostraka: CBLAS [^\n]*/libblas.so \\(netlib's reference BLAS, as asked" yes
  -DOSTRAKA_ENABLE_REFERENCE_BLAS=ON)
expect(netlib "ostraka: CBLAS [^\n]*/libblas.so \\(netlib's reference BLAS, as asked" yes "${named}")
foreach(name IN ITEMS openblas blis somebodys)
  expect(${name} "ostraka: CBLAS [^\n]*/libblas.so\n" yes)
endforeach()
