# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# CMake does not look for FFTW unless the project asks for it.
# says: there is none
# never: FFTW

project(consumer LANGUAGES CXX)
find_package(ostraka REQUIRED)
if(NOT TARGET ostraka::fftw AND NOT DEFINED CACHE{OSTRAKA_FFTW_LIBRARY})
  message(STATUS "there is none")
endif()
