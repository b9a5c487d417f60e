// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The software and hardware that a program runs on, for the report of a timing: Kokkos, MPI, BLAS and its
/// kernels, our own kernels. The text is built from plain values, which find_environment collects without
/// communication.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include <ostraka/engine/groups/carrier.hpp>
#include <ostraka/engine/kernels/blas/bfloat16_library.hpp>
#include <ostraka/engine/kernels/blas/library.hpp>
#include <ostraka/engine/kernels/fourier/cufft_plans.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/machine/blas_library.hpp>
#include <ostraka/engine/machine/gpu_aware_mpi.hpp>
#include <ostraka/engine/machine/job_of_mpi.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/machine/mpi_library.hpp>
#include <ostraka/engine/machine/node.hpp>
#include <ostraka/engine/machine/threads.hpp>
#include <ostraka/types/support/join_text.hpp>
#include <ostraka/version.hpp>

namespace ostraka::engine {

struct environment_report {
  std::string kokkos;       ///< "4.7.2"
  std::string backend;      ///< of the default execution space: "OpenMP"
  std::string on_host;      ///< the same for the host if it is another one, otherwise empty
  std::string mpi;          ///< "Open MPI v4.1.4"; empty: built without MPI
  std::string mpi_level;    ///< "funneled"
  bool is_gpu_aware = false;  ///< MPI takes memory of a GPU's default execution space
  std::string gpu_carrier;    ///< "NCCL" if it carries GPU memory; empty: MPI does
  int ranks = 1;
  std::string blas;         ///< "OpenBLAS 0.3.21"; empty: none
  std::string gpu_blas;     ///< "cuBLAS 13.1"; empty: none, or no GPU
  std::string gpu_fourier;  ///< "cuFFT 12.0"; empty: transforms run on the host
  std::string bfloat16;     ///< "oneDNN 2.6.3", which multiplies it on the host; empty: it is multiplied as floats
  std::string_view vectors; ///< the vector instructions of our own kernels on the host
  thread_facts threads;
};

/// Returns the text of MPI_Get_library_version as a name and a version. Examples of its input: "Open MPI v4.1.4,
/// package: …" and "MPICH Version: 4.0.2\nMPICH Release …".
[[gnu::cold]] inline std::string short_mpi_version(std::string_view version) {
  std::string text(version.substr(0, version.find_first_of(",\n")));
  if (std::size_t const at = text.find("Version:"); at != text.npos) text.erase(at, 8);
  std::string spaced;  // by single spaces
  for (char const c : text) {
    bool const space = c == ' ' || c == '\t' || c == '\0';
    if (!space)
      spaced += c;
    else if (!spaced.empty() && spaced.back() != ' ')
      spaced += ' ';
  }
  while (!spaced.empty() && spaced.back() == ' ') spaced.pop_back();
  return spaced;
}

/// Returns one line for each of Ostraka, Kokkos, MPI, BLAS and our own kernels.
[[gnu::cold]] inline std::string describe(environment_report const& w) {
  std::string text = join_text("Ostraka ", OSTRAKA_VERSION_MAJOR, '.', OSTRAKA_VERSION_MINOR, '.',
                               OSTRAKA_VERSION_PATCH, " on ", detail::counted(w.ranks, "device"), '\n');
  append_text(text, "Kokkos: ", w.kokkos, ", ", w.backend,
              w.on_host.empty() ? "" : join_text(", on the host ", w.on_host), ", ",
              detail::counted(w.threads.threads, "thread"), " a rank\n");
  text += w.mpi.empty() ? "MPI: none" : join_text("MPI: ", w.mpi, ", threads ", w.mpi_level);
  if (!w.mpi.empty() && !w.on_host.empty())
    text += !w.gpu_carrier.empty() ? join_text(", GPU memory is carried by ", w.gpu_carrier)
            : w.is_gpu_aware       ? ", takes GPU memory"
                                   : ", GPU memory is staged on the host";
  text += '\n';
  text += "BLAS: ";
  if (w.blas.empty()) {
    text += "none; our own kernels multiply";
  } else {
    text += w.blas;
    if (!w.threads.blas_core.empty()) append_text(text, ", kernels for ", w.threads.blas_core);
    if (has_slow_kernels(w.threads))
      append_text(text, " (slow on this processor; OPENBLAS_CORETYPE=", fitting_core(w.threads), ')');
    if (w.threads.pool == blas_pool::none) text += ", without threads";
    if (w.threads.pool == blas_pool::its_own)
      append_text(text, ", ", detail::counted(w.threads.blas_threads, "thread"), " of its own");
    if (w.threads.pool == blas_pool::openmp) text += ", threads of OpenMP";
  }
  if (!w.gpu_blas.empty()) append_text(text, "; on the GPU ", w.gpu_blas);
  if (!w.bfloat16.empty()) append_text(text, "; bfloat16 by ", w.bfloat16);
  if (!w.gpu_fourier.empty()) append_text(text, "\nFourier transforms on the GPU: ", w.gpu_fourier);
  return join_text(text, "\nown kernels: ", w.vectors, '\n');
}

#if OSTRAKA_ENABLE_MPI
[[gnu::cold]] inline void find_mpi(environment_report& w) {
  w.mpi = short_mpi_version(mpi_library_version());
  w.mpi_level = mpi_thread_level();
  w.ranks = find_place_in_job().ranks;
  w.is_gpu_aware = mpi_is_gpu_aware();
#  if OSTRAKA_ENABLE_NCCL
  w.gpu_carrier = carrier::name();
#  endif
}
#endif

/// Returns the report of this process. @pre Kokkos runs, and so does MPI in a build with MPI
[[gnu::cold]] inline environment_report find_environment() {
  environment_report w;
  w.kokkos = join_text(KOKKOS_VERSION / 10000, '.', KOKKOS_VERSION / 100 % 100, '.', KOKKOS_VERSION % 100);
  w.backend = Kokkos::DefaultExecutionSpace::name();
  if (std::string const host = Kokkos::DefaultHostExecutionSpace::name(); host != w.backend) w.on_host = host;
#if OSTRAKA_ENABLE_MPI
  find_mpi(w);
#endif
  w.blas = blas_library();
#if OSTRAKA_ENABLE_CUBLAS && defined(KOKKOS_ENABLE_CUDA)
  w.gpu_blas = cublas::name();
#elif OSTRAKA_ENABLE_ROCBLAS && defined(KOKKOS_ENABLE_HIP)
  w.gpu_blas = rocblas::name();
#endif
#if OSTRAKA_ENABLE_CUFFT
  w.gpu_fourier = detail::name_of_cufft();
#endif
  if (bfloat16_library_of_program != nullptr && bfloat16_library_of_program->serves_processor())
    w.bfloat16 = bfloat16_library_of_program->name();
  w.vectors = detail::vectors_of_kernels();
  w.threads = node::facts({});
  return w;
}

}  // namespace ostraka::engine
