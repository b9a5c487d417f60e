# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# oneDNN is asked for.
# needs: onednn
# says: ostraka: oneDNN
# says: OSTRAKA_ENABLE_ONEDNN=1|ostraka::onednn

project(consumer LANGUAGES CXX)
find_package(ostraka REQUIRED COMPONENTS ostraka onednn)
add_executable(program program.cpp)
target_link_libraries(program PRIVATE ostraka::ostraka ostraka::onednn)
