# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Before 1.0 a minor version may break programs and a patch version may not. So a request for 0.1 accepts every 0.1.x
# from the one that it names on, and no other minor version. Later versions are this installation's own version file
# with another number in it.
# never: WRONG

project(consumer LANGUAGES CXX)

find_package(ostraka REQUIRED COMPONENTS plan)
set(installed ${ostraka_VERSION})
set(major ${ostraka_VERSION_MAJOR})
set(minor ${ostraka_VERSION_MINOR})
set(version_file "${ostraka_DIR}/ostraka-config-version.cmake")
math(EXPR next_minor "${minor} + 1")

# try(<version of the installation> <accepted|refused> <what find_package asks for>...)
function(try version expected)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/ostraka-${version}")
  file(READ "${version_file}" text)
  string(REPLACE "${installed}" "${version}" text "${text}")
  file(WRITE "${folder}/ostraka-config-version.cmake" "${text}")
  file(WRITE "${folder}/ostraka-config.cmake" "")
  foreach(asked IN LISTS ARGN)
    separate_arguments(arguments UNIX_COMMAND "${asked}")
    unset(ostraka_DIR CACHE)
    set(ostraka_FOUND FALSE)
    find_package(ostraka ${arguments} QUIET CONFIG PATHS "${folder}" NO_DEFAULT_PATH)
    set(answer refused)
    if(ostraka_FOUND)
      set(answer accepted)
    endif()
    if(NOT answer STREQUAL expected)
      message(SEND_ERROR "WRONG: ${version} is ${answer} where a project asks for ${asked}")
    endif()
  endforeach()
endfunction()

try(${major}.${minor}.0 accepted ${major}.${minor} ${major}.${minor}.0 "${major}.${minor}.0 EXACT"
  ${major}.${minor}...<${major}.${next_minor})
try(${major}.${minor}.0 refused ${major}.${minor}.1 ${major}.${next_minor} ${major}.${next_minor}.0 9)
try(${major}.${minor}.7 accepted ${major}.${minor} ${major}.${minor}.0 ${major}.${minor}.7)
try(${major}.${minor}.7 refused ${major}.${minor}.8 "${major}.${minor}.0 EXACT" ${major}.${next_minor})
try(${major}.${next_minor}.0 accepted ${major}.${next_minor})
try(${major}.${next_minor}.0 refused ${major}.${minor} ${major}.${minor}.0 "${major}.${minor} EXACT")
