# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# needs: compiled
# says: ostraka::compiled was built with .*MPI.*, but this project has no MPI; set OSTRAKA_ENABLE_MPI=ON, or build
#   ostraka again
# ends: in an error

project(consumer LANGUAGES CXX)
set(OSTRAKA_ENABLE_MPI OFF)
find_package(ostraka REQUIRED COMPONENTS compiled)
