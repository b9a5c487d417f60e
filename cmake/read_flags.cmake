# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   include(read_flags.cmake)
#
# Sets `flags`: the include folders, definitions and options in FLAGS_FILE, which the build generates, for COMPILER.
# Tests that run a compiler themselves compile with them as ostraka::ostraka's programs do.

include("${FLAGS_FILE}")
# named twice, a folder moves to the later place, where #include_next misses it
list(REMOVE_ITEM include_dirs "${INCLUDE_DIR}" /usr/include)
list(REMOVE_DUPLICATES include_dirs)
list(TRANSFORM include_dirs PREPEND "-isystem")
list(FILTER definitions EXCLUDE REGEX "^$")  # generator expressions that are empty here
list(TRANSFORM definitions PREPEND "-D")
set(flags ${include_dirs} ${definitions} ${options})
if(COMPILER MATCHES "clang" AND options MATCHES "openmp")
  # If clang's own OpenMP runtime is not installed, it takes omp.h from another version (g++'s is for g++ alone). The
  # folder comes last, so that nothing else comes from it.
  file(GLOB omp_headers /usr/lib/llvm-*/lib/clang/*/include/omp.h)
  if(omp_headers)
    list(GET omp_headers -1 omp_header)
    get_filename_component(omp_dir "${omp_header}" DIRECTORY)
    list(APPEND flags -idirafter "${omp_dir}")
  endif()
endif()
