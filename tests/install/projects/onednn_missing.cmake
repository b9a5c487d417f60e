# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# oneDNN is asked for and not there.
# says: ostraka: oneDNN was not found; install it \(Debian: libdnnl-dev\)
# ends: in an error

project(consumer LANGUAGES CXX)
function(find_path)
endfunction()
find_package(ostraka REQUIRED COMPONENTS plan onednn)
