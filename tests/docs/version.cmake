# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One version everywhere: CITATION.cff, the newest heading of CHANGELOG.md and README.md's find_package have the version of version.hpp.

cmake_minimum_required(VERSION 3.23)

foreach(part IN ITEMS MAJOR MINOR PATCH)
  file(STRINGS "${SOURCE}/include/ostraka/version.hpp" line REGEX "^#define OSTRAKA_VERSION_${part} ")
  string(REGEX REPLACE ".* ([0-9]+)$" "\\1" ${part} "${line}")
endforeach()
set(version "${MAJOR}.${MINOR}.${PATCH}")

set(failed FALSE)
function(expect file regex wanted)
  file(STRINGS "${SOURCE}/${file}" lines REGEX "${regex}")
  list(GET lines 0 line)
  if(NOT line MATCHES "${regex}" OR NOT CMAKE_MATCH_1 STREQUAL wanted)
    message(NOTICE "${file} says '${line}', and version.hpp ${version}")
    set(failed TRUE PARENT_SCOPE)
  endif()
endfunction()
expect(CITATION.cff "^version: (.*)$" "${version}")
expect(CHANGELOG.md "^## ([0-9.]+)" "${version}")
expect(README.md "find_package\\(ostraka ([0-9.]+)" "${MAJOR}.${MINOR}")
if(failed)
  message(FATAL_ERROR "several versions")
endif()
message(STATUS "version ${version}")
