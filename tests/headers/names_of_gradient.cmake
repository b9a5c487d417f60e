# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# No header of the surface names an entity of gradient/ (variables, abstract tensors, rules, its headers), but for these
# exceptions. An operation is called through detail::operate (docs/design/operations.md), and its operands' interpreters
# know the rest. The list only shrinks: a name that is not in it fails, and so does a row that is no longer needed.
# foresight/ stands on gradient/ and may name it. Comments, strings and names of reasons do not count.

cmake_minimum_required(VERSION 3.23)

# <header>: <the names that it uses>: <why>
set(exceptions
  "compiled/compiled_derivatives.hpp: ostraka/gradient: what a library has compiled of derivatives"
)

string(CONCAT roots "predict|is_abstract_variable|differentiate|stop_gradient|with_cotangent|cotangent_of|"
  "derivative_of|is_verb|verbs")

# The names of gradient/ in a text.
function(find_names text result)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\"[^\"\n]*\"" "" text "${text}")
  string(REGEX REPLACE "reason::[a-z_]+" "" text "${text}")
  string(REGEX MATCHALL
    "[A-Za-z_/]*([vV]ariable|abstract|${roots}|[a-z]_as|ostraka/gradient)[A-Za-z_/]*" found "${text}")
  set(names "")
  foreach(name IN LISTS found)
    if(name MATCHES "^ostraka/gradient")
      list(APPEND names "ostraka/gradient")
    elseif(name MATCHES "[vV]ariable|^(${roots}|predict_[a-z_]+|is_abstract|abstract|einsum_as|sum_as|reshard_as)$"
      AND NOT name STREQUAL "TensorOrVariable" AND NOT name MATCHES "/")
      list(APPEND names "${name}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES names)
  list(SORT names)
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

set(failed FALSE)
function(expect text)
  find_names("${text}" found)
  if(NOT found STREQUAL "${ARGN}")
    message(NOTICE "in '${text}' are found '${found}', not '${ARGN}'")
    set(failed TRUE PARENT_SCOPE)
  endif()
endfunction()
expect("#include <ostraka/gradient/tape/variable.hpp>\n" ostraka/gradient)
expect("#include <ostraka/types/values/permutation.hpp>\ntemplate <TensorOrVariable A> // Variable\n" "")
expect("if constexpr (is_variable<A>) differentiate(verbs::f{}, \"a variable\", reason::cache_of_variables<A>());"
  differentiate is_variable verbs)
expect("template <class T>\nclass abstract;\nauto f_of_variables(T); varying_as<T>; sum_as<T>" abstract f_of_variables
  sum_as)

file(GLOB_RECURSE headers RELATIVE "${INCLUDE_DIR}/ostraka" "${INCLUDE_DIR}/ostraka/*.hpp")
list(FILTER headers EXCLUDE REGEX
  "^(gradient|foresight|engine|plan|environment|types/reasons)/|^(gradient|foresight)\\.hpp$")
list(SORT headers)
set(needed "")
foreach(header IN LISTS headers)
  file(READ "${INCLUDE_DIR}/ostraka/${header}" text)
  string(REPLACE ";" " " text "${text}")
  string(REGEX REPLACE "[][]" " " text "${text}")
  find_names("${text}" names)
  if(names)
    list(JOIN names " " names)
    list(APPEND needed "${header}: ${names}")
  endif()
endforeach()

set(allowed "")
foreach(row IN LISTS exceptions)
  string(REGEX REPLACE "^([^:]*: [^:]*): .*$" "\\1" row "${row}")
  list(APPEND allowed "${row}")
endforeach()
foreach(row IN LISTS needed)
  if(NOT row IN_LIST allowed)
    message(NOTICE "${row}: names of gradient/ that tests/headers/names_of_gradient.cmake does not except; call "
      "detail::operate, and let the interpreter of the operands decide")
    set(failed TRUE)
  endif()
endforeach()
foreach(row IN LISTS allowed)
  if(NOT row IN_LIST needed)
    message(NOTICE "${row}: an exception in tests/headers/names_of_gradient.cmake that is not so any more; shorten it")
    set(failed TRUE)
  endif()
endforeach()
if(failed)
  message(FATAL_ERROR "the surface names gradient/")
endif()
list(LENGTH needed count)
message(STATUS "${count} headers outside of gradient/ and foresight/ name what is defined there")
