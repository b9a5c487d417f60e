# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One version everywhere: CITATION.cff, the newest heading of CHANGELOG.md, README.md's find_package, conda's recipe and
# the pages that name files of a version have the version of version.hpp.

cmake_minimum_required(VERSION 3.23)

foreach(part IN ITEMS MAJOR MINOR PATCH)
  file(STRINGS "${SOURCE}/include/ostraka/version.hpp" line REGEX "^#define OSTRAKA_VERSION_${part} ")
  string(REGEX REPLACE ".* ([0-9]+)$" "\\1" ${part} "${line}")
endforeach()
set(version "${MAJOR}.${MINOR}.${PATCH}")

set(failed FALSE)
function(expect file regex wanted)
  file(STRINGS "${SOURCE}/${file}" lines REGEX "${regex}" ENCODING UTF-8)
  string(REGEX REPLACE "[][]" "" lines "${lines}")  # they have a meaning in lists
  set(line "")
  if(lines)
    list(GET lines 0 line)
  endif()
  if(NOT line MATCHES "${regex}" OR NOT CMAKE_MATCH_1 STREQUAL wanted)
    message(NOTICE "${file} says '${line}', and version.hpp ${version}")
    set(failed TRUE PARENT_SCOPE)
  endif()
endfunction()
expect(CITATION.cff "^version: (.*)$" "${version}")
expect(CHANGELOG.md "^## ([0-9.]+)" "${version}")
expect(README.md "find_package\\(ostraka ([0-9.]+)" "${MAJOR}.${MINOR}")
expect(cmake/packaging/conda/recipe.yaml "^  version: \"([^\"]*)\"" "${version}")
expect(docs/packages.md "ostraka-([0-9]+[.][0-9]+[.][0-9]+)-Linux" "${version}")
expect(docs/packages.md "libostraka-dev_([0-9.]+)_all[.]deb" "${version}")
expect(docs/threads.md "^Ostraka ([0-9.]+) on " "${version}")
if(MAJOR EQUAL 0)  # from 1.0 on, the major version is the soname
  foreach(page IN ITEMS docs/packages.md docs/versions.md docs/design/compiled.md)
    expect(${page} "libostraka_compiled[.]so[.]([0-9]+[.][0-9]+[.][0-9]+)" "${version}")
  endforeach()
endif()
# A released version has one date; a version in the making has none.
file(STRINGS "${SOURCE}/CHANGELOG.md" headings REGEX "^## [0-9]")
list(GET headings 0 heading)
set(date "")
if(heading MATCHES "[(]([0-9]+-[0-9]+-[0-9]+)[)]$")
  set(date "${CMAKE_MATCH_1}")
endif()
file(STRINGS "${SOURCE}/CITATION.cff" released REGEX "^date-released: ")
string(REPLACE "date-released: " "" released "${released}")
if(NOT date STREQUAL released)
  message(NOTICE "CHANGELOG.md has the date '${date}', and CITATION.cff '${released}'")
  set(failed TRUE)
endif()
if(failed)
  message(FATAL_ERROR "several versions or dates")
endif()
message(STATUS "version ${version} ${date}")
