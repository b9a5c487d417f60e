# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Source this file. ccache_launcher SOURCE CACHE prints the CMAKE_CXX_COMPILER_LAUNCHER that caches compilations of
# SOURCE below CACHE, or nothing if ccache is not installed or the environment sets a launcher already.
#
# The launcher carries the settings, so that later builds have them and a user's own ccache does not:
#   CCACHE_BASEDIR, CCACHE_NOHASHDIR     a clone in another folder finds what this one compiled
#   CCACHE_SLOPPINESS                    precompiled headers, which carry macros, dates and the times of files
#   CCACHE_DEPEND                        a header with a changed comment is a changed header: g++ forgets #pragma once
#                                        of a header that is not byte for byte the one that it precompiled, while the
#                                        preprocessor's output remains the same
#   CCACHE_MAXSIZE                       precompiled headers are large

ccache_launcher() {
  [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null 2>&1 || return 0
  local settings=(CCACHE_DIR="${CCACHE_DIR:-$2/ccache}" CCACHE_BASEDIR="$1" CCACHE_NOHASHDIR=1
    CCACHE_MAXSIZE="${CCACHE_MAXSIZE:-10G}" CCACHE_DEPEND=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime)
  local IFS=';'
  echo "env;${settings[*]};ccache"
}
