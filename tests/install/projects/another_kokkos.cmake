# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# needs: compiled
# says: ostraka::compiled was built with Kokkos [0-9.]+ \([^)]*\), but this project has Kokkos 4.0.1 \(SERIAL\); name
#   the same with Kokkos_ROOT, or build ostraka again
# ends: in an error

project(consumer LANGUAGES CXX)
find_package(Kokkos REQUIRED CONFIG)
set(Kokkos_VERSION 4.0.1)  # as if it were
set(Kokkos_DEVICES SERIAL)
find_package(ostraka REQUIRED COMPONENTS compiled)
