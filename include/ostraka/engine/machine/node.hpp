// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The node that a rank runs on: the cores that the rank may use, the ranks that share them, the threads of
/// OpenMP and BLAS. The rules that use these facts are in threads.hpp.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/machine/blas_library.hpp>
#include <ostraka/engine/machine/this_thread.hpp>
#include <ostraka/engine/machine/threads.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

#if defined(KOKKOS_ENABLE_OPENMP) && defined(_OPENMP)
#  include <omp.h>
#  define OSTRAKA_DETAIL_OPENMP 1
#endif
#ifdef __linux__
#  include <sched.h>
#  if __has_include(<unistd.h>)
#    include <unistd.h>
#  endif
#endif

namespace ostraka::engine::node {

/// The limit of core numbers.
inline constexpr int most_cores = 1024;

/// Returns 1 for each core that this process may run on. If OpenMP binds threads, the calling thread is bound, so
/// OpenMP's places count and not its affinity mask.
[[gnu::cold]] inline dynamic_array<int> cores_of_this_rank() {
  dynamic_array<int> cores(most_cores, 0);
#ifdef OSTRAKA_DETAIL_OPENMP
  dynamic_array<int> place;
  for (int p = 0; p < omp_get_num_places(); ++p) {
    place.resize(static_cast<std::size_t>(omp_get_place_num_procs(p)));
    omp_get_place_proc_ids(p, place.data());
    for (int const core : place)
      if (core >= 0 && core < most_cores) cores[static_cast<std::size_t>(core)] = 1;
  }
  if (!place.empty()) return cores;
#endif
#ifdef __linux__
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    for (int c = 0; c < most_cores && c < CPU_SETSIZE; ++c)
      cores[static_cast<std::size_t>(c)] = CPU_ISSET(c, &mask) ? 1 : 0;
    return cores;
  }
#endif
  for (int c = 0; c < this_thread::cores_of_machine() && c < most_cores; ++c) cores[static_cast<std::size_t>(c)] = 1;
  return cores;
}

/// Returns this rank's part of its node. Collective over MPI_COMM_WORLD, so call it only where the library begins MPI.
[[gnu::cold]] inline core_share share_of_this_rank() {
  dynamic_array<int> const mine = cores_of_this_rank();
  dynamic_array<int> ranks = mine;
#if OSTRAKA_ENABLE_MPI
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Allreduce(MPI_IN_PLACE, ranks.data(), most_cores, MPI_INT, MPI_SUM, node);
  MPI_Comm_free(&node);
#endif
  return share_of(mine, ranks);
}

/// Returns the value of the first of these variables that is set, or null.
inline char const* first_set(std::initializer_list<char const*> variables) {
  for (char const* const name : variables)
    if (char const* const value = std::getenv(name); value && *value) return value;
  return nullptr;
}

/// Returns this rank's part of its node without communication, from the variables of launchers (Open MPI, MPICH and
/// Intel, MVAPICH).
[[gnu::cold]] inline core_share share_from_launcher() {
  int cores = 0;
  for (int const c : cores_of_this_rank()) cores += c;
  int of_launcher = 0;
#if defined(__linux__) && __has_include(<unistd.h>)
  cpu_set_t mask;
  if (sched_getaffinity(getppid(), sizeof mask, &mask) == 0) of_launcher = CPU_COUNT(&mask);
#endif
  char const* const ranks = first_set({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"});
  return deduce_share(cores, of_launcher, ranks ? std::atoi(ranks) : 0);
}

[[gnu::cold]] inline thread_request find_request(int argc, char const* const* argv) {
  thread_request request;
  request.omp_threads = first_set({"OMP_NUM_THREADS"});
  request.kokkos_threads = first_set({"KOKKOS_NUM_THREADS"});
  request.blas_threads = first_set({"OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS"});
  request.binding = first_set({"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"});
  request.core_type = first_set({"OPENBLAS_CORETYPE"});
  for (int i = 1; i < argc; ++i)
    for (std::string_view const option : {"--kokkos-num-threads", "--kokkos-threads"})
      if (std::string_view(argv[i]).substr(0, option.size()) == option) request.kokkos_threads = argv[i];
  return request;
}

/// Sets OpenMP to this rank's part of the cores, unless the user has set something else. Call it before Kokkos begins.
/// It also tells OpenMP not to bind threads, OpenMP's default; Kokkos would otherwise ask for binding on every rank,
/// which is wrong where ranks share cores.
[[gnu::cold]] inline void set_threads(thread_request const& request, core_share const& share) {
#ifdef OSTRAKA_DETAIL_OPENMP
#  ifdef __unix__
  if (!request.binding) setenv("OMP_PROC_BIND", "false", 0);
#  endif
  if (int const threads = default_threads(request, share, omp_get_max_threads()); threads > 0)
    omp_set_num_threads(threads);
#else
  static_cast<void>(request);
  static_cast<void>(share);
#endif
}

inline bool kokkos_has_openmp() {
#ifdef OSTRAKA_DETAIL_OPENMP
  return true;
#else
  return false;
#endif
}

inline int kokkos_threads() { return static_cast<int>(Kokkos::DefaultHostExecutionSpace().concurrency()); }

/// Sets BLAS to the number of threads of default_blas_threads. Call it after Kokkos has begun.
[[gnu::cold]] inline void set_blas_threads(thread_request const& request, core_share const& share) {
  int const threads = default_blas_threads(request, openblas::pool(), kokkos_has_openmp(), kokkos_threads(), share);
  if (threads > 0) openblas::set_threads(threads);
}

/// Returns the settings that are in effect. @pre Kokkos runs
[[gnu::cold]] inline thread_facts facts(core_share const& share) {
  thread_facts f;
  f.share = share;
  f.threads = kokkos_threads();
#ifdef OSTRAKA_DETAIL_OPENMP
  f.bound = omp_get_proc_bind() != omp_proc_bind_false;
#endif
  f.pool = openblas::pool();
  f.blas_threads = openblas::threads();
  f.blas_core = openblas::core();
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
  f.has_avx2 = __builtin_cpu_supports("avx2") != 0;
  f.has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                 __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
#endif
  return f;
}

}  // namespace ostraka::engine::node
