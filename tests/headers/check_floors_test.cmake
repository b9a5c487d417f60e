# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The floor check finds planted violations, and only those.

cmake_minimum_required(VERSION 3.23)

# Writes a small include tree, with one more include in one header, and runs the check on it.
function(check header line result output)
  file(REMOVE_RECURSE "${SCRATCH}")
  file(WRITE "${SCRATCH}/ostraka/types/axes/axis.hpp" "#include <cstdint>\n")
  file(WRITE "${SCRATCH}/ostraka/plan/spec/spec.hpp" "#include <array>\n#include <ostraka/types/axes/axis.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/plan.hpp" "#include <ostraka/plan/spec/spec.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/engine/moves/moves.hpp" "#include <ostraka/plan/spec/spec.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/engine/kernels/blas/cblas.hpp" "#include <cblas.h>\n")
  file(WRITE "${SCRATCH}/ostraka/engine/spmd/peer_monitor.hpp" "#include <ostraka/engine/machine/mpi.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/engine/machine/mpi.hpp" "#include <mpi.h>\n")
  file(WRITE "${SCRATCH}/ostraka/algebra/einsum.hpp" "#include <Kokkos_Core.hpp>\n#include <ostraka/engine/moves/moves.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/ostraka.hpp" "#include <ostraka/algebra/einsum.hpp>\n")
  file(APPEND "${SCRATCH}/${header}" "${line}\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DINCLUDE_DIR=${SCRATCH}" -P "${CHECK}" RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
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

check(ostraka/algebra/einsum.hpp "#include <ostraka/plan.hpp>" status output)
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
expect_broken(ostraka/engine/kernels/blas/cblas.hpp "#include <ostraka/engine/moves/moves.hpp>" "engine/kernels/blas/ does not know engine/moves/")
expect_broken(ostraka/engine/kernels/blas/cblas.hpp "#include <ostraka/plan/spec/spec.hpp>" "engine/kernels/blas/ does not know plan/spec/")
expect_broken(ostraka/engine/spmd/peer_monitor.hpp "#include <ostraka/engine/moves/moves.hpp>" "engine/spmd/ does not know engine/moves/")
expect_broken(ostraka/engine/groups/communicator.hpp "#include <ostraka/engine/spmd/peer_monitor.hpp>" "engine/groups/ does not know engine/spmd/")
expect_broken(ostraka/engine/attic/new.hpp "#include <ostraka/plan/spec/spec.hpp>" "engine/attic/ does not know plan/spec/")
expect_broken(ostraka/algebra/einsum.hpp "#include <ostraka/ostraka.hpp>" "for users")
expect_broken(ostraka/algebra/einsum.hpp "#include <ostraka/missing.hpp>" "no such header")
expect_broken(ostraka/algebra/einsum.hpp "  Kokkos::parallel_for(n, f)\;" "the surface executes nothing")
expect_broken(ostraka/algebra/einsum.hpp "  exec.fence()\;" "the surface executes nothing")
expect_broken(ostraka/algebra/einsum.hpp "  int r = MPI_Barrier(comm)\;" "only engine/carriers/")
expect_broken(ostraka/engine/moves/moves.hpp "  PMPI_Barrier(comm)\;  // waits" "only engine/carriers/")
expect_broken(ostraka/engine/spmd/peer_monitor.hpp "  MPI_Comm comm\;" "only engine/carriers/")
expect_broken(ostraka/engine/moves/moves.hpp "  f(\"of MPI\", MPIX_Query_cuda_support())\;" "only engine/carriers/")
expect_broken(ostraka/engine/carriers/mpi_carrier.hpp "#include <mpi.h>" "engine/machine/mpi.hpp includes it for all")
expect_broken(ostraka/engine/carriers/mpi_carrier.hpp "#include <ostraka/engine/groups/communicator.hpp>" "engine/carriers/ does not know engine/groups/")
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
