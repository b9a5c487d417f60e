# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DBUILD=build -DKIND=TGZ|DEB -DSCRATCH=folder -DCONSUMER=folder -P archive.cmake -- <arguments for the
#     consumer's cmake>
#
# CPack makes an archive of this build, the test unpacks it, and a user's project finds it.

cmake_minimum_required(VERSION 3.23)
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/../examples/after_dashes.cmake")

file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}/unpacked")
cmake_path(GET CMAKE_COMMAND PARENT_PATH tools)
run("${tools}/cpack" --config "${BUILD}/CPackConfig.cmake" -G ${KIND} -B "${SCRATCH}")
if(KIND STREQUAL "DEB")
  file(GLOB archive "${SCRATCH}/libostraka-dev_*.deb")
  run(dpkg-deb --info "${archive}")
  run(dpkg-deb -x "${archive}" "${SCRATCH}/unpacked")
else()
  file(GLOB archive "${SCRATCH}/ostraka-*.tar.gz")
  file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${SCRATCH}/unpacked")
endif()
file(GLOB_RECURSE version "${SCRATCH}/unpacked/*/include/ostraka/version.hpp")
if(NOT version)
  message(FATAL_ERROR "${archive} has no ostraka/version.hpp")
endif()
string(REPLACE "/include/ostraka/version.hpp" "" prefix "${version}")
if(NOT EXISTS "${prefix}/share/doc/ostraka/LICENSE")
  message(FATAL_ERROR "${archive} has no licence")
endif()
file(GLOB libraries "${prefix}/lib/*ostraka_compiled*")
if(EXISTS "${prefix}/lib/pkgconfig/ostraka.pc" AND NOT libraries)
  message(FATAL_ERROR "${archive} has headers for every machine, and an ostraka.pc that names the libraries of this "
    "one")
endif()
run("${CMAKE_COMMAND}" -S "${CONSUMER}" -B "${SCRATCH}/build" "-DCMAKE_PREFIX_PATH=${prefix}"
  -DCMAKE_FIND_USE_INSTALL_PREFIX=OFF ${command})
run("${CMAKE_COMMAND}" --build "${SCRATCH}/build")
run("${SCRATCH}/build/program")
file(STRINGS "${SCRATCH}/build/CMakeCache.txt" found REGEX "^ostraka_DIR:")
if(NOT found MATCHES "${prefix}/")
  message(FATAL_ERROR "the consumer found another copy: ${found}")
endif()
