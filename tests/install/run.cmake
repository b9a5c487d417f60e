# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run(<command>...) prints the command's output, and ends the test if it fails. run(OUTPUT <variable> <command>...) also
# returns the output.

function(run)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUTPUT" "")
  execute_process(COMMAND ${arg_UNPARSED_ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message(NOTICE "${output}")
  if(NOT status EQUAL 0)
    list(JOIN arg_UNPARSED_ARGUMENTS " " line)
    message(FATAL_ERROR "ended with ${status}: ${line}")
  endif()
  if(arg_OUTPUT)
    string(STRIP "${output}" output)
    set(${arg_OUTPUT} "${output}" PARENT_SCOPE)
  endif()
endfunction()
