# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds the CBLAS that local contractions on the host use. OstrakaDependencies.cmake includes this file.

include_guard()

# Makes the target ostraka::cblas if cblas.h exists and a program that calls cblas_dgemm links with some library. A link
# test decides because distributions differ in which library exports the C interface. OpenBLAS comes first, in its
# OpenMP flavour, which shares its threads with Kokkos. netlib's reference BLAS, many times slower than the portable
# kernel, is used only if OSTRAKA_ENABLE_REFERENCE_BLAS or OSTRAKA_CBLAS_LIBRARY asks for it.
function(ostraka_find_cblas)
  if(TARGET ostraka::cblas)
    return()
  endif()
  find_path(OSTRAKA_CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES openblas-openmp openblas-pthread openblas cblas
    DOC "Folder of cblas.h")
  find_library(OSTRAKA_CBLAS_LIBRARY NAMES openblaso openblas PATH_SUFFIXES openblas-openmp openblas-pthread openblas
    DOC "Library that has cblas_dgemm")
  mark_as_advanced(OSTRAKA_CBLAS_INCLUDE_DIR OSTRAKA_CBLAS_LIBRARY)
  set(instead "local contractions use the portable kernel")
  if(NOT OSTRAKA_CBLAS_INCLUDE_DIR)
    ostraka_say("no CBLAS (cblas.h was not found); ${instead}")
    return()
  endif()

  set(libraries "${OSTRAKA_CBLAS_LIBRARY}")
  set(asked TRUE)  # the user named this library, or find_library found OpenBLAS
  ostraka_cblas_links(links "${libraries}")
  if(NOT links)
    find_package(BLAS QUIET)
    set(libraries "${BLAS_LIBRARIES}")
    set(asked "${OSTRAKA_ENABLE_REFERENCE_BLAS}")
    ostraka_cblas_links(links "${libraries}")
  endif()
  if(NOT links)
    ostraka_say("no CBLAS (cblas_dgemm does not link); ${instead}")
    return()
  endif()
  ostraka_is_reference_blas(reference "${libraries}")
  if(reference AND NOT asked)
    string(CONCAT sentence
      "no CBLAS (${libraries} is netlib's reference BLAS, many times slower than the portable kernel); ${instead}. "
      "Install OpenBLAS; OSTRAKA_ENABLE_REFERENCE_BLAS=ON takes it nevertheless")
    ostraka_say("${sentence}")
    return()
  endif()
  ostraka_add_imported(ostraka::cblas)
  target_include_directories(ostraka::cblas INTERFACE "${OSTRAKA_CBLAS_INCLUDE_DIR}")
  target_link_libraries(ostraka::cblas INTERFACE ${libraries})
  if(reference)
    ostraka_say("CBLAS ${libraries} (netlib's reference BLAS, as asked: many times slower than the portable kernel)")
  else()
    ostraka_say("CBLAS ${libraries}")
  endif()
endfunction()

function(ostraka_cblas_links result libraries)
  ostraka_links_with(links "${libraries}" cblas_dgemm "extern \"C\" {\n#include <cblas.h>\n}
    int main() {
      double a = 1, b = 2, c = 0;
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, 1, 1, 1.0, &a, 1, &b, 1, 0.0, &c, 1);
      return c == 2 ? 0 : 1;
    }")
  set(${result} "${links}" PARENT_SCOPE)
endfunction()

# True if the library is netlib's reference BLAS, whose C interface has the variable CBLAS_CallFromC. Libraries that
# contain or adopted that interface have the variable, too, but also export functions of their own. A file name shows
# nothing, since distributions let one library take another's place (Debian's alternatives).
function(ostraka_is_reference_blas result libraries)
  ostraka_links_with(reference "${libraries}" CBLAS_CallFromC
    "extern \"C\" int CBLAS_CallFromC;\nint main() { return CBLAS_CallFromC; }")
  if(reference)
    foreach(function IN ITEMS openblas_get_config bli_info_get_version_str MKL_Get_Version flexiblas_get_version
      ATL_buildinfo armplversion)
      ostraka_links_with(other "${libraries}" ${function}
        "extern \"C\" void ${function}();\nint main() { ${function}(); }")
      if(other)
        set(reference FALSE)
        break()
      endif()
    endforeach()
  endif()
  set(${result} "${reference}" PARENT_SCOPE)
endfunction()

# True if this program links with these libraries. The answer is cached for the files that their names refer to today.
function(ostraka_links_with result libraries name program)
  if(NOT libraries)
    set(${result} FALSE PARENT_SCOPE)
    return()
  endif()
  set(files "${OSTRAKA_CBLAS_INCLUDE_DIR}")
  foreach(library IN LISTS libraries)
    if(EXISTS "${library}")
      file(REAL_PATH "${library}" library)
    endif()
    list(APPEND files "${library}")
  endforeach()
  string(MD5 files "${files}")
  set(remembered OSTRAKA_LINKS_${name}_${files})
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_QUIET TRUE)
  set(CMAKE_REQUIRED_INCLUDES "${OSTRAKA_CBLAS_INCLUDE_DIR}")
  set(CMAKE_REQUIRED_LIBRARIES "${libraries}")
  check_cxx_source_compiles("${program}" ${remembered})
  set(${result} "${${remembered}}" PARENT_SCOPE)
endfunction()
