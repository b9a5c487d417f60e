# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The floor check finds planted violations, and no others.

cmake_minimum_required(VERSION 3.23)

# Writes a small include tree, with one more line in one header, and runs the check on it.
function(check header line result output)
  file(REMOVE_RECURSE "${SCRATCH}")
  file(WRITE "${SCRATCH}/ostraka/types/axes/axis.hpp" "#include <cstdint>\n")
  file(WRITE "${SCRATCH}/ostraka/plan/spec/spec.hpp" "#include <array>\n#include <ostraka/types/axes/axis.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/plan.hpp" "#include <ostraka/plan/spec/spec.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/engine/moves/moves.hpp" "#include <ostraka/plan/spec/spec.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/engine/kernels/blas/cblas.hpp" "#include <cblas.h>\n")
  file(WRITE "${SCRATCH}/ostraka/engine/spmd/peer_monitor.hpp" "#include <ostraka/engine/machine/mpi.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/engine/machine/mpi.hpp" "#include <mpi.h>\n")
  file(WRITE "${SCRATCH}/ostraka/tensors/tensor.hpp"
    "#include <Kokkos_Core.hpp>\n#include <ostraka/engine/moves/moves.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/algebra/einsum.hpp"
    "#include <ostraka/tensors/tensor.hpp>\n#include <ostraka/plan/spec/spec.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/local_view/shard_map.hpp" "#include <ostraka/tensors/tensor.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/local_view/collectives/psum.hpp" "#include <ostraka/local_view/shard_map.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/ostraka.hpp" "#include <ostraka/algebra/einsum.hpp>\n#include <ostraka/plan.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/operations.hpp" "#include <ostraka/ostraka.hpp>\n")
  foreach(changed IN LISTS header)
    file(APPEND "${SCRATCH}/${changed}" "${line}\n")
  endforeach()
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DINCLUDE_DIR=${SCRATCH}" -P "${CHECK}" RESULT_VARIABLE status
    OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${result} "${status}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

function(expect_broken header line sentence)
  check("${header}" "${line}" status output)
  string(FIND "${output}" "${sentence}" position)
  if(status EQUAL 0 OR position EQUAL -1)
    message(SEND_ERROR "not found: ${header} with ${line}; expected \"${sentence}\", the check said:\n${output}")
  endif()
endfunction()

check(ostraka/local_view/collectives/psum.hpp "#include <ostraka/algebra/einsum.hpp>" status output)
if(NOT status EQUAL 0)
  message(SEND_ERROR "a tree without violations fails:\n${output}")
endif()
expect_broken(ostraka/types/axes/axis.hpp "#include <ostraka/plan/spec/spec.hpp>" "floor 1 includes floor 2")
expect_broken(ostraka/types/axes/axis.hpp "# include \"../../algebra/einsum.hpp\"" "floor 1 includes floor 4")
expect_broken(ostraka/plan/spec/spec.hpp "  #  include <ostraka/engine/moves/moves.hpp>" "floor 2 includes floor 3")
expect_broken(ostraka/plan/spec/spec.hpp "#include <mpi.h>" "standard library only")
expect_broken(ostraka/plan.hpp "#include <Kokkos_Core.hpp>" "standard library only")
expect_broken(ostraka/engine/moves/moves.hpp "#include <ostraka/algebra/einsum.hpp>" "floor 3 includes floor 4")
expect_broken(ostraka/engine/moves/moves.hpp "#include <cblas.h>" "only engine/kernels/blas/")
expect_broken(ostraka/engine/kernels/blas/cblas.hpp "#include <ostraka/engine/moves/moves.hpp>"
  "engine/kernels/blas/ does not know engine/moves/")
expect_broken(ostraka/engine/kernels/blas/cblas.hpp "#include <ostraka/plan/spec/spec.hpp>"
  "engine/kernels/blas/ does not know plan/spec/")
expect_broken(ostraka/engine/spmd/peer_monitor.hpp "#include <ostraka/engine/moves/moves.hpp>"
  "engine/spmd/ does not know engine/moves/")
expect_broken(ostraka/engine/groups/communicator.hpp "#include <ostraka/engine/spmd/peer_monitor.hpp>"
  "engine/groups/ does not know engine/spmd/")
expect_broken(ostraka/engine/attic/new.hpp "#include <ostraka/plan/spec/spec.hpp>"
  "engine/attic/ does not know plan/spec/")
expect_broken(ostraka/tensors/tensor.hpp "#include <ostraka/algebra/einsum.hpp>" "tensors/ does not know algebra/")
expect_broken(ostraka/tensors/tensor.hpp "#include \"../algebra/einsum.hpp\"" "tensors/ does not know algebra/")
expect_broken(ostraka/algebra/einsum.hpp "#include <ostraka/local_view/shard_map.hpp>"
  "algebra/ does not know local_view/")
expect_broken(ostraka/local_view/shard_map.hpp "#include <ostraka/local_view/collectives/psum.hpp>"
  "local_view/ does not know local_view/collectives/")
expect_broken(ostraka/attic/new.hpp "#include <ostraka/tensors/tensor.hpp>" "attic/ does not know tensors/")
expect_broken(ostraka/algebra/einsum.hpp "#include <ostraka/ostraka.hpp>" "for users")
expect_broken(ostraka/algebra/einsum.hpp "#include <ostraka/plan.hpp>" "for users")
expect_broken(ostraka/local_view/einsum.hpp ""
  "ostraka/local_view/einsum.hpp: ostraka/algebra/einsum.hpp has the same name")
expect_broken(ostraka/plan/spec/axis.hpp "" "ostraka/types/axes/axis.hpp: ostraka/plan/spec/axis.hpp has the same name")
expect_broken(ostraka/algebra/einsum.hpp "#include <ostraka/tensors/missing.hpp>" "no such header")
expect_broken(ostraka/algebra/einsum.hpp "  Kokkos::parallel_for(n, f)\;" "the surface executes nothing")
expect_broken(ostraka/algebra/einsum.hpp "  exec.fence()\;" "the surface executes nothing")
expect_broken(ostraka/algebra/einsum.hpp "  int r = MPI_Barrier(comm)\;" "only engine/carriers/")
expect_broken(ostraka/engine/moves/moves.hpp "  PMPI_Barrier(comm)\;  // waits" "only engine/carriers/")
expect_broken(ostraka/engine/spmd/peer_monitor.hpp "  MPI_Comm comm\;" "only engine/carriers/")
expect_broken(ostraka/engine/moves/moves.hpp "  f(\"of MPI\", MPIX_Query_cuda_support())\;" "only engine/carriers/")
expect_broken(ostraka/engine/carriers/mpi_carrier.hpp "#include <mpi.h>" "engine/machine/mpi.hpp includes it for all")
expect_broken(ostraka/engine/carriers/mpi_carrier.hpp "#include <ostraka/engine/groups/communicator.hpp>"
  "engine/carriers/ does not know engine/groups/")
foreach(allowed IN ITEMS
    "ostraka/algebra/einsum.hpp|// Where MPI_Barrier(comm) would wait."
    "ostraka/engine/spmd/peer_monitor.hpp|  tell(\"is in MPI_Barrier\")\;"
    "ostraka/engine/spmd/peer_monitor.hpp|#if OSTRAKA_ENABLE_MPI"
    "ostraka/engine/machine/job.hpp|  MPI_Finalize()\;"
    "ostraka/engine/carriers/mpi_carrier.hpp|  MPI_Barrier(comm_)\;"
    "ostraka/engine/files/transfer.hpp|  MPI_File_close(&file_)\;")
  string(REPLACE "|" ";" allowed "${allowed}")
  list(GET allowed 0 header)
  list(GET allowed 1 line)
  check(${header} "${line}" status output)
  if(NOT status EQUAL 0)
    message(SEND_ERROR "${header} may have ${line}:\n${output}")
  endif()
endforeach()

# An umbrella may have the name of a header of a room, and no other header may.
check(ostraka/einsum.hpp "#include <ostraka/algebra/einsum.hpp>" status output)
if(NOT status EQUAL 0)
  message(SEND_ERROR "an umbrella may have the name of a header:\n${output}")
endif()

# Fourteen headers are allowed in a room, fifteen are not.
set(full "")
foreach(number RANGE 1 13)
  list(APPEND full "ostraka/tensors/number_${number}.hpp")
endforeach()
check("${full}" "" status output)
if(NOT status EQUAL 0)
  message(SEND_ERROR "a room of fourteen headers is refused:\n${output}")
endif()
expect_broken("${full};ostraka/tensors/one_more.hpp" "" "tensors/ has more than 14 headers")

# The check refuses a list of rooms in which two know each other, whatever the headers include. The seam of kernels is
# excepted.
function(check_list from to result output)
  file(READ "${CHECK}" text)
  string(REPLACE "${from}" "${to}" changed "${text}")
  if(changed STREQUAL text)
    message(SEND_ERROR "no such line in the list of rooms: ${from}")
  endif()
  file(WRITE "${SCRATCH}/check.cmake" "${changed}")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DINCLUDE_DIR=${SCRATCH}" -P "${SCRATCH}/check.cmake"
    RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
  set(${result} "${status}" PARENT_SCOPE)
  set(${output} "${said}" PARENT_SCOPE)
endfunction()

check(ostraka/algebra/einsum.hpp "" status output)
foreach(planted IN ITEMS "tensors: meshes|tensors: meshes algebra" "plan/spec:|plan/spec: plan/search"
  "engine/groups: |engine/groups: engine/run ")
  string(REPLACE "|" ";" planted "${planted}")
  list(GET planted 0 from)
  list(GET planted 1 to)
  check_list("\"${from}" "\"${to}" status output)
  if(status EQUAL 0 OR NOT output MATCHES "which stands behind it")
    message(SEND_ERROR "two rooms that know each other are not found: ${to}; the check said:\n${output}")
  endif()
endforeach()
