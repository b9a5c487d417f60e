# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# HDF5 is asked for without the component that knows the MPI.
# says: The component hdf5 goes with the component ostraka
# ends: in an error

project(consumer LANGUAGES CXX)
find_package(ostraka REQUIRED COMPONENTS plan hdf5)
