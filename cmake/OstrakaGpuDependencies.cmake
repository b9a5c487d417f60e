# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds what ostraka::ostraka needs of the GPUs that Kokkos was built for: their BLAS, and NCCL or RCCL, and cuFFT or
# hipFFT, on request. OstrakaDependencies.cmake includes this file, and has the functions that it calls.

include_guard()

# Makes ostraka::cublas or ostraka::rocblas if Kokkos has CUDA or HIP and the library has a CMake package. There is no
# link test, because a GPU's libraries and headers are installed together, and are often used to cross-compile.
function(ostraka_find_gpu_blas)
  set(instead "local contractions on the GPU use our own kernels")
  get_property(devices GLOBAL PROPERTY OSTRAKA_KOKKOS_DEVICES)
  if((Kokkos_ENABLE_CUDA OR "CUDA" IN_LIST devices) AND NOT TARGET ostraka::cublas)
    find_package(CUDAToolkit QUIET)
    if(TARGET CUDA::cublas)
      ostraka_add_imported(ostraka::cublas)
      target_link_libraries(ostraka::cublas INTERFACE CUDA::cublas)
      ostraka_say("cuBLAS of CUDA ${CUDAToolkit_VERSION}")
    else()
      ostraka_say("no cuBLAS (CUDAToolkit was not found); ${instead}")
    endif()
  endif()
  if((Kokkos_ENABLE_HIP OR "HIP" IN_LIST devices) AND NOT TARGET ostraka::rocblas)
    find_package(rocblas QUIET CONFIG)
    if(TARGET roc::rocblas)
      ostraka_add_imported(ostraka::rocblas)
      target_link_libraries(ostraka::rocblas INTERFACE roc::rocblas)
      ostraka_say("rocBLAS ${rocblas_VERSION}")
    else()
      ostraka_say("no rocBLAS (its package was not found); ${instead}")
    endif()
  endif()
endfunction()

# Makes the target ostraka::nccl from NCCL, or RCCL where Kokkos was built for AMD's GPUs, on request only, after MPI
# and Kokkos were looked for. Programs that link it, and ostraka::ostraka, send data in GPUs' memory by it.
function(ostraka_find_nccl sentence)
  set(${sentence} "" PARENT_SCOPE)
  if(TARGET ostraka::nccl)
    return()
  endif()
  get_property(devices GLOBAL PROPERTY OSTRAKA_KOKKOS_DEVICES)
  set(header nccl.h)
  set(library nccl)
  if("HIP" IN_LIST devices)
    set(header rccl/rccl.h)
    set(library rccl)
  elseif(NOT "CUDA" IN_LIST devices)
    string(CONCAT words
      "NCCL carries the memory of GPUs, and this Kokkos was built for none; build Kokkos for CUDA or HIP, or go "
      "without: MPI carries all.")
    set(${sentence} "${words}" PARENT_SCOPE)
    return()
  endif()
  if(NOT TARGET ostraka::mpi)
    set(${sentence} "NCCL needs MPI, by which processes find each other; set OSTRAKA_ENABLE_MPI=ON." PARENT_SCOPE)
    return()
  endif()
  find_path(OSTRAKA_NCCL_INCLUDE_DIR ${header} HINTS "${NCCL_ROOT}" ENV NCCL_ROOT PATH_SUFFIXES include
    DOC "Folder of ${header}")
  find_library(OSTRAKA_NCCL_LIBRARY NAMES ${library} HINTS "${NCCL_ROOT}" ENV NCCL_ROOT PATH_SUFFIXES lib
    DOC "NCCL or RCCL")
  mark_as_advanced(OSTRAKA_NCCL_INCLUDE_DIR OSTRAKA_NCCL_LIBRARY)
  if(NOT OSTRAKA_NCCL_INCLUDE_DIR OR NOT OSTRAKA_NCCL_LIBRARY)
    string(CONCAT words
      "${header} and its library were not found; install them and name their prefix with NCCL_ROOT, or name "
      "OSTRAKA_NCCL_INCLUDE_DIR and OSTRAKA_NCCL_LIBRARY, or go without: MPI carries all.")
    set(${sentence} "${words}" PARENT_SCOPE)
    return()
  endif()
  ostraka_add_found(nccl "NCCL" "${OSTRAKA_NCCL_INCLUDE_DIR}" "${OSTRAKA_NCCL_LIBRARY}")
  target_compile_definitions(ostraka::nccl INTERFACE OSTRAKA_ENABLE_NCCL=1)
endfunction()

# Makes the target ostraka::cufft from cuFFT, or hipFFT where Kokkos was built for AMD's GPUs, on request only, after
# Kokkos was looked for. Programs that link it and include <ostraka/fft.hpp> transform data in GPUs' memory by it.
function(ostraka_find_cufft sentence)
  set(${sentence} "" PARENT_SCOPE)
  if(TARGET ostraka::cufft)
    return()
  endif()
  get_property(devices GLOBAL PROPERTY OSTRAKA_KOKKOS_DEVICES)
  if("HIP" IN_LIST devices)
    set(package hipfft)
    set(library hip::hipfft)
    set(title hipFFT)
    find_package(hipfft QUIET CONFIG)
    set(version "${hipfft_VERSION}")
  elseif("CUDA" IN_LIST devices)
    set(package CUDAToolkit)
    set(library CUDA::cufft)
    set(title cuFFT)
    find_package(CUDAToolkit QUIET)
    set(version "of CUDA ${CUDAToolkit_VERSION}")
  else()
    string(CONCAT words
      "cuFFT transforms the memory of GPUs, and this Kokkos was built for none; build Kokkos for CUDA or HIP, or go "
      "without: os::fft has transforms of its own.")
    set(${sentence} "${words}" PARENT_SCOPE)
    return()
  endif()
  if(NOT TARGET ${library})
    string(CONCAT words
      "${title} was not found; install it and name the folder of its CMake package with ${package}_ROOT, or go "
      "without: os::fft copies rows to the host and transforms them there.")
    set(${sentence} "${words}" PARENT_SCOPE)
    return()
  endif()
  ostraka_add_imported(ostraka::cufft)
  target_link_libraries(ostraka::cufft INTERFACE ${library})
  target_compile_definitions(ostraka::cufft INTERFACE OSTRAKA_ENABLE_CUFFT=1)
  ostraka_say("${title} ${version}")
endfunction()
