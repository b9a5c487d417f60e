# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Headers would be compiled otherwise than the library was.
# needs: compiled cblas
# says: ostraka::compiled was built with cblas, which is not found here; install it, or build ostraka again without it
# ends: in an error

project(consumer LANGUAGES CXX)
set(OSTRAKA_CBLAS_LIBRARY /nowhere CACHE FILEPATH "" FORCE)
set(CMAKE_DISABLE_FIND_PACKAGE_BLAS ON)
find_package(ostraka REQUIRED COMPONENTS compiled)
