// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Which CBLAS runs: what is linked, or what the system has put in its place since. Each library is known by a
/// name that it alone exports, as in cmake/OstrakaDependencies.cmake; only the address is asked for, under a name of
/// ours, lest the library's own header declare it otherwise.

#include <string>
#include <string_view>

#include <ostraka/engine/machine/openblas.hpp>

#ifdef OSTRAKA_DETAIL_ASKS_OPENBLAS
extern "C" {
char* openblas_get_config() __attribute__((weak));
extern char const ostraka_detail_mkl __asm__("MKL_Get_Version") __attribute__((weak));
extern char const ostraka_detail_blis __asm__("bli_info_get_version_str") __attribute__((weak));
extern char const ostraka_detail_flexiblas __asm__("flexiblas_get_version") __attribute__((weak));
extern char const ostraka_detail_reference __asm__("CBLAS_CallFromC") __attribute__((weak));
}
#endif

namespace ostraka::engine {

/// "OpenBLAS 0.3.21", "MKL", "netlib's reference BLAS"; empty without a CBLAS.
[[gnu::cold]] inline std::string blas_library() {
#ifdef OSTRAKA_DETAIL_ASKS_OPENBLAS
  if (openblas_get_config) {
    std::string_view const said = openblas_get_config();  // "OpenBLAS 0.3.21 DYNAMIC_ARCH …"
    std::string_view::size_type const name_ends = said.find(' ');
    return std::string(said.substr(0, name_ends == said.npos ? name_ends : said.find(' ', name_ends + 1)));
  }
  if (&ostraka_detail_mkl) return "MKL";
  if (&ostraka_detail_blis) return "BLIS";
  if (&ostraka_detail_flexiblas) return "FlexiBLAS";
  if (&ostraka_detail_reference) return "netlib's reference BLAS";
#endif
  return OSTRAKA_ENABLE_CBLAS != 0 ? "a CBLAS that does not tell its name" : "";
}

}  // namespace ostraka::engine
