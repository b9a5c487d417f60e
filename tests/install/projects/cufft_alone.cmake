# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cuFFT is asked for without Ostraka.
# says: ostraka: The component cufft goes with the component ostraka
# ends: in an error

project(consumer LANGUAGES CXX)
find_package(ostraka REQUIRED COMPONENTS plan cufft)
