# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# FFTW is asked for and not there.
# says: ostraka: FFTW 3 for double and float was not found; install it \(Debian: libfftw3-dev\)
# ends: in an error

project(consumer LANGUAGES CXX)
function(find_path)
endfunction()
find_package(ostraka REQUIRED COMPONENTS plan fftw)
