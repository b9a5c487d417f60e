# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# HDF5 is asked for.
# needs: hdf5
# says: ostraka: HDF5
# says: hdf5.hpp|ostraka::hdf5

project(consumer LANGUAGES CXX)
find_package(ostraka REQUIRED COMPONENTS ostraka hdf5)
add_executable(program program.cpp)
target_link_libraries(program PRIVATE ostraka::ostraka ostraka::hdf5)
