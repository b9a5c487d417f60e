# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DSOURCE=. -P check_english.cmake
#
# Counts the comment lines of each folder that read like translated English, and fails if they are more than `most`:
#   - a sentence begins with What, Who, Whom, Whose, Those, Whoever, Whatever, or with "Of a", "Of the" and the like;
#   - a comment ends with a question mark;
#   - a comment says nobody, somebody, anybody or whoever.
# Write subject, verb, object instead: "True if the block is dense.", "The mesh axes that divide a label.", "No device
# waits." The numbers only shrink. If a folder has fewer such lines than its number, lower the number.

cmake_minimum_required(VERSION 3.23)

# <folder>: <lines>. A file counts for the first folder that holds it.
set(most
  "include/ostraka/types: 0"
  "include/ostraka/plan: 0"
  "include: 0"
  "tests: 0"
  "examples: 0"
  "bench: 0")

cmake_path(ABSOLUTE_PATH SOURCE NORMALIZE)
set(begins "What|Who|Whom|Whose|Those|Whoever|Whatever|Of (a|an|all|the|each|every|these|those|one|what|two)")
set(person "[Nn]obody|[Ss]omebody|[Aa]nybody|[Ww]hoever|[Ww]homever")
set(comment "(^|[ \t])//[/<!]*[ \t]+")
set(pattern "${comment}((.*[.:;!?] +)?(${begins})([^A-Za-z]|$)|(.*[^A-Za-z])?(${person})([^A-Za-z]|$)|.*[?]$)")

set(folders "")
foreach(row IN LISTS most)
  string(REGEX MATCH "^(.+): ([0-9]+)$" _ "${row}")
  list(APPEND folders "${CMAKE_MATCH_1}")
  set("most-${CMAKE_MATCH_1}" ${CMAKE_MATCH_2})
  set("found-${CMAKE_MATCH_1}" 0)
  set("lines-${CMAKE_MATCH_1}" "")
endforeach()

set(seen 0)
foreach(top IN ITEMS include tests examples bench)
  file(GLOB_RECURSE files RELATIVE "${SOURCE}" "${SOURCE}/${top}/*.hpp" "${SOURCE}/${top}/*.cpp")
  list(LENGTH files count)
  math(EXPR seen "${seen} + ${count}")
  foreach(file IN LISTS files)
    file(STRINGS "${SOURCE}/${file}" hits ENCODING UTF-8 REGEX "${pattern}")
    if(NOT hits)
      continue()
    endif()
    string(REGEX REPLACE "[][]" "" hits "${hits}")  # they have a meaning in lists
    list(LENGTH hits count)
    foreach(folder IN LISTS folders)
      if(file MATCHES "^${folder}/")
        math(EXPR "found-${folder}" "${found-${folder}} + ${count}")
        foreach(line IN LISTS hits)
          string(STRIP "${line}" line)
          string(APPEND "lines-${folder}" "  ${file}: ${line}\n")
        endforeach()
        break()
      endif()
    endforeach()
  endforeach()
endforeach()
if(seen EQUAL 0)
  message(FATAL_ERROR "no sources in ${SOURCE}")
endif()

set(above FALSE)
foreach(folder IN LISTS folders)
  if(found-${folder} GREATER most-${folder})
    message(NOTICE "${folder}/ has ${found-${folder}} comment lines to rewrite, and may have "
      "${most-${folder}}:\n${lines-${folder}}")
    set(above TRUE)
  elseif(found-${folder} LESS most-${folder})
    message(NOTICE "${folder}/ has ${found-${folder}} comment lines to rewrite: lower its number, ${most-${folder}}, "
      "in cmake/check_english.cmake")
  endif()
  message(STATUS "${folder}/: ${found-${folder}} of ${most-${folder}}")
endforeach()
if(above)
  message(FATAL_ERROR "comments read like translated English: subject, verb, object (the head of "
    "cmake/check_english.cmake)")
endif()
