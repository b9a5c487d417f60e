# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# FFTW is asked for.
# needs: fftw
# says: ostraka: FFTW
# says: OSTRAKA_ENABLE_FFTW=1|ostraka::fftw

project(consumer LANGUAGES CXX)
find_package(ostraka REQUIRED COMPONENTS ostraka fftw)
add_executable(program program.cpp)
target_link_libraries(program PRIVATE ostraka::ostraka ostraka::fftw)
