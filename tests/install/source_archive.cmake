# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   cmake -DBUILD=build -DSOURCE=folder -DSCRATCH=folder -DGIT=git -P source_archive.cmake
#
# CPack's archive of the source has the files that Git tracks or would track: no build, and no earlier archive.

cmake_minimum_required(VERSION 3.23)

cmake_path(GET CMAKE_COMMAND PARENT_PATH tools)

# The checkout may belong to another user, as in a container. Git lists a deleted file until the deletion is in a
# commit.
execute_process(COMMAND "${GIT}" -C "${SOURCE}" -c "safe.directory=*" -c core.quotePath=false ls-files --cached --others
  --exclude-standard --deduplicate
  OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" listed "${listed}")
set(expected "")
foreach(file IN LISTS listed)
  if(file AND EXISTS "${SOURCE}/${file}")
    list(APPEND expected "${file}")
  endif()
endforeach()

# As docs/packages.md says it, from the checkout; the archive comes into the build.
execute_process(COMMAND "${tools}/cpack" --config "${BUILD}/CPackSourceConfig.cmake" -G TGZ
  WORKING_DIRECTORY "${SOURCE}" COMMAND_ERROR_IS_FATAL ANY)
if(EXISTS "${SOURCE}/_CPack_Packages")
  message(FATAL_ERROR "CPack works in the checkout, ${SOURCE}/_CPack_Packages, and the next archive would contain that")
endif()
file(GLOB archive "${BUILD}/ostraka-*-Source.tar.gz")
file(REMOVE_RECURSE "${SCRATCH}")
file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${SCRATCH}")
cmake_path(GET archive FILENAME name)
string(REPLACE ".tar.gz" "" name "${name}")
file(GLOB_RECURSE archived LIST_DIRECTORIES false RELATIVE "${SCRATCH}/${name}" "${SCRATCH}/${name}/*")

list(LENGTH expected count)
if(count LESS 1000)
  message(FATAL_ERROR "Git lists ${count} files only")
endif()
set(missing ${expected})
list(REMOVE_ITEM missing ${archived})
set(unexpected ${archived})
list(REMOVE_ITEM unexpected ${expected})
if(missing OR unexpected)
  message(FATAL_ERROR "${archive} lacks: ${missing}\nand has beside what Git lists: ${unexpected}")
endif()
message(NOTICE "${count} files, as Git lists them")
