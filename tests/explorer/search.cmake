# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DEXPLORER=ostraka-plan -P search.cmake
#
# Rules of a feed-forward layer: with many tokens per device batches are divided, with few the inner width, both in
# between, whatever the shardings of the lines.

cmake_minimum_required(VERSION 3.23)

# finds("text" tokens devices arguments...)
function(finds text tokens devices)
  execute_process(COMMAND "${EXPLORER}" "h[B_X,M] up[M,H_X] -> a[B,H_X]" "gelu(a) -> g[B,H_X]"
    "g down[H_X,M] -> y[B,M_X]" --mesh X=2
    --sizes B=${tokens},M=4096,H=16384 --search ${devices} --type bfloat16 ${ARGN} RESULT_VARIABLE status
    OUTPUT_VARIABLE output ERROR_VARIABLE complaint)
  string(FIND "${output}" "${text}" found)
  if(NOT status EQUAL 0 OR complaint OR found EQUAL -1)
    message(SEND_ERROR "${tokens} tokens on ${devices} devices: expected ${text}; it ended with ${status} and "
      "said:\n${complaint}${output}")
  endif()
endfunction()

# Mixed, data parallel over X = √(tokens / inner width · devices) = 64 ("How to Scale Your Model", chapter on training).
finds("auto const mesh = os::make_mesh(X = 64, Y = 8);\nconstexpr os::rules<B/X, H/Y, H_w/Y> R;\n" 131072 512
  --machine tpu_v5p)
finds("constexpr os::rules<B/X> R;" 1048576 8 --machine h100)
finds("constexpr os::rules<H/X/Y, H_w/X/Y> R;" 512 8 --machine tpu_v5p)

# The search prints as many sets as asked for, the best ones first.
finds("auto const mesh = os::make_mesh(X = 64, Y = 8);\nconstexpr os::rules<B/X, H/Y, H_w/Y> R;\n" 131072 512
  --machine tpu_v5p --top 1)

# The lines above the table; nodes; one device; too little memory.
string(CONCAT sentence
  "a training step on 64 devices of h100, 8 in a node; bfloat16\nparameters: up[M_w, H_w], down[H_w, M_w]\n"
  "from the layer before: h[B, M]\n")
finds("${sentence}" 131072 64 --machine h100 --node 8)
finds("os::make_mesh(X = 1);\nconstexpr os::rules<> R;\n" 64 1 --machine h100)
finds("\nno rules fit into 16.0 GB a device; they need at least " 1048576 1 --machine tpu_v5e)
