# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# HDF5 is asked for and not there.
# says: ostraka: HDF5 with its high-level library was not found; install the one for
# ends: in an error

project(consumer LANGUAGES CXX)
set(OSTRAKA_HDF5_LIBRARY OFF CACHE STRING "")  # as if nothing were found
find_package(ostraka REQUIRED COMPONENTS ostraka hdf5)
