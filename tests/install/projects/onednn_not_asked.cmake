# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# CMake does not look for oneDNN unless the project asks for it.
# says: there is none
# never: oneDNN

project(consumer LANGUAGES CXX)
find_package(ostraka REQUIRED)
if(NOT TARGET ostraka::onednn AND NOT DEFINED CACHE{OSTRAKA_ONEDNN_LIBRARY})
  message(STATUS "there is none")
endif()
