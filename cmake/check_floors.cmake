# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DINCLUDE_DIR=include -P check_floors.cmake
#
# Includes go down: types (1) < plan (2) < engine (3) < surface (4). Floors 1 and 2 include the standard library and
# nothing else. A floor has rooms, each a folder with one idea and at most 14 headers. `rooms` lists them, and for each
# the rooms of its floor that it includes. These precede it in the list, so no two rooms include each other, except
# rooms of engine/kernels, which are on both sides of a seam. engine/kernels is the seam of local work: other rooms
# include its own headers and its rooms loops, numbers, accumulators, rows, tiles and fourier, and nothing behind it. A
# folder that is none of types/, plan/ and engine/ is a room of the surface. Headers directly in ostraka/ are umbrellas,
# which are for users: no room includes them. Only an umbrella may have the name of another header. The surface executes
# nothing: it hands blocks and functors to the engine (`execution`, below). Only engine/machine (MPI's beginning and
# end), engine/carriers (messages), engine/files and engine/hdf5 (MPI-IO) name MPI: other rooms send by engine/groups.
# Only engine/kernels/blas/ names cblas.h, cublas_v2.h, rocblas.h and oneDNN's dnnl.h, only engine/kernels/fourier/
# fftw3.h, cufft.h and hipfft/hipfft.h, only engine/carriers/ nccl.h and rccl/rccl.h.

cmake_minimum_required(VERSION 3.23)

# <room>: <the rooms that it may include>. All rooms may include types/; rooms of the engine the listed rooms of plan/;
# the surface all three floors below it.
set(rooms
  "types/support:"
  "types/values:"
  "types/axes: types/support"
  "types/shardings: types/support types/values types/axes"
  "types/reasons: types/support"
  "plan/spec:"
  "plan/blocks: plan/spec"
  "plan/attention: plan/spec"
  "plan/pipeline: plan/spec"
  "plan/rules: plan/spec"
  "plan/hardware: plan/spec"
  "plan/reshard: plan/spec"
  "plan/search: plan/spec plan/reshard"
  "plan/decisions: plan/spec plan/blocks"
  "plan/lowering: plan/spec plan/blocks plan/reshard plan/decisions"
  "plan/workspace: plan/spec plan/reshard plan/search plan/lowering"
  "plan/program: plan/spec plan/attention plan/rules"
  "plan/pricing: plan/spec plan/hardware plan/reshard plan/search plan/workspace plan/program"
  "plan/rule_search: plan/spec plan/hardware plan/program plan/pricing"
  "plan/typed: plan/spec plan/rules plan/search plan/workspace"
  "plan/parallelism: plan/spec plan/program plan/pipeline plan/hardware plan/reshard plan/search"
  "engine/memory:"
  "engine/record: plan/hardware"
  "engine/machine: engine/memory"
  "engine/kernels: plan/blocks engine/memory engine/kernels/loops engine/kernels/portable engine/kernels/folds \
    engine/kernels/blas engine/kernels/products"
  "engine/kernels/loops: plan/blocks engine/memory engine/kernels/x86 engine/kernels/portable"
  "engine/kernels/numbers: engine/kernels/loops engine/kernels/x86"
  "engine/kernels/x86: engine/kernels engine/kernels/loops engine/kernels/portable"
  "engine/kernels/portable: engine/memory engine/machine engine/kernels engine/kernels/loops engine/kernels/x86 \
    engine/kernels/folds"
  "engine/kernels/folds: engine/memory engine/kernels engine/kernels/loops engine/kernels/x86 engine/kernels/portable"
  "engine/kernels/blas: engine/memory engine/machine engine/kernels engine/kernels/loops engine/kernels/products"
  "engine/kernels/products: engine/memory engine/kernels engine/kernels/loops engine/kernels/portable \
    engine/kernels/folds engine/kernels/blas"
  "engine/kernels/accumulators: engine/memory engine/kernels engine/kernels/loops engine/kernels/folds"
  "engine/kernels/rows: engine/memory engine/kernels engine/kernels/loops engine/kernels/numbers \
    engine/kernels/portable engine/kernels/folds engine/kernels/accumulators"
  "engine/kernels/tiles: engine/kernels/loops engine/kernels/portable"
  "engine/kernels/fourier: engine/memory engine/machine engine/kernels/loops engine/kernels/portable"
  "engine/carriers: engine/memory engine/machine engine/kernels/loops"
  "engine/groups: engine/memory engine/record engine/machine engine/kernels/loops engine/carriers"
  "engine/collectives: plan/decisions plan/lowering engine/memory engine/kernels engine/kernels/loops engine/groups"
  "engine/levels: engine/memory engine/groups engine/collectives"
  "engine/mesh: plan/spec engine/memory engine/machine engine/groups engine/collectives"
  "engine/spmd: engine/memory engine/machine engine/carriers engine/groups"
  "engine/call_check: plan/spec engine/machine engine/carriers engine/groups engine/mesh engine/spmd"
  "engine/trace: plan/spec plan/hardware engine/memory engine/record engine/machine engine/carriers engine/groups \
    engine/spmd engine/call_check"
  "engine/moves: plan/spec plan/blocks plan/decisions engine/memory engine/machine engine/kernels engine/kernels/loops \
    engine/groups engine/collectives engine/mesh"
  "engine/run: plan/spec plan/blocks plan/reshard plan/decisions plan/lowering engine/memory engine/record \
    engine/machine engine/kernels engine/kernels/loops engine/collectives engine/levels engine/mesh engine/call_check \
    engine/moves"
  "engine/block_collectives: plan/spec plan/blocks plan/decisions engine/memory engine/kernels/loops \
    engine/kernels/rows engine/collectives engine/levels engine/mesh engine/call_check engine/moves engine/run"
  "engine/divided_rows: plan/spec engine/memory engine/kernels/loops engine/kernels/numbers \
    engine/kernels/accumulators engine/kernels/rows engine/collectives engine/mesh engine/call_check engine/moves \
    engine/run"
  "engine/root: engine/memory engine/machine engine/kernels engine/collectives engine/mesh engine/moves engine/run"
  "engine/agreement: plan/spec plan/blocks engine/memory engine/kernels/loops engine/collectives engine/mesh \
    engine/spmd engine/call_check engine/moves engine/root"
  "engine/blocks: plan/spec plan/blocks engine/memory engine/machine engine/kernels engine/kernels/loops \
    engine/kernels/rows engine/kernels/fourier engine/mesh engine/moves engine/run engine/block_collectives"
  "engine/sequences: plan/spec plan/blocks plan/attention plan/decisions engine/kernels engine/kernels/loops \
    engine/kernels/rows engine/mesh engine/run engine/block_collectives engine/blocks"
  "engine/sequences/tiles: plan/spec plan/blocks plan/attention engine/kernels engine/kernels/loops \
    engine/kernels/rows engine/kernels/tiles engine/mesh engine/blocks engine/sequences"
  "engine/foreign_blocks: plan/spec plan/blocks engine/memory engine/collectives engine/kernels/loops engine/mesh \
    engine/call_check engine/moves engine/blocks engine/agreement"
  "engine/formats:"
  "engine/disk: engine/formats"
  "engine/files: plan/spec plan/blocks engine/machine engine/kernels/loops engine/groups engine/collectives \
    engine/mesh engine/call_check engine/moves engine/run engine/root engine/formats engine/disk"
  "engine/dlpack: engine/memory engine/kernels/loops engine/mesh engine/files"
  "engine/hdf5: engine/machine engine/groups engine/collectives engine/mesh engine/call_check engine/run engine/disk \
    engine/formats engine/files plan/spec plan/blocks"
  "environment:"
  "meshes:"
  "tensors: meshes"
  "calls: environment tensors"
  "blocks: tensors calls"
  "creation: tensors calls blocks"
  "arrays: tensors calls blocks"
  "arrays/foreign: tensors calls blocks arrays"
  "elements: tensors calls blocks"
  "moves: tensors calls blocks"
  "algebra: tensors calls blocks arrays elements moves"
  "local_view: meshes tensors calls moves"
  "local_view/collectives: calls blocks creation elements moves algebra local_view"
  "local_view/halos: tensors calls blocks arrays moves local_view local_view/collectives"
  "local_view/points: tensors calls blocks arrays moves local_view local_view/collectives local_view/halos"
  "dlpack: tensors calls blocks arrays local_view/halos"
  "local_view/pipelines: calls blocks elements moves local_view local_view/collectives"
  "tree: tensors blocks creation elements moves local_view local_view/pipelines"
  "operations/elements: calls elements"
  "operations/shapes: calls blocks local_view/collectives"
  "operations/indices: tensors calls blocks creation moves"
  "operations/creation: calls blocks creation elements operations/indices"
  "operations/reductions: calls blocks elements algebra"
  "operations/normalisation: tensors calls elements operations/indices"
  "operations/positions: tensors calls blocks creation elements operations/shapes"
  "operations/attention: tensors calls blocks creation elements algebra operations/shapes operations/indices \
    operations/normalisation operations/positions"
  "fourier: tensors calls blocks moves"
  "gradient/tape: tensors calls blocks elements moves algebra local_view local_view/collectives tree"
  "gradient/cotangents: elements moves algebra operations/elements operations/shapes gradient/tape"
  "gradient/directives: gradient/tape gradient/cotangents"
  "gradient/rules: tensors elements moves algebra gradient/tape gradient/cotangents"
  "gradient/rules/elements: elements operations/elements gradient/cotangents"
  "gradient/rules/moves: creation moves gradient/cotangents"
  "gradient/rules/algebra: algebra operations/reductions gradient/tape gradient/cotangents gradient/rules/elements"
  "gradient/abstract: calls operations/indices gradient/cotangents gradient/directives gradient/rules/algebra"
  "gradient/rules/operations: elements gradient/tape operations/shapes operations/indices operations/creation \
    operations/reductions operations/normalisation operations/positions operations/attention fourier gradient/rules \
    gradient/rules/elements gradient/rules/moves gradient/rules/algebra gradient/abstract"
  "gradient/rules/local_view: blocks creation arrays local_view local_view/collectives local_view/halos \
    local_view/points local_view/pipelines tree gradient/cotangents gradient/directives gradient/rules/elements"
  "gradient: creation elements gradient/cotangents"
  "experts: tensors blocks arrays elements moves algebra local_view local_view/collectives operations/elements \
    operations/indices operations/reductions operations/normalisation"
  "gradient/rules/experts: gradient/rules gradient/rules/operations"
  "optimizers: calls blocks elements moves tree"
  "files: calls blocks tree"
  "hdf5: calls blocks tree files"
  "foresight: meshes calls gradient/tape gradient/rules/moves gradient/abstract gradient"
  "seeing: environment meshes tensors calls arrays local_view/collectives tree foresight"
  "compiled: environment meshes calls elements files operations/elements operations/shapes operations/indices \
    operations/reductions operations/normalisation operations/positions operations/attention gradient/tape \
    gradient/rules/elements gradient/rules/operations optimizers seeing")

set(below_surface "^(types|plan|engine)/")

# The room of a header, its folder, or nothing: umbrellas and the few files directly on a floor have none.
function(room_of header result)
  set(room "")
  if(NOT header MATCHES "^ostraka/(types|plan|engine)/[^/]+$" AND header MATCHES "^ostraka/(.+)/[^/]+$")
    set(room "${CMAKE_MATCH_1}")
  endif()
  set(${result} "${room}" PARENT_SCOPE)
endfunction()

# True if a header of `room` may include one of `other`.
function(room_knows room other result)
  set(${result} TRUE PARENT_SCOPE)
  if(NOT other OR room STREQUAL "" OR room STREQUAL other OR (other MATCHES "^types/" AND NOT room MATCHES "^types/"))
    return()
  elseif(other MATCHES "${below_surface}" AND NOT room MATCHES "${below_surface}")
    return()
  endif()
  foreach(line IN LISTS rooms)
    if(line MATCHES "^${room}:(.*)$")
      separate_arguments(known UNIX_COMMAND "${CMAKE_MATCH_1}")
      if(NOT other IN_LIST known)
        set(${result} FALSE PARENT_SCOPE)
      endif()
      return()
    endif()
  endforeach()
  set(${result} FALSE PARENT_SCOPE)
endfunction()

function(floor_of header result)
  if(header MATCHES "^ostraka/(types/|version\\.hpp$)")
    set(floor 1)
  elseif(header MATCHES "^ostraka/(plan/|plan\\.hpp$)")
    set(floor 2)
  elseif(header MATCHES "^ostraka/engine/")
    set(floor 3)
  else()
    set(floor 4)
  endif()
  set(${result} ${floor} PARENT_SCOPE)
endfunction()

# The rule that a header breaks by an include, or nothing.
function(broken_rule header included result)
  set(rule "")
  floor_of("${header}" floor)
  if(included MATCHES "^ostraka/")
    floor_of("${included}" included_floor)
    room_of("${header}" room)
    room_of("${included}" included_room)
    room_knows("${room}" "${included_room}" knows)
    if(included_floor GREATER floor)
      set(rule "floor ${floor} includes floor ${included_floor}, includes go down")
    elseif(included MATCHES "^ostraka/[^/]+$" AND NOT included STREQUAL "ostraka/version.hpp"
      AND NOT header MATCHES "^ostraka/([^/]+|foresight/budget.hpp)$")
      # except budget.hpp, which prices programs with all rules
      set(rule "umbrellas are for users, a header includes what it needs")
    elseif(NOT knows)
      set(rule "${room}/ does not know ${included_room}/ (rooms, in cmake/check_floors.cmake)")
    elseif(NOT EXISTS "${INCLUDE_DIR}/${included}")
      set(rule "there is no such header")
    endif()
  elseif(floor LESS_EQUAL 2 AND included MATCHES "[./]")
    set(rule "floor ${floor} includes the standard library only")
  elseif(included MATCHES "^(cblas|cublas_v2|rocblas/rocblas|oneapi/dnnl/dnnl)\\.h$"
    AND NOT header MATCHES "^ostraka/engine/kernels/blas/")
    set(rule "only engine/kernels/blas/ names libraries of products")
  elseif(included MATCHES "^(nccl|rccl/rccl)\\.h$" AND NOT header MATCHES "^ostraka/engine/carriers/")
    set(rule "only engine/carriers/ names NCCL and RCCL")
  elseif(included MATCHES "^hdf5(_hl)?\\.h$" AND NOT header MATCHES "^ostraka/engine/hdf5/")
    set(rule "only engine/hdf5/ names HDF5")
  elseif(included MATCHES "^(fftw3|cufft|hipfft/hipfft)\\.h$" AND NOT header MATCHES "^ostraka/engine/kernels/fourier/")
    set(rule "only engine/kernels/fourier/ names libraries of Fourier transforms")
  elseif(included STREQUAL "dlpack/dlpack.h" AND NOT header STREQUAL "ostraka/engine/dlpack/dlpack_structs.hpp")
    set(rule "engine/dlpack/dlpack_structs.hpp includes it for all")
  elseif(included MATCHES "^mpi(-ext|o)?\\.h$" AND NOT header MATCHES "^ostraka/engine/machine/")
    set(rule "engine/machine/mpi.hpp includes it for all")
  endif()
  set(${result} "${rule}" PARENT_SCOPE)
endfunction()

set(broken FALSE)
set(before "")
foreach(line IN LISTS rooms)
  string(REGEX MATCH "^([^:]+):(.*)$" _ "${line}")
  set(room "${CMAKE_MATCH_1}")
  separate_arguments(known UNIX_COMMAND "${CMAKE_MATCH_2}")
  foreach(other IN LISTS known)
    if(NOT other IN_LIST before AND NOT (room MATCHES "^engine/kernels" AND other MATCHES "^engine/kernels"))
      message(NOTICE "${room}/ knows ${other}/, which stands behind it (rooms, in cmake/check_floors.cmake)")
      set(broken TRUE)
    endif()
  endforeach()
  list(APPEND before "${room}")
endforeach()

file(GLOB_RECURSE headers RELATIVE "${INCLUDE_DIR}" "${INCLUDE_DIR}/ostraka/*.hpp")
set(include_pattern "^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]")
foreach(header IN LISTS headers)
  file(STRINGS "${INCLUDE_DIR}/${header}" lines REGEX "${include_pattern}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "${include_pattern}" _ "${line}")
    set(included "${CMAKE_MATCH_1}")
    get_filename_component(folder "${INCLUDE_DIR}/${header}" DIRECTORY)
    if(line MATCHES "include *\"" AND EXISTS "${folder}/${included}")  # relative to the header
      get_filename_component(included "${folder}/${included}" ABSOLUTE)
      file(RELATIVE_PATH included "${INCLUDE_DIR}" "${included}")
    endif()
    broken_rule("${header}" "${included}" rule)
    if(rule)
      message(NOTICE "${header}: includes ${included}: ${rule}")
      set(broken TRUE)
    endif()
  endforeach()
endforeach()

# A room has few enough headers to survey, and a header's name identifies it.
set(most 14)
foreach(header IN LISTS headers)
  room_of("${header}" room)
  if(room)
    list(APPEND "headers_of-${room}" "${header}")
    list(LENGTH "headers_of-${room}" count)
    math(EXPR beyond "${most} + 1")
    if(count EQUAL beyond)
      message(NOTICE "${room}/ has more than ${most} headers: two ideas live in it")
      set(broken TRUE)
    endif()
  endif()
  cmake_path(GET header FILENAME name)
  if(DEFINED "header_named-${name}" AND header MATCHES "/.*/")
    message(NOTICE "${header}: ${header_named-${name}} has the same name; rename one after what it holds")
    set(broken TRUE)
  elseif(header MATCHES "/.*/")
    set("header_named-${name}" "${header}")
  endif()
endforeach()

# Only the engine runs kernels or waits for them, and only some rooms call MPI. Comments and messages may name anything.
set(execution
  "Kokkos::parallel_|Kokkos::deep_copy|create_mirror|fence\\(|engine::(for_each|gather|scatter|broadcast|copy|fill)\\(")
set(names_mpi "(^|[^A-Za-z0-9_])P?MPIX?_[A-Z]")
set(knows_mpi engine/machine engine/carriers engine/files engine/hdf5)
foreach(header IN LISTS headers)
  floor_of("${header}" floor)
  room_of("${header}" room)
  file(STRINGS "${INCLUDE_DIR}/${header}" lines REGEX "${execution}|${names_mpi}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "\"[^\"]*\"" "" code "${line}")
    string(REGEX REPLACE "//.*" "" code "${code}")
    if(floor EQUAL 4 AND code MATCHES "${execution}")
      message(NOTICE "${header}: ${line}: the surface executes nothing, hand it to the engine")
      set(broken TRUE)
    elseif(code MATCHES "${names_mpi}" AND NOT room IN_LIST knows_mpi)
      message(NOTICE "${header}: ${line}: only engine/carriers/, engine/machine/, engine/files/ and engine/hdf5/ call "
        "MPI, ask engine/groups/ for what is sent")
      set(broken TRUE)
    endif()
  endforeach()
endforeach()

# Instances of execution spaces come from engine::instance, because an application may have set one.
set(makes_instance "(Exec|[eE]xecution_?[sS]pace|execution_space_type<[A-Za-z]+>)(\\(\\)|{})")
foreach(header IN LISTS headers)
  file(STRINGS "${INCLUDE_DIR}/${header}" lines REGEX "${makes_instance}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "//.*" "" code "${line}")
    if(code MATCHES "${makes_instance}" AND NOT code MATCHES "exec_ = Exec\\(\\)|concurrency\\(\\)"
      AND NOT header STREQUAL "ostraka/engine/machine/instance.hpp")
      message(NOTICE "${header}: ${line}: ask engine::instance for an execution space instance")
      set(broken TRUE)
    endif()
  endforeach()
endforeach()

list(LENGTH headers count)
if(broken)
  message(FATAL_ERROR "a header breaks a rule of the floors")
elseif(count EQUAL 0)
  message(FATAL_ERROR "no headers in ${INCLUDE_DIR}/ostraka")
endif()
message(STATUS "${count} headers, all includes go down, the surface executes nothing")
