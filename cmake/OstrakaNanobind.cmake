# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   ostraka_find_nanobind(<why not>)          looks for a Python with nanobind and its headers; sets <why not> to the
#                                             reason if there is none, else to nothing
#   ostraka_add_python_module(<name> <source> <folder>)
# Only examples/python and its tests need them. The Python is OSTRAKA_FILES_PYTHON (cmake/bootstrap.sh) or python3.

include_guard()

macro(ostraka_find_nanobind result)
  set(${result} "no python3 has the package nanobind, version 2 or later")
  set(OSTRAKA_NANOBIND_PYTHON "${OSTRAKA_FILES_PYTHON}")
  set(nanobind_candidates ${OSTRAKA_FILES_PYTHON} python3 /usr/bin/python3)
  if(CMAKE_CXX_FLAGS MATCHES "sanitize")
    set(${result} "a sanitizer's library has to be loaded before Python")
    set(nanobind_candidates "")
  endif()
  foreach(candidate IN LISTS nanobind_candidates)
    string(CONCAT sentence
      "import nanobind, sys; assert int(nanobind.__version__.split('.')[0]) >= 2; print(sys.executable); "
      "print(nanobind.cmake_dir())")
    execute_process(COMMAND "${candidate}"
      -c "${sentence}"
      RESULT_VARIABLE nanobind_status OUTPUT_VARIABLE nanobind_lines ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(nanobind_status EQUAL 0)
      string(REPLACE "\n" ";" nanobind_lines "${nanobind_lines}")
      list(GET nanobind_lines 0 OSTRAKA_NANOBIND_PYTHON)
      list(GET nanobind_lines 1 nanobind_DIR)
      set(Python_EXECUTABLE "${OSTRAKA_NANOBIND_PYTHON}")
      find_package(Python QUIET COMPONENTS Interpreter Development.Module)
      if(TARGET Python::Module)
        find_package(nanobind CONFIG REQUIRED PATHS "${nanobind_DIR}" NO_DEFAULT_PATH)
        set(${result} "")
      else()
        set(${result} "${OSTRAKA_NANOBIND_PYTHON} has no headers of Python (Debian: python3-dev)")
      endif()
      break()
    endif()
  endforeach()
endmacro()

# A module of Python. nanobind's own sources and headers have warnings that are not ours.
function(ostraka_add_python_module name source folder library)
  nanobind_add_module(${name} NB_STATIC NOMINSIZE "${source}")
  get_target_property(headers nanobind-static INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(${name} SYSTEM PRIVATE ${headers})
  target_compile_options(nanobind-static PRIVATE -w)
  target_link_libraries(${name} PRIVATE ${library})
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${folder}")
endfunction()
