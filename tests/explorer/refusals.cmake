# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DEXPLORER=ostraka-plan -DSCRATCH=folder -P refusals.cmake
#
# An error is reported once, on the standard error, with its place; the program ends with 2, or with 1 for a file's.

cmake_minimum_required(VERSION 3.23)
file(MAKE_DIRECTORY "${SCRATCH}")

# refuses(status "sentence" arguments...)
function(refuses expected sentence)
  execute_process(COMMAND "${EXPLORER}" ${ARGN} TIMEOUT 20 RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE complaint)
  string(FIND "${complaint}" "${sentence}" first)
  string(FIND "${complaint}" "${sentence}" last REVERSE)
  if(NOT status EQUAL expected OR first EQUAL -1 OR NOT first EQUAL last OR output)
    message(SEND_ERROR "${ARGN}: expected ${expected} and once \"${sentence}\"; it ended with ${status} and "
      "said:\n${complaint}${output}")
  endif()
endfunction()

set(sizes --mesh X=2,Y=4 --sizes B=128,S=512,M=1024,H=4096)
refuses(2 "nothing to plan; ostraka-plan --help shows how")
refuses(2 "there is no flag --frobnicate" --frobnicate)
refuses(2 "there is no flag -x" -x)
refuses(2 "--top needs a value after it" "A[B] -> C[]" --top)
refuses(2 "--top takes a number from 1 to 100000, not 0" "A[B] -> C[]" --top 0)
refuses(2 "--top takes a number from 1 to 100000, not many" "A[B] -> C[]" --top=many)
refuses(2 "--top takes a number from 1 to 100000, not 99999999999999999999" "A[B] -> C[]" --top 99999999999999999999)
refuses(2 "--search takes a number from 1 to 1048576, not 0" "A[B] -> C[]" --search 0)
refuses(2 "--search ranks by the times of a machine: give --machine, too" "A[B] -> C[]" --search 8)
refuses(2 "--search takes a number from 1 to 1048576, not 1048577" "A[B] -> C[]" --search 1048577)
refuses(2 "--search prints rules; --all, --json, --html and --cpp are for plans: leave them out" "A[B] -> C[]"
  --search 8 --machine h100 --json)
refuses(2 "--network names mesh axes, which --search chooses" "A[B] -> C[]" --search 8 --machine h100 --network X)
refuses(2 "--search: this machine does not multiply double: give another --type" "A[B] -> C[]" --search 8
  --machine tpu_v5p --type double)
refuses(2 "--node takes a number from 1 to 1048576, not all" "A[B] -> C[]" --search 8 --machine h100 --node all)
refuses(2 "--node: 8 devices are no whole number of nodes of 3" "A[B] -> C[]" --search 8 --machine h100 --node 3)
refuses(2 "--node: of this machine no links between nodes are known" "A[B] -> C[]" --search 8 --machine cpu_cluster
  --node 4)
refuses(2 "axis B has no size" "A[B] -> C[]" --search 8 --machine h100)
refuses(2 "--node says how many devices of a search are in a node: give --search, too" "A[B] -> C[]" --node 8)
refuses(2 "--json takes no value" "A[B] -> C[]" --json=yes)
refuses(2 "there is no element type quad; there are float, double, bfloat16, float16, int8" "A[B] -> C[]" --type quad)
refuses(2 "there is no machine abacus" "A[B] -> C[]" --machine abacus)
refuses(2 "--network says what joins devices of a machine: give --machine, too" "A[B] -> C[]" --network X)
refuses(2 "--mesh:1:3: error: expected a number from 1, not 'two'" "A[B] -> C[]" --mesh X=two)
refuses(2 "--sizes:1:3: error: a size is at least 1" "A[B] -> C[]" --sizes B=0)
refuses(2 "a size is at most 1099511627776" "A[B] -> C[]" --sizes B=99999999999999999999999)
refuses(2 "the mesh has more than 1048576 devices" "A[B] -> C[]" --mesh X=1024,Y=1024,Z=2 --sizes B=4)
refuses(2 "X is 2 already" "A[B] -> C[]" --mesh X=2 --mesh X=3)
refuses(2 "with these sizes" "A[P] B[Q] -> C[P,Q]" --sizes P=1099511627776,Q=1099511627776)
refuses(2 "mesh axis X divides axis B of this tensor already" "h[B_X,S,M_X] W[M_X,H_Y] -> a[B_X,S,H_Y]" ${sizes})
refuses(2 "  h[B_Q,S] -> a[B]\n      ^\n  remedy: divide over one of these, or add it: --mesh Q=" "h[B_Q,S] -> a[B]"
  ${sizes})
refuses(2 "axis N would be summed on its own: W alone has it, and the result lacks it" "h[B_X,M] W[N,H_Y] -> a[B_X,H_Y]"
  ${sizes} --sizes N=1024)
refuses(2
  "remedy: rename it to what it is to meet, W[M, H]; or sum it in a statement before, or ask for it: sum_over(N)"
  "h[B_X,M] W[N,H_Y] -> a[B_X,H_Y]" ${sizes} --sizes N=1024)
refuses(2 "axis Z has no size" "h[Z] -> a[Z]" ${sizes})
file(WRITE "${SCRATCH}/layer.txt" "mesh X=2\nsizes I=4\n\nA[I_X] -> B[I\n")
refuses(2 "layer.txt:4:14: error: expected a comma and another axis, or ], not the end of the line"
  "${SCRATCH}/layer.txt")
refuses(1 "none.txt cannot be read" "${SCRATCH}/none.txt")
refuses(1 "page.html cannot be written" "A[B] -> C[]" --sizes B=4 --html "${SCRATCH}/none/page.html")

# Any bytes end in a message.
string(ASCII 27 escape)
file(WRITE "${SCRATCH}/bytes.txt" "A[${escape}[31m]")
refuses(2 "expected an axis, not '?'" "${SCRATCH}/bytes.txt")

foreach(flag IN ITEMS --help --version --machines)
  execute_process(COMMAND "${EXPLORER}" ${flag} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE complaint)
  if(NOT status EQUAL 0 OR complaint OR NOT output)
    message(SEND_ERROR "${flag}: ended with ${status} and said:\n${complaint}${output}")
  endif()
endforeach()
