# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cuFFT is asked for, and Kokkos was built for no GPU.
# says: ostraka: cuFFT transforms the memory of GPUs, and this Kokkos was built for none
# ends: in an error

project(consumer LANGUAGES CXX)
find_package(ostraka REQUIRED COMPONENTS ostraka cufft)
