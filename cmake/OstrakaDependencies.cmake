# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds what ostraka::ostraka needs: Kokkos, MPI, a CBLAS, and the BLAS of the GPUs that Kokkos was built for. Used by the build and, installed, by ostraka-config.cmake, so that both find the
# same things in the same way and say the same sentence when they do not.

include_guard()

set(OSTRAKA_KOKKOS_FIRST 3.4)  # the oldest that is tested
set(OSTRAKA_KOKKOS_BEFORE 6)   # the first that is not supported

# ostraka_find_dependencies(MPI <bool> BLAS <bool> MISSING <variable>)
# The variable receives a sentence per missing dependency, or nothing. BLAS is never missing: without one, Kokkos does the work.
function(ostraka_find_dependencies)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "MPI;BLAS;MISSING" "")
  set(sentences "")
  if(arg_MPI)
    ostraka_find_mpi(sentence)
    list(APPEND sentences ${sentence})
  endif()
  ostraka_find_kokkos(sentence)
  list(APPEND sentences ${sentence})
  if(arg_BLAS)
    ostraka_find_cblas()
    ostraka_find_gpu_blas()
  endif()
  list(JOIN sentences " " sentences)
  set(${arg_MISSING} "${sentences}" PARENT_SCOPE)
endfunction()

function(ostraka_find_mpi sentence)
  set(MPI_CXX_SKIP_MPICXX TRUE)
  find_package(MPI 3.1 QUIET COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(${sentence} "" PARENT_SCOPE)
    message(STATUS "ostraka: MPI ${MPI_CXX_VERSION} (${MPI_CXX_COMPILER})")
  else()
    set(${sentence} "MPI was not found; install one, name its compiler wrapper with MPI_CXX_COMPILER, or set OSTRAKA_ENABLE_MPI=OFF." PARENT_SCOPE)
  endif()
endfunction()

# Kokkos' own version file accepts only one major version and so refuses every range across majors: ask for any, then look.
function(ostraka_find_kokkos sentence)
  set(range "${OSTRAKA_KOKKOS_FIRST} or later and before ${OSTRAKA_KOKKOS_BEFORE}")
  if(TARGET Kokkos::kokkos AND NOT DEFINED Kokkos_VERSION)  # a superproject's; its version is the superproject's business
    set(${sentence} "" PARENT_SCOPE)
    return()
  endif()
  if(NOT TARGET Kokkos::kokkos)
    find_package(Kokkos QUIET CONFIG)
  endif()
  if(NOT TARGET Kokkos::kokkos)
    set(${sentence} "Kokkos was not found; install it (${range}) and name its prefix with Kokkos_ROOT." PARENT_SCOPE)
  elseif(Kokkos_VERSION VERSION_LESS OSTRAKA_KOKKOS_FIRST OR Kokkos_VERSION VERSION_GREATER_EQUAL OSTRAKA_KOKKOS_BEFORE)
    set(${sentence} "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is not supported; install ${range} and name its prefix with Kokkos_ROOT." PARENT_SCOPE)
  else()
    set(${sentence} "" PARENT_SCOPE)
    message(STATUS "ostraka: Kokkos ${Kokkos_VERSION} (${Kokkos_DEVICES})")
    set_property(GLOBAL PROPERTY OSTRAKA_KOKKOS_DEVICES "${Kokkos_DEVICES}")
  endif()
endfunction()

# Makes the target ostraka::cblas if some library has cblas.h and links cblas_dgemm. What links is found by linking: distributions differ in
# which library exports the C interface. OpenBLAS comes first, and in its OpenMP flavour, which shares its threads with Kokkos. netlib's reference
# BLAS, many times slower than the portable kernel, is left out unless OSTRAKA_ENABLE_REFERENCE_BLAS or OSTRAKA_CBLAS_LIBRARY asks for it.
function(ostraka_find_cblas)
  if(TARGET ostraka::cblas)
    return()
  endif()
  find_path(OSTRAKA_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-openmp openblas-pthread openblas cblas
    DOC "Folder of cblas.h")
  find_library(OSTRAKA_CBLAS_LIBRARY NAMES openblaso openblas PATH_SUFFIXES openblas-openmp openblas-pthread openblas
    DOC "Library that has cblas_dgemm")
  mark_as_advanced(OSTRAKA_CBLAS_INCLUDE_DIR OSTRAKA_CBLAS_LIBRARY)
  set(instead "local contractions use the portable kernel")
  if(NOT OSTRAKA_CBLAS_INCLUDE_DIR)
    message(STATUS "ostraka: no CBLAS (cblas.h was not found); ${instead}")
    return()
  endif()

  set(libraries "${OSTRAKA_CBLAS_LIBRARY}")
  set(asked TRUE)  # by name; what the line above finds is OpenBLAS
  ostraka_cblas_links(links "${libraries}")
  if(NOT links)
    find_package(BLAS QUIET)
    set(libraries "${BLAS_LIBRARIES}")
    set(asked "${OSTRAKA_ENABLE_REFERENCE_BLAS}")
    ostraka_cblas_links(links "${libraries}")
  endif()
  if(NOT links)
    message(STATUS "ostraka: no CBLAS (cblas_dgemm does not link); ${instead}")
    return()
  endif()
  ostraka_is_reference_blas(reference "${libraries}")
  if(reference AND NOT asked)
    message(STATUS "ostraka: no CBLAS (${libraries} is netlib's reference BLAS, many times slower than the portable kernel); ${instead}. "
      "Install OpenBLAS; OSTRAKA_ENABLE_REFERENCE_BLAS=ON takes it nevertheless")
    return()
  endif()
  add_library(ostraka::cblas INTERFACE IMPORTED GLOBAL)
  target_include_directories(ostraka::cblas INTERFACE "${OSTRAKA_CBLAS_INCLUDE_DIR}")
  target_link_libraries(ostraka::cblas INTERFACE ${libraries})
  if(reference)
    message(STATUS "ostraka: CBLAS ${libraries} (netlib's reference BLAS, as asked: many times slower than the portable kernel)")
  else()
    message(STATUS "ostraka: CBLAS ${libraries}")
  endif()
endfunction()

# Makes ostraka::cublas or ostraka::rocblas where Kokkos has CUDA or HIP and the library has a CMake package. Libraries and headers of GPUs are installed
# together, and cross-compiled for often, so that nothing is linked to find out.
function(ostraka_find_gpu_blas)
  set(instead "local contractions on the GPU use our own kernels")
  get_property(devices GLOBAL PROPERTY OSTRAKA_KOKKOS_DEVICES)
  if((Kokkos_ENABLE_CUDA OR "CUDA" IN_LIST devices) AND NOT TARGET ostraka::cublas)
    find_package(CUDAToolkit QUIET)
    if(TARGET CUDA::cublas)
      add_library(ostraka::cublas INTERFACE IMPORTED GLOBAL)
      target_link_libraries(ostraka::cublas INTERFACE CUDA::cublas)
      message(STATUS "ostraka: cuBLAS of CUDA ${CUDAToolkit_VERSION}")
    else()
      message(STATUS "ostraka: no cuBLAS (CUDAToolkit was not found); ${instead}")
    endif()
  endif()
  if((Kokkos_ENABLE_HIP OR "HIP" IN_LIST devices) AND NOT TARGET ostraka::rocblas)
    find_package(rocblas QUIET CONFIG)
    if(TARGET roc::rocblas)
      add_library(ostraka::rocblas INTERFACE IMPORTED GLOBAL)
      target_link_libraries(ostraka::rocblas INTERFACE roc::rocblas)
      message(STATUS "ostraka: rocBLAS ${rocblas_VERSION}")
    else()
      message(STATUS "ostraka: no rocBLAS (its package was not found); ${instead}")
    endif()
  endif()
endfunction()

function(ostraka_cblas_links result libraries)
  ostraka_links_with(links "${libraries}" cblas_dgemm "extern \"C\" {\n#include <cblas.h>\n}
    int main() {
      double a = 1, b = 2, c = 0;
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, 1, 1, 1.0, &a, 1, &b, 1, 0.0, &c, 1);
      return c == 2 ? 0 : 1;
    }")
  set(${result} "${links}" PARENT_SCOPE)
endfunction()

# netlib's C interface has a variable of this name. So have libraries that took the interface over, or that it stands upon: those have names
# of their own, too. A file name tells nothing, since distributions let one library take another's place (Debian's alternatives).
function(ostraka_is_reference_blas result libraries)
  ostraka_links_with(reference "${libraries}" CBLAS_CallFromC "extern \"C\" int CBLAS_CallFromC;\nint main() { return CBLAS_CallFromC; }")
  if(reference)
    foreach(function IN ITEMS openblas_get_config bli_info_get_version_str MKL_Get_Version flexiblas_get_version ATL_buildinfo armplversion)
      ostraka_links_with(other "${libraries}" ${function} "extern \"C\" void ${function}();\nint main() { ${function}(); }")
      if(other)
        set(reference FALSE)
        break()
      endif()
    endforeach()
  endif()
  set(${result} "${reference}" PARENT_SCOPE)
endfunction()

# Does this program link with these libraries? Remembered for the files that their names stand for today.
function(ostraka_links_with result libraries name program)
  if(NOT libraries)
    set(${result} FALSE PARENT_SCOPE)
    return()
  endif()
  set(files "${OSTRAKA_CBLAS_INCLUDE_DIR}")
  foreach(library IN LISTS libraries)
    if(EXISTS "${library}")
      file(REAL_PATH "${library}" library)
    endif()
    list(APPEND files "${library}")
  endforeach()
  string(MD5 files "${files}")
  set(remembered OSTRAKA_LINKS_${name}_${files})
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_QUIET TRUE)
  set(CMAKE_REQUIRED_INCLUDES "${OSTRAKA_CBLAS_INCLUDE_DIR}")
  set(CMAKE_REQUIRED_LIBRARIES "${libraries}")
  check_cxx_source_compiles("${program}" ${remembered})
  set(${result} "${${remembered}}" PARENT_SCOPE)
endfunction()
