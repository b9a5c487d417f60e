# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DGDB=gdb -DPRINTER=cmake/gdb/ostraka.py -P printer.cmake -- PROGRAM
# gdb prints the tensors of tensors.cpp in the form of os::describe, and their elements.

include("${CMAKE_CURRENT_LIST_DIR}/../examples/after_dashes.cmake")

set(arguments "")
foreach(name IN ITEMS T partial scalar empty elsewhere mesh)
  list(APPEND arguments -ex "print ${name}")
endforeach()
execute_process(COMMAND "${GDB}" -batch -nx -ex "set debuginfod enabled off" -ex "source ${PRINTER}" -ex
  "break stop_here" -ex run -ex up ${arguments} -ex kill --args ${command}
  OUTPUT_VARIABLE printed ERROR_VARIABLE printed RESULT_VARIABLE status)
foreach(wanted IN ITEMS
    "$1 = double T[I_X, J] of 2 × 3 on X=1 · Y=1\; device 0 holds [0, 2) × [0, 3) = {0.5, 1.5, 2.5, 10.5, 11.5, 12.5}"
    "$2 = int32[batch_X] {max_Y} of 2 on X=1 · Y=1\; device 0 holds [0, 2) = {0, 0}"
    "$3 = bfloat16[] on X=1 · Y=1\; device 0 holds one element = {-1.5}"
    "$4 = float[I, J_Y], an empty handle"
    "$5 = float[I_X] of 8 on X=4\; this process is none of its devices"
    "$6 = X=1 · Y=1\; device 0")
  string(REPLACE "\\;" ";" wanted "${wanted}")
  string(FIND "${printed}" "${wanted}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "gdb does not print\n${wanted}\nbut (status ${status})\n${printed}")
  endif()
endforeach()
