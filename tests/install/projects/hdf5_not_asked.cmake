# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# CMake does not look for HDF5 unless the project asks for it.
# says: there is none
# never: HDF5

project(consumer LANGUAGES CXX)
find_package(ostraka REQUIRED)
if(NOT TARGET ostraka::hdf5 AND NOT DEFINED CACHE{OSTRAKA_HDF5_LIBRARY})
  message(STATUS "there is none")
endif()
