# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DSOURCE=checkout -DPYTHON=python3 -DOUT=folder [-DBROWSER=chromium] -P site.cmake
#
# Makes the site, follows its links, and lets a browser show its pages and search them. It says SKIPPED if MkDocs or
# Doxygen cannot be had.

cmake_minimum_required(VERSION 3.23)

execute_process(COMMAND "${PYTHON}" "${SOURCE}/docs/make_site.py" "${OUT}" --check RESULT_VARIABLE status
  OUTPUT_VARIABLE output ERROR_VARIABLE output)
message(NOTICE "${output}")
if(status EQUAL 77)
  return()
elseif(NOT status EQUAL 0)
  message(FATAL_ERROR "make_site.py ended with ${status}")
endif()
if(NOT BROWSER)
  message(STATUS "SKIPPED: no chromium, so no browser has opened the site; apt-get install chromium, and run the tests "
    "again")
  return()
endif()

# expect(<page> <regex of a text that the browser must show>...)
function(expect page)
  execute_process(COMMAND "${BROWSER}" --headless --no-sandbox --disable-gpu --allow-file-access-from-files
    --virtual-time-budget=10000 --dump-dom "file://${OUT}/site/${page}"
    RESULT_VARIABLE status OUTPUT_VARIABLE shown ERROR_QUIET TIMEOUT 60)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the browser ended with ${status} at ${page}")
  endif()
  foreach(regex IN LISTS ARGN)
    if(NOT shown MATCHES "${regex}")
      message(FATAL_ERROR "the browser does not show in ${page}: ${regex}")
    endif()
  endforeach()
endfunction()
set(scripts "<html[^>]* class=\"js" "data-md-color-scheme=")  # set by scripts of the page
expect(index.html ${scripts} "<h1[^>]*>Ostraka")
expect(docs/tour.html ${scripts} "<h1")
expect(reference/softmax.html ${scripts} "<h1[^>]*><code>os::softmax</code>" "_source[.]html#l[0-9]+"
  "docs/errors[.]html#")
expect(reference/shard_map.html ${scripts} "<strong>Throws</strong>" "whose lines a test compiles")
expect(reference/index.html ${scripts} "href=\"OSTRAKA_AXIS[.]html\"")
execute_process(COMMAND "${PYTHON}" "${CMAKE_CURRENT_LIST_DIR}/search_in_browser.py" "${BROWSER}" "${OUT}/site" softmax
  reference/softmax.html
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 150)
message(NOTICE "${output}")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the search does not find the page of os::softmax")
endif()
