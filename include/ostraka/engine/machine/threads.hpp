// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The default number of threads of a rank, and warnings about ranks, threads and BLAS that compete for cores.
/// These are rules on plain values; node.hpp finds the values of this node. docs/threads.md is the user's page.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <ostraka/engine/machine/blas_library.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// This rank's part of its node. A core here is a unit that the system schedules on: with hyperthreads, one physical
/// core counts as two.
struct core_share {
  int cores = 0;  ///< cores that this rank may run on; 0: not known
  int ranks = 1;  ///< ranks that share the most crowded of them, this one included
  int part = 0;   ///< this rank's cores, if ranks that share a core get equal parts of it; at least 1, or 0: not known
};

/// `mine[c]` is 1 if this rank may run on core c; `ranks[c]` is the number of the node's ranks that may. Ranks bound to
/// cores of their own get all of these; ranks that may run anywhere get cores / ranks each.
[[gnu::cold]] inline core_share share_of(dynamic_array<int> const& mine, dynamic_array<int> const& ranks) {
  core_share s;
  double part = 0;
  for (std::size_t c = 0; c < mine.size(); ++c) {
    if (mine[c] == 0) continue;
    ++s.cores;
    s.ranks = std::max(s.ranks, ranks[c]);
    part += 1.0 / std::max(1, ranks[c]);
  }
  if (s.cores > 0) s.part = std::max(1, static_cast<int>(part + 1e-6));
  return s;
}

/// The same without communication, for a program that began MPI itself: from the launcher's number of ranks on the node
/// (0: unknown), and the number of cores that the launcher may run on. A rank that may run on as many cores as the
/// launcher is not bound.
inline core_share deduce_share(int cores, int cores_of_launcher, int ranks_of_node) {
  core_share s;
  s.cores = cores;
  if (cores == 0 || ranks_of_node == 0) return s;
  s.part = std::max(1, std::min(cores, std::max(cores, cores_of_launcher) / ranks_of_node));
  s.ranks = std::max(1, cores / s.part);
  return s;
}

/// The user's settings in the environment and on the command line; null: not set.
struct thread_request {
  char const* omp_threads = nullptr;     ///< OMP_NUM_THREADS
  char const* kokkos_threads = nullptr;  ///< KOKKOS_NUM_THREADS, --kokkos-num-threads, --kokkos-threads
  char const* blas_threads = nullptr;    ///< OPENBLAS_NUM_THREADS, GOTO_NUM_THREADS
  char const* binding = nullptr;         ///< OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY, KMP_AFFINITY
  char const* core_type = nullptr;       ///< OPENBLAS_CORETYPE
};

/// Returns the number of threads to set for OpenMP, given its own choice; 0: the user has set it, or nothing is known.
inline int default_threads(thread_request const& request, core_share const& share, int otherwise) {
  if (request.omp_threads || request.kokkos_threads || share.part == 0) return 0;
  return std::min(otherwise, share.part);
}

/// Returns the number of threads to set for BLAS; 0: the user has set it, or the library follows Kokkos' OpenMP.
inline int default_blas_threads(thread_request const& request, blas_pool pool, bool kokkos_has_openmp,
                                int kokkos_threads, core_share const& share) {
  if (request.blas_threads || request.omp_threads || pool == blas_pool::unknown || pool == blas_pool::none) return 0;
  if (kokkos_has_openmp) return pool == blas_pool::its_own ? kokkos_threads : 0;
  return share.part;
}

/// The settings in effect after startup.
struct thread_facts {
  core_share share;
  int threads = 1;  ///< of Kokkos on the host
  bool bound = false;  ///< OpenMP binds them
  blas_pool pool = blas_pool::unknown;
  int blas_threads = 1;
  std::string_view blas_core;  ///< the processor that the library has chosen its kernels for; empty: not known
  bool has_avx2 = false;
  bool has_avx512 = false;
};

/// True for kernels without AVX, four to eight times slower than those for a processor that has AVX2.
[[gnu::cold]] inline bool is_slow_core(std::string_view core) {
  for (std::string_view const slow :
       {"Prescott", "Core2", "Penryn", "Dunnington", "Nehalem", "Atom", "Nano", "Athlon", "Opteron", "Opteron_SSE3",
        "Barcelona", "Bobcat", "Generic", "generic", "unknown", "Unknown"})
    if (core == slow) return true;
  return false;
}

/// True if OpenBLAS has chosen such kernels although the processor has AVX2.
inline bool has_slow_kernels(thread_facts const& f) { return f.has_avx2 && is_slow_core(f.blas_core); }

/// Returns the recommended value of OPENBLAS_CORETYPE.
inline std::string_view fitting_core(thread_facts const& f) { return f.has_avx512 ? "SkylakeX" : "Haswell"; }

namespace detail {

[[gnu::cold]] inline std::string counted(int n, char const* what) { return join_text(n, ' ', what, n == 1 ? "" : "s"); }

[[gnu::cold]] inline std::string too_many_threads(thread_facts const& f, int threads) {
  std::string const fitting = join_text("OMP_NUM_THREADS=", f.share.part);
  if (f.share.ranks > 1)
    return join_text(f.share.ranks, " ranks with ", counted(threads, "thread"), " each share ",
                     counted(f.share.cores, "core"), "; set ", fitting,
                     ", or leave it unset and each rank takes its part");
  return join_text("a rank with ", counted(threads, "thread"), " may run on ", counted(f.share.cores, "core"),
                   "; let the launcher give it more (mpirun --bind-to none, or --map-by slot:PE=", threads,
                   "), or set ", fitting);
}

}  // namespace detail

/// Returns one sentence (*rule; remedy*) for each fault.
[[gnu::cold]] inline dynamic_array<std::string> thread_warnings(thread_request const& request, thread_facts const& f) {
  dynamic_array<std::string> all;
  int const most = std::max(f.threads, f.pool == blas_pool::its_own ? f.blas_threads : 1);
  bool const crowded = f.share.part > 0 && most > 1 && most > f.share.part;
  // One thread per rank on too few cores: the launcher was told to oversubscribe, and no setting of threads helps.
  if (crowded)
    all.push_back(join_text("the threads of a node's ranks fit its cores, but ", detail::too_many_threads(f, most)));
  if (!crowded && f.bound && f.share.ranks > 1)
    all.push_back(join_text("ranks whose threads are bound have cores of their own, but ", f.share.ranks,
                            " ranks bind theirs to the same; bind ranks too (mpirun --map-by slot:PE=", f.threads,
                            " --bind-to core), or set OMP_PROC_BIND=false"));
  if (f.pool == blas_pool::its_own && f.threads > 1 && f.blas_threads > 1)
    all.push_back(join_text(
        "Kokkos and BLAS share their threads, but this OpenBLAS has ", f.blas_threads, " of its own beside Kokkos' ",
        f.threads, "; link its OpenMP flavour (Debian: libopenblas-openmp-dev), or set OMP_WAIT_POLICY=passive"));
  if (has_slow_kernels(f) && !request.core_type)
    all.push_back(join_text("OpenBLAS knows the processor, but it has chosen its kernels for ", f.blas_core,
                            "; set OPENBLAS_CORETYPE=", fitting_core(f), ", or install a newer one"));
  return all;
}

}  // namespace ostraka::engine
