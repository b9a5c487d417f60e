# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs headers, CMake's package, pkg-config files, and ostraka::compiled if it was built; CPack makes archives of
# the same (docs/packages.md).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/ostraka")  # headers only: no architecture in the path
set(architecture ARCH_INDEPENDENT)
if(OSTRAKA_BUILD_COMPILED AND TARGET ostraka_compiled)
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ostraka")
  set(architecture "")
  install(TARGETS ostraka_compiled EXPORT ostraka-compiled-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  install(EXPORT ostraka-compiled-targets NAMESPACE ostraka:: DESTINATION "${package_dir}")
endif()
install(TARGETS ostraka_plan ostraka_large_plans EXPORT ostraka-plan-targets FILE_SET HEADERS
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT ostraka-plan-targets NAMESPACE ostraka:: DESTINATION "${package_dir}")
if(TARGET ostraka)
  install(TARGETS ostraka EXPORT ostraka-targets FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT ostraka-targets NAMESPACE ostraka:: DESTINATION "${package_dir}")
  install(FILES cmake/gdb/ostraka.py DESTINATION "${CMAKE_INSTALL_DATADIR}/ostraka/gdb")  # docs/profile.md
endif()
set(ostraka_compiled_blas "")  # the BLAS of ostraka::compiled: programs that link it use the same
if(OSTRAKA_BUILD_COMPILED AND TARGET ostraka_compiled)
  ostraka_describe_build(ostraka_built)
endif()
foreach(library IN ITEMS cblas cublas rocblas)
  if(TARGET ostraka::${library})
    list(APPEND ostraka_compiled_blas ${library})
  endif()
endforeach()
configure_package_config_file(cmake/ostraka-config.cmake.in ostraka-config.cmake INSTALL_DESTINATION "${package_dir}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(ostraka-config-version.cmake COMPATIBILITY SameMinorVersion ${architecture})
install(FILES "${PROJECT_BINARY_DIR}/ostraka-config.cmake" "${PROJECT_BINARY_DIR}/ostraka-config-version.cmake"
  cmake/OstrakaDependencies.cmake cmake/OstrakaCblas.cmake cmake/OstrakaGpuDependencies.cmake
  DESTINATION "${package_dir}")

# --- pkg-config -------------------------------------------------------------------------------------------------------

include("${CMAKE_CURRENT_LIST_DIR}/OstrakaPkgConfig.cmake")
ostraka_add_pkg_config(ostraka-plan "Shardings as types, checks and communication plans" "${CMAKE_INSTALL_DATADIR}")
if(TARGET ostraka)
  ostraka_add_pkg_config(ostraka "${PROJECT_DESCRIPTION}" "${CMAKE_INSTALL_LIBDIR}" TARGET ostraka)
endif()
if(OSTRAKA_BUILD_COMPILED AND TARGET ostraka_compiled)
  ostraka_add_pkg_config(ostraka-compiled "Ostraka, and its engine as a library" "${CMAKE_INSTALL_LIBDIR}"
    TARGET ostraka_compiled REQUIRES ostraka)
endif()

# --- archives ---------------------------------------------------------------------------------------------------------

if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_GENERATOR TGZ)
  set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}")  # an archive in the source would be a part of the next one
  set(CPACK_PACKAGE_VENDOR "The Ostraka authors")
  set(CPACK_PACKAGE_CONTACT "The Ostraka authors")
  set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
  install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT ostraka_archive EXCLUDE_FROM_ALL)
  set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};ostraka;Unspecified;/"
    "${PROJECT_BINARY_DIR};ostraka;ostraka_archive;/")
  # An archive of the source contains neither this build, nor what .gitignore lists, nor Git's own files. CPack matches
  # these patterns against whole paths.
  string(REGEX REPLACE "[^A-Za-z0-9/_-]" "." source "${PROJECT_SOURCE_DIR}")
  string(REGEX REPLACE "[^A-Za-z0-9/_-]" "." binary "${PROJECT_BINARY_DIR}")
  set(CPACK_SOURCE_IGNORE_FILES "^${binary}/" "^${source}/build[^/]*/" "^${source}/CMakeUserPresets.json$"
    "/compile_commands.json$" "/[.]cache/"
    "/__pycache__/" "/[.]git/" "/[.]git$")
  set(CPACK_DEBIAN_PACKAGE_NAME libostraka-dev)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  if(OSTRAKA_BUILD_COMPILED AND TARGET ostraka_compiled)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ${BUILD_SHARED_LIBS})
  else()
    set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
    set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libkokkos-dev | libtrilinos-kokkos-dev, mpi-default-dev")
    set(CPACK_DEBIAN_PACKAGE_SUGGESTS libopenblas-dev)
  endif()
  include(CPack)
endif()
