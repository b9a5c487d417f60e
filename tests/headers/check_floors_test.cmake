# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The floor check finds planted violations, and only those.

cmake_minimum_required(VERSION 3.23)

# Writes a small include tree, with one more include in one header, and runs the check on it.
function(check header line result output)
  file(REMOVE_RECURSE "${SCRATCH}")
  file(WRITE "${SCRATCH}/ostraka/types/axis.hpp" "#include <cstdint>\n")
  file(WRITE "${SCRATCH}/ostraka/plan/spec.hpp" "#include <array>\n#include <ostraka/types/axis.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/plan.hpp" "#include <ostraka/plan/spec.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/engine/moves.hpp" "#include <mpi.h>\n#include <ostraka/plan/spec.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/engine/local/blas/cblas.hpp" "#include <cblas.h>\n")
  file(WRITE "${SCRATCH}/ostraka/engine/job/watch.hpp" "#include <ostraka/engine/mpi.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/engine/mpi.hpp" "#include <mpi.h>\n")
  file(WRITE "${SCRATCH}/ostraka/einsum.hpp" "#include <Kokkos_Core.hpp>\n#include <ostraka/engine/moves.hpp>\n")
  file(WRITE "${SCRATCH}/ostraka/ostraka.hpp" "#include <ostraka/einsum.hpp>\n")
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

check(ostraka/einsum.hpp "#include <ostraka/plan.hpp>" status output)
if(NOT status EQUAL 0)
  message(SEND_ERROR "a tree without violations fails:\n${output}")
endif()
expect_broken(ostraka/types/axis.hpp "#include <ostraka/plan/spec.hpp>" "floor 1 includes floor 2")
expect_broken(ostraka/types/axis.hpp "# include \"../einsum.hpp\"" "floor 1 includes floor 4")
expect_broken(ostraka/plan/spec.hpp "  #  include <ostraka/engine/moves.hpp>" "floor 2 includes floor 3")
expect_broken(ostraka/plan/spec.hpp "#include <mpi.h>" "standard library only")
expect_broken(ostraka/plan.hpp "#include <Kokkos_Core.hpp>" "standard library only")
expect_broken(ostraka/engine/moves.hpp "#include <ostraka/einsum.hpp>" "floor 3 includes floor 4")
expect_broken(ostraka/engine/moves.hpp "#include <cblas.h>" "only engine/local/blas/")
expect_broken(ostraka/engine/local/blas/cblas.hpp "#include <ostraka/engine/mpi.hpp>" "blocks of memory and nothing else")
expect_broken(ostraka/engine/local/blas/cblas.hpp "#include <ostraka/plan/spec.hpp>" "blocks of memory and nothing else")
expect_broken(ostraka/engine/job/watch.hpp "#include <ostraka/engine/moves.hpp>" "processes and nothing else")
expect_broken(ostraka/einsum.hpp "#include <ostraka/ostraka.hpp>" "for users")
expect_broken(ostraka/einsum.hpp "#include <ostraka/missing.hpp>" "no such header")
