# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ostraka::compiled: ostraka::ostraka and a library of the engine's instances
# (include/ostraka/compiled/compiled_engine.hpp), static or, with BUILD_SHARED_LIBS, shared. A program that links it
# compiles in a fraction of the time and does the same. This file generates the sources, a few lines each.

include_guard()

set(OSTRAKA_COMPILED_OPTIONS "" CACHE STRING "Compiler options for ostraka::compiled, after those of the build type")
mark_as_advanced(OSTRAKA_COMPILED_OPTIONS)

# ostraka_kind_of_compiled(<result>): STATIC or SHARED. A shared library needs a shared Kokkos: with a static one, the
# library and the program would each hold a copy of Kokkos, which may be freed twice when the process ends
# (docs/shared-libraries.md).
function(ostraka_kind_of_compiled result)
  set(kokkos "")
  if(TARGET Kokkos::kokkoscore)
    get_target_property(kokkos Kokkos::kokkoscore TYPE)
  endif()
  if(BUILD_SHARED_LIBS AND NOT kokkos STREQUAL "STATIC_LIBRARY")
    set(${result} SHARED PARENT_SCOPE)
    return()
  endif()
  set(${result} STATIC PARENT_SCOPE)
  if(BUILD_SHARED_LIBS AND OSTRAKA_BUILD_COMPILED)
    string(CONCAT sentence
      "a shared ostraka::compiled needs a shared Kokkos, but the one in ${Kokkos_DIR} is static; build Kokkos with "
      "BUILD_SHARED_LIBS=ON and name it with Kokkos_ROOT, or leave BUILD_SHARED_LIBS off.")
    if(PROJECT_IS_TOP_LEVEL)
      message(FATAL_ERROR "ostraka: ${sentence}")
    endif()
    message(STATUS "ostraka: ostraka::compiled is static: ${sentence}")
  endif()
endfunction()

# ostraka_add_compiled([EXCLUDE_FROM_ALL])
function(ostraka_add_compiled)
  set(sources "")
  foreach(type IN ITEMS float double Kokkos::complex<float> Kokkos::complex<double> std::int32_t std::int64_t
      std::int8_t std::int16_t ostraka::float16 ostraka::bfloat16 bool)
    string(MAKE_C_IDENTIFIER "${type}" name)
    set(source "${PROJECT_BINARY_DIR}/compiled/${name}.cpp")
    set(instances INSTANCES)
    if(type MATCHES "int8|int16|float16")
      set(instances SMALL_INSTANCES)
    elseif(type STREQUAL "bool")
      set(instances BOOL_INSTANCES)
    endif()
    file(CONFIGURE OUTPUT "${source}"
      CONTENT "#include <ostraka/compiled/compiled_engine.hpp>\n\nOSTRAKA_${instances}_(, ${type})\n")
    list(APPEND sources "${source}")
  endforeach()
  # The vocabulary, for the element types that call it most.
  foreach(type IN ITEMS float double)
    set(source "${PROJECT_BINARY_DIR}/compiled/vocabulary_${type}.cpp")
    string(CONCAT content
      "#include <ostraka/compiled/compiled_files.hpp>\n#include <ostraka/compiled/compiled_derivatives.hpp>\n"
      "#include <ostraka/compiled/compiled_updates.hpp>\n\n"
      "OSTRAKA_OPERATION_INSTANCES_(, ${type})\nOSTRAKA_DERIVATIVE_INSTANCES_(, ${type})\n"
      "OSTRAKA_UPDATE_INSTANCES_(, ${type})\nOSTRAKA_FILE_BLOCK_INSTANCE_(, ${type})\n")
    file(CONFIGURE OUTPUT "${source}" CONTENT "${content}")
    list(APPEND sources "${source}")
  endforeach()
  set(source "${PROJECT_BINARY_DIR}/compiled/all_types.cpp")
  string(CONCAT content
    "#include <ostraka/engine/files/reading_tensors.hpp>\n#include <ostraka/engine/files/writing_later.hpp>\n"
    "#include <ostraka/compiled/compiled_files.hpp>\n#include <ostraka/compiled/compiled_derivatives.hpp>\n\n"
    "OSTRAKA_COMMON_INSTANCES_()\nOSTRAKA_FILE_INSTANCES_()\n"
    "OSTRAKA_LEAF_INSTANCES_()\nOSTRAKA_SHAPE_INSTANCES_()\n"
    "OSTRAKA_FILE_BLOCK_INSTANCE_(, std::int64_t)\n")
  foreach(type IN ITEMS std::int32_t std::int64_t)
    string(APPEND content "OSTRAKA_INDEX_OPERATION_INSTANCES_(, ${type})\nOSTRAKA_LABEL_INSTANCE_(, ${type})\n")
  endforeach()
  file(CONFIGURE OUTPUT "${source}" CONTENT "${content}")
  list(APPEND sources "${source}")

  ostraka_kind_of_compiled(kind)
  add_library(ostraka_compiled ${kind} ${ARGN} ${sources})
  add_library(ostraka::compiled ALIAS ostraka_compiled)
  set_target_properties(ostraka_compiled PROPERTIES EXPORT_NAME compiled POSITION_INDEPENDENT_CODE ON)
  if(kind STREQUAL "SHARED")
    # Before 1.0 no version promises to work with programs that another version compiled. The objects are compiled as
    # for the static library, without CMake's macro for shared ones, so that ccache has them. If the project hides
    # symbols, the library does not, because the instances must stay visible.
    set(soversion ${PROJECT_VERSION})
    if(PROJECT_VERSION_MAJOR GREATER 0)
      set(soversion ${PROJECT_VERSION_MAJOR})
    endif()
    set_target_properties(ostraka_compiled PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion}
      DEFINE_SYMBOL "")
    if(CMAKE_CXX_VISIBILITY_PRESET OR CMAKE_VISIBILITY_INLINES_HIDDEN OR CMAKE_CXX_FLAGS MATCHES "-fvisibility")
      set_target_properties(ostraka_compiled PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
    endif()
  endif()
  target_link_libraries(ostraka_compiled PUBLIC ostraka)
  target_compile_definitions(ostraka_compiled INTERFACE OSTRAKA_COMPILED)
  target_compile_options(ostraka_compiled PRIVATE ${OSTRAKA_COMPILED_OPTIONS})
endfunction()
