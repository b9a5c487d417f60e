# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DCSV=digits.csv -DSCRATCH=folder -DPROGRAM=digits -P digits_refuses.cmake -- mpiexec -n 2 digits
#
# A fault of a file or an option is reported once, with its place, and the job ends with 1. The first fault of each
# kind, and a good file, are run on ranks; the other faults, whose sentences come from the same place, by the program
# alone, which starts in a fifth of the time.

cmake_minimum_required(VERSION 3.23)
include("${CMAKE_CURRENT_LIST_DIR}/after_dashes.cmake")
set(ranks_command ${command})
set(on_ranks word missing_column too_few no_file unknown_option no_features)

# refuses(name "sentence" arguments...)
function(refuses name sentence)
  set(command "${PROGRAM}")
  if(name IN_LIST on_ranks)
    set(command ${ranks_command})
  endif()
  execute_process(COMMAND ${command} ${ARGN} TIMEOUT 30 RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  string(FIND "${output}" "digits: ${sentence}" first)
  string(FIND "${output}" "digits: ${sentence}" last REVERSE)
  if(NOT status EQUAL 1 OR first EQUAL -1 OR NOT first EQUAL last)
    message(SEND_ERROR "${name}: expected status 1 and once \"digits: ${sentence}\"; the program ended with ${status} "
      "and said:\n${output}")
  endif()
endfunction()

function(refuses_file name place sentence text)
  file(WRITE "${SCRATCH}/${name}.csv" "${text}")
  refuses(${name} "${SCRATCH}/${name}.csv${place}: ${sentence}" "${SCRATCH}/${name}.csv")
endfunction()

# Five good images, the third of which the cases spoil.
file(STRINGS "${CSV}" images LIMIT_COUNT 5)
list(GET images 2 third)
list(JOIN images "\n" good)
string(REGEX REPLACE "^0,0,0,4,15," "0,0,0,4," one_less "${third}")
if(one_less STREQUAL third)
  message(FATAL_ERROR "${CSV} is not the file that this test knows")
endif()

function(refuses_third name place sentence line)
  string(REPLACE "${third}" "${line}" text "${good}\n")
  refuses_file(${name} ":3${place}" "${sentence}" "${text}")
endfunction()

function(refuses_pixel name shown text)
  string(REGEX REPLACE "^0,0,0,4,15," "0,0,0,4,${text}," line "${third}")
  refuses_third(${name} ":9" "a pixel is an integer from 0 to 16, but here stands '${shown}'" "${line}")
endfunction()

refuses_pixel(word abc abc)
refuses_pixel(nan nan nan)
refuses_pixel(infinite inf inf)
refuses_pixel(fraction 1.5 1.5)
refuses_pixel(negative -1 -1)
refuses_pixel(too_dark 17 17)
refuses_pixel(beyond_int 99999999999999999999 99999999999999999999)
refuses_pixel(missing_number "" "")
refuses_pixel(space " 15" " 15")
string(ASCII 27 escape)
refuses_pixel(control_character "?(2J" "${escape}(2J")

string(LENGTH "${third}" length)
math(EXPR end "${length} + 1")
math(EXPR before_digit "${length}")
string(LENGTH "${one_less}" short_length)
math(EXPR short_end "${short_length} + 1")
string(REGEX REPLACE ",[0-9]$" "" without_digit "${third}")
refuses_third(missing_column ":${short_end}" "a line has 64 pixels and a digit, but this one ends after 64 numbers"
  "${one_less}")
math(EXPR extra_column "${end} + 1")
refuses_third(extra_column ":${extra_column}" "a line has 64 pixels and a digit, but this one goes on with '3'"
  "${third},3")
refuses_third(trailing_comma ":${extra_column}" "a line has 64 pixels and a digit, but this one goes on with ''"
  "${third},")
refuses_third(large_digit ":${before_digit}" "a digit is an integer from 0 to 9, but here stands '10'"
  "${without_digit},10")
refuses_third(digit_not_whole ":${before_digit}" "a digit is an integer from 0 to 9, but here stands '2.0'"
  "${without_digit},2.0")
refuses_third(empty_line ":1" "a pixel is an integer from 0 to 16, but here stands ''" "")
string(REPLACE "${third}\n" "" four "${good}")
refuses_file(too_few ":5:1" "at least 5 images are needed, but the file ends after 4" "${four}\n")
refuses_file(empty ":1:1" "at least 5 images are needed, but the file ends after 0" "")

refuses(no_file "${SCRATCH}/none.csv: the file cannot be read (No such file or directory)" "${SCRATCH}/none.csv")
refuses(folder "${SCRATCH}: the file cannot be read (Is a directory)" "${SCRATCH}")

refuses(unknown_option "options: there is no option '--foo'; see --help" --foo)
refuses(no_value "options: --seed takes a value, but nothing follows it; see --help" --seed)
refuses(no_features "options: --features takes a whole number from 1 on, not '0'; see --help" --features 0)
refuses(not_a_number "options: --iterations takes a whole number from 1 on, not '1e3'; see --help" --iterations 1e3)
refuses(no_ridge "options: --ridge takes a number above 0, not '0'; see --help" --ridge 0)
refuses(infinite_ridge "options: --ridge takes a number above 0, not 'inf'; see --help" --ridge inf)
refuses(two_files "options: one file at a time, but 'b.csv' follows 'a.csv'; see --help" a.csv b.csv)

# The file is accepted as it is, without its last line break, and with line breaks of Windows; help is printed once.
string(REPLACE "\n" "\r\n" windows "${good}\n")
foreach(text IN ITEMS "${good}\n" "${good}" "${windows}")
  file(WRITE "${SCRATCH}/good.csv" "${text}")
  execute_process(COMMAND ${command} --features 20 "${SCRATCH}/good.csv" RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if(NOT status EQUAL 0 OR NOT output MATCHES "4 images to learn from, 1 held out")
    message(SEND_ERROR "five good images: the program ended with ${status} and said:\n${output}")
  endif()
endforeach()

execute_process(COMMAND ${command} --help RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(FIND "${output}" "usage: digits" first)
string(FIND "${output}" "usage: digits" last REVERSE)
if(NOT status EQUAL 0 OR first EQUAL -1 OR NOT first EQUAL last OR output MATCHES "[Kk]okkos")
  message(SEND_ERROR "--help: the program ended with ${status} and said:\n${output}")
endif()
