# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# says: there is no component engine; there are plan, ostraka, compiled, fftw, cufft, nccl, hdf5 and onednn
# ends: in an error

project(consumer LANGUAGES CXX)
find_package(ostraka REQUIRED COMPONENTS engine)
