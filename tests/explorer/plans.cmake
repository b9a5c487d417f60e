# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DEXPLORER=ostraka-plan -DSCRATCH=folder -DFOLDER=examples/explorer -P plans.cmake
#
# The plans of the literature's layers, with bytes and operations by hand, read from the JSON for tools.

cmake_minimum_required(VERSION 3.23)
file(MAKE_DIRECTORY "${SCRATCH}")

# explore(arguments...): sets `json` to the program's JSON
function(explore)
  execute_process(COMMAND "${EXPLORER}" ${ARGN} --json RESULT_VARIABLE status OUTPUT_VARIABLE output
    ERROR_VARIABLE complaint)
  if(NOT status EQUAL 0 OR complaint)
    message(FATAL_ERROR "${ARGN}: ended with ${status} and said:\n${complaint}${output}")
  endif()
  set(json "${output}" PARENT_SCOPE)
endfunction()

# has(expected path...): checks the text or number at a path
function(has expected)
  string(JSON found ERROR_VARIABLE wrong GET "${json}" ${ARGN})
  if(wrong OR NOT found STREQUAL expected)
    message(SEND_ERROR "${ARGN} is ${found}, not ${expected} (${wrong})")
  endif()
endfunction()

# has_plan(statement plan "summary" bytes flops line...): checks a plan; lines have no semicolon
function(has_plan statement plan summary bytes flops)
  set(at statements ${statement} plans ${plan})
  has("${summary}" ${at} summary)
  has("${bytes}" ${at} bytes)
  has("${flops}" ${at} flops)
  set(k 0)
  foreach(line IN LISTS ARGN)
    has("${line};" ${at} cpp ${k})
    math(EXPR k "${k} + 1")
  endforeach()
endfunction()

set(layer --mesh X=2,Y=4 --sizes B=128,S=512,M=4096,H=16384)

# Two-dimensional, in: three quarters of h, as X splits it, and half of W, as Y does; 64 · 512 · 4096 · 4096 products.
explore("h[B_X,S,M_Y] W[M_X,H_Y] -> a[B_X,S,H_Y]" ${layer})
math(EXPR bytes "(64 * 512 * 4096) / 4 * 3 * 4 + (4096 * 4096) / 2 * 4")
math(EXPR flops "2 * 64 * 512 * 4096 * 4096")
has_plan(0 0 "all_gather h over Y, all_gather W over X" ${bytes} ${flops} "auto a = os::einsum<B/X, S, H/Y>(h, W)")
has(ON statements 0 plans 0 default)
has("h[B_X, S, M_Y] · W[M_X, H_Y] → a[B_X, S, H_Y]" statements 0 statement)
has(all_gather statements 0 plans 0 steps 0 step)
has("[B_X, S, M]" statements 0 plans 0 steps 0 to)
math(EXPR of_h "(64 * 512 * 4096) / 4 * 3 * 4")
has(${of_h} statements 0 plans 0 steps 0 bytes)
# Memory: blocks of h, W and a, and the buffers of received blocks.
math(EXPR least "4 * (64 * 512 * 1024 + 2048 * 4096 + 64 * 512 * 4096 + 64 * 512 * 4096 / 4 * 3 + 4096 * 4096 / 2)")
string(JSON memory GET "${json}" statements 0 plans 0 memory)
if(memory LESS ${least})
  message(SEND_ERROR "memory ${memory} is less than what is held, ${least}")
endif()

# … and out: W is gathered, y is reduce-scattered.
explore("g[B_X,S,H_Y] W[H_Y,M_X] -> y[B_X,S,M_Y]" ${layer})
math(EXPR bytes "(4096 * 4096) / 2 * 4 + (64 * 512 * 4096) / 4 * 3 * 4")
has_plan(0 0 "all_gather W over X, reduce_scatter y over Y" ${bytes} ${flops} "auto y = os::einsum<B/X, S, M/Y>(g, W)")

# Megatron (Shoeybi et al., 2019): nothing on the way in, one all-reduce of the activations on the way out.
explore("h[B_X,S,M] W[M,H_Y] -> a[B_X,S,H_Y]; a V[H_Y,M] -> y[B_X,S,M]" ${layer})
has_plan(0 0 "no communication" 0 ${flops} "auto a = os::einsum<B/X, S, H/Y>(h, W)")
math(EXPR bytes "2 * (64 * 512 * 4096) / 4 * 3 * 4")
has_plan(1 0 "all_reduce y over Y" ${bytes} ${flops} "auto y = os::einsum<B/X, S, M>(a, V)")

# Data parallel: the weights' gradient is all-reduced; fully sharded: it is reduce-scattered.
explore("x[B_X,M] g[B_X,H] -> w[M,H]; x g -> v[M_X,H]" --mesh X=8 --sizes B=4096,M=1024,H=4096 --type bfloat16)
math(EXPR flops "2 * 512 * 1024 * 4096")
math(EXPR bytes "2 * 7 * 1024 * 4096 / 8 * 2")
has_plan(0 0 "all_reduce w over X" ${bytes} ${flops})
math(EXPR bytes "7 * 1024 * 4096 / 8 * 2")
has_plan(1 0 "reduce_scatter v over X" ${bytes} ${flops})

# ESM2 with 15 billion parameters (Lin et al., 2022): 1,024 tokens, width 5,120, inner width 20,480, batch 32.
explore("x[B_X,S,D_Y] up[D_X,F_Y] -> a[B_X,S,F_Y]" --mesh X=2,Y=4 --sizes B=32,S=1024,D=5120,F=20480)
math(EXPR bytes "(16 * 1024 * 5120) / 4 * 3 * 4 + (5120 * 5120) / 2 * 4")
math(EXPR flops "2 * 16 * 1024 * 5120 * 5120")
has_plan(0 0 "all_gather x over Y, all_gather up over X" ${bytes} ${flops})

# The one-sided product: reduce the result of replicated rows, or gather the operand, which is a policy's plan.
explore("A[I,J_X] B[J,K] -> C[I,K]" --mesh X=4 --sizes I=4096,J=4096,K=8 --all --top 100)
string(FIND "${json}" "auto C = os::einsum<I, K>(A, B, os::gather_left);" gathers)
if(gathers EQUAL -1)
  message(SEND_ERROR "no plan by os::gather_left in\n${json}")
endif()

# A reshard; words; a program from a file and from the standard input; a mesh of 65,536 devices.
string(CONCAT sentence
  "# words\nmesh data=256, model=256\nsizes batch=65536, width=8192\n"
  "x[batch_data, width_model] -> y[batch_{model,data}, width]\n")
file(WRITE "${SCRATCH}/program.txt" "${sentence}")
explore("${SCRATCH}/program.txt")
has("auto y = os::reshard<batch/model/data, width>(x);" statements 0 plans 0 cpp 0)
has(1 statements 0 plans_found)
set(from_file "${json}")
execute_process(COMMAND "${EXPLORER}" - --json INPUT_FILE "${SCRATCH}/program.txt" OUTPUT_VARIABLE json)
if(NOT json STREQUAL from_file)
  message(SEND_ERROR "the standard input gives another study than the file:\n${json}\n${from_file}")
endif()

# Times. A gather of V bytes over a ring of four takes 3/4 · V over both links: V = 64 · 512 · 4096 · 2 bytes at
# 1.8·10¹¹ a second, 1.118 ms; and the second of two machines is slower along X.
explore("h[B_X,S,M_Y] W[M_X,H_Y] -> a[B_X,S,H_Y]" ${layer} --type bfloat16 --machine tpu_v5p)
string(JSON seconds GET "${json}" statements 0 plans 0 steps 0 seconds)
if(NOT seconds MATCHES "^0\\.001118")
  message(SEND_ERROR "the gather of h takes ${seconds} s, not 0.001118")
endif()
string(JSON fast GET "${json}" statements 0 plans 0 steps 1 seconds)
explore("h[B_X,S,M_Y] W[M_X,H_Y] -> a[B_X,S,H_Y]" ${layer} --type bfloat16 --machine tpu_v5p --network X --all
  --top 1000)
string(JSON plans LENGTH "${json}" statements 0 plans)
set(before 0)
math(EXPR last "${plans} - 1")
foreach(i RANGE ${last})
  string(JSON seconds GET "${json}" statements 0 plans ${i} seconds)
  if(seconds LESS before)
    message(SEND_ERROR "plan ${i} of ${plans} takes ${seconds} s, and the one before it ${before} s")
  endif()
  set(before ${seconds})
endforeach()
if(plans LESS 10)
  message(SEND_ERROR "only ${plans} plans")
endif()

# A layer's attention, heads over Y: nothing moves between the projections, and keys have another name in the scores.
explore("${FOLDER}/attention.txt")
math(EXPR flops "2 * 4 * 8 * 1024 * 1024 * 128")
has_plan(3 0 "no communication" 0 ${flops} "auto scores = os::einsum<B/X, H/Y, S, T>(q, os::rename<S, T>(k))")
has("softmax(scores[B_X, H_Y, S, T]) → p[B_X, H_Y, S, T]" statements 4 statement)
has(0 statements 4 plans_found)
