# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Files for pkg-config, for projects that are not built by CMake. They find their own prefix, so that an installation
# can be moved. Kokkos, MPI and BLAS have no reliable pkg-config files, so these files name them by their paths, as this
# build found them.

include_guard()

# ostraka_gather_flags(<line> <options> <item>...): the linker arguments for these targets, libraries and options,
# dependents first, and the options of the compiler. Files of targets are generator expressions, so that each
# configuration has its own.
function(ostraka_gather_flags line_result options_result)
  set(line "")
  set(all_options "")
  foreach(item IN LISTS ARGN)
    set(link_only FALSE)
    if(item MATCHES "^\\$<LINK_ONLY:(.*)>$")
      set(item "${CMAKE_MATCH_1}")
      set(link_only TRUE)
    endif()
    if(item MATCHES "^\\$<TARGET_NAME_IF_EXISTS:(.*)>$")
      set(item "${CMAKE_MATCH_1}")
      if(NOT TARGET ${item})
        continue()
      endif()
    endif()
    if(item MATCHES "^::@")  # a marker of CMake
      continue()
    elseif(NOT TARGET "${item}")
      if(NOT item MATCHES "^[-$/]")
        set(item "-l${item}")
      endif()
      list(APPEND line "${item}")
      continue()
    endif()
    get_target_property(type ${item} TYPE)
    get_target_property(imported ${item} IMPORTED)
    if(imported AND NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND line "$<TARGET_LINKER_FILE:${item}>")
    endif()
    get_target_property(options ${item} INTERFACE_LINK_OPTIONS)
    if(options)
      string(REPLACE "$<LINK_LANGUAGE:CXX>" "1" options "${options}")
      string(REGEX REPLACE "\\$<LINK_LANGUAGE:[^>]*>" "0" options "${options}")
      list(APPEND line "${options}")
    endif()
    get_target_property(options ${item} INTERFACE_COMPILE_OPTIONS)
    if(options AND NOT link_only)
      list(APPEND all_options "${options}")
    endif()
    get_target_property(further ${item} INTERFACE_LINK_LIBRARIES)
    if(further)
      ostraka_gather_flags(further options ${further})
      list(APPEND line "${further}")
      if(NOT link_only)
        list(APPEND all_options "${options}")
      endif()
    endif()
  endforeach()
  list(REVERSE line)  # keep the last of equal entries: an archive comes after everything that needs it
  list(REMOVE_DUPLICATES line)
  list(REVERSE line)
  list(REMOVE_DUPLICATES all_options)
  foreach(variable IN ITEMS line all_options)  # SHELL: is for CMake alone
    string(REPLACE "SHELL:" "" ${variable} "${${variable}}")
  endforeach()
  set(${line_result} "${line}" PARENT_SCOPE)
  set(${options_result} "${all_options}" PARENT_SCOPE)
endfunction()

# ostraka_add_pkg_config(<name> <description> <folder> [TARGET <target>] [REQUIRES <other names>])
# Installs <folder>/pkgconfig/<name>.pc. With TARGET, the file contains what the target requires of programs that link
# it, beyond the contents of the required files.
function(ostraka_add_pkg_config name description folder)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "TARGET;REQUIRES" "")
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE here)
  file(RELATIVE_PATH up "${here}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(include_dir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(include_dir "${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  string(CONCAT text "prefix=\${pcfiledir}/${up}\n" "includedir=${include_dir}\n\n" "Name: ${name}\n"
    "Description: ${description}\n"
    "Version: ${PROJECT_VERSION}\n")
  if(arg_REQUIRES)
    string(APPEND text
      "Requires: ${arg_REQUIRES} = ${PROJECT_VERSION}\nCflags: -DOSTRAKA_COMPILED\n"
      "Libs: -L\${pcfiledir}/.. -l$<TARGET_PROPERTY:${arg_TARGET},NAME>\n")
  elseif(arg_TARGET)
    set(asked "$<TARGET_PROPERTY:${arg_TARGET},INTERFACE_")
    set(definitions "$<REMOVE_DUPLICATES:${asked}COMPILE_DEFINITIONS>>")
    # Leave out the compiler's own folders: it has to search them in its own order.
    set(not_said "${PROJECT_SOURCE_DIR}/include" ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
    list(TRANSFORM not_said REPLACE "[^A-Za-z0-9/_-]" "[\\0]")
    list(JOIN not_said "|" not_said)
    set(folders "$<FILTER:$<REMOVE_DUPLICATES:${asked}INCLUDE_DIRECTORIES>>,EXCLUDE,^(${not_said})$>")
    ostraka_gather_flags(line options ${arg_TARGET})
    string(APPEND text "Cflags: -I\${includedir}$<$<BOOL:${definitions}>: -D$<JOIN:${definitions}, -D>>"
      "$<$<BOOL:${folders}>: -isystem $<JOIN:${folders}, -isystem >> $<JOIN:${options}, >\n"
      "Libs: $<JOIN:${line}, >\n")
  else()
    string(APPEND text "Cflags: -I\${includedir}\n")
  endif()
  file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/pkgconfig/$<COMPILE_LANGUAGE>-$<CONFIG>/${name}.pc" CONTENT "${text}")
  # An archive of headers fits any machine, and this file names the libraries of one: CPack leaves this component out.
  set(component "")
  if(arg_TARGET AND NOT OSTRAKA_BUILD_COMPILED)
    set(component COMPONENT ostraka_machine)
  endif()
  install(FILES "${PROJECT_BINARY_DIR}/pkgconfig/CXX-$<CONFIG>/${name}.pc"
    DESTINATION "${folder}/pkgconfig" ${component})
endfunction()
