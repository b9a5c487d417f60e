// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The rules for threads, on nodes given in this file: the share of the cores that a rank takes, the effect of a user's
/// wish, the combinations that cause a warning, and the description. Also, the facts of this node are sane.
// ranks: 1 2
// labels: essential

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <ostraka/engine/machine/node.hpp>
#include <ostraka/engine/environment_report.hpp>

#include "support/mpi_main.hpp"

namespace e = ostraka::engine;

namespace {

using mask = std::vector<int>;

// The share of the first rank of a node, each rank being the cores that it may run on.
e::core_share first_of(std::vector<mask> const& node) {
  mask ranks(node[0].size(), 0);
  for (mask const& m : node)
    for (std::size_t c = 0; c < m.size(); ++c) ranks[c] += m[c];
  return e::share_of(node[0], ranks);
}

struct share_case {
  std::vector<mask> node;
  int cores, ranks, part;
};

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

e::core_share share(int cores, int ranks, int part) {
  e::core_share s;
  s.cores = cores;
  s.ranks = ranks;
  s.part = part;
  return s;
}

// Facts without a fault.
e::thread_facts sound() {
  e::thread_facts f;
  f.share = share(8, 2, 4);
  f.threads = 4;
  f.pool = e::blas_pool::openmp;
  f.blas_threads = 4;
  f.blas_core = "SkylakeX";
  f.has_avx2 = f.has_avx512 = true;
  return f;
}

// The only warning is this.
void check_warned(e::thread_facts const& f, std::string const& text, e::thread_request const& request = {}) {
  ostraka::dynamic_array<std::string> const all = e::thread_warnings(request, f);
  REQUIRE(all.size() == 1);
  CHECK(all[0] == text);
}

}  // namespace

TEST_CASE("a rank's part of its node's cores") {
  mask const all{1, 1, 1, 1};
  for (share_case const& s :
       {share_case{{all}, 4, 1, 4},                                       // alone
        share_case{{all, all}, 4, 2, 2},                                  // no rank is bound
        share_case{{all, all, all}, 4, 3, 1},                             //   and it does not divide
        share_case{{all, all, all, all, all}, 4, 5, 1},                   //   nor fit
        share_case{{{1, 1, 0, 0}, {0, 0, 1, 1}}, 2, 1, 2},                // bound to cores of their own
        share_case{{{1, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 1}}, 2, 2, 1},  // two on one socket, one on the other
        share_case{{{0, 0, 1, 1}, {1, 1, 0, 0}, {1, 1, 0, 0}}, 2, 1, 2},  //   seen by the third
        share_case{{all, {1, 0, 0, 0}, {1, 0, 0, 0}}, 4, 3, 3},           // 1/3 + 1 + 1 + 1
        share_case{{{0, 0, 0, 0}, all}, 0, 1, 0}}) {                      // nothing is known
    e::core_share const found = first_of(s.node);
    CHECK(found.cores == s.cores);
    CHECK(found.ranks == s.ranks);
    CHECK(found.part == s.part);
  }
}

TEST_CASE("a rank's part as the launcher tells it") {
  struct launcher_case {
    int cores, of_launcher, ranks_of_node, ranks, part;
  };
  for (launcher_case const& c : {launcher_case{8, 8, 2, 2, 4},     // no rank is bound
                                 launcher_case{8, 8, 3, 4, 2},     //   and it does not divide
                                 launcher_case{2, 2, 4, 2, 1},     //   nor fit
                                 launcher_case{4, 16, 4, 1, 4},    // bound to cores of its own
                                 launcher_case{16, 32, 4, 2, 8},   // two on a socket of two
                                 launcher_case{1, 16, 2, 1, 1},    // Open MPI binds two ranks to a core each
                                 launcher_case{8, 0, 2, 2, 4}}) {  // the launcher is unknown
    e::core_share const found = e::deduce_share(c.cores, c.of_launcher, c.ranks_of_node);
    CHECK(found.cores == c.cores);
    CHECK(found.ranks == c.ranks);
    CHECK(found.part == c.part);
  }
  CHECK(e::deduce_share(8, 8, 0).part == 0);
  CHECK(e::deduce_share(0, 8, 2).part == 0);
}

TEST_CASE("threads that nobody asked for are this rank's part, never more than there would be") {
  e::thread_request nothing, omp, kokkos;
  omp.omp_threads = "3";
  kokkos.kokkos_threads = "--kokkos-num-threads=3";
  CHECK(e::default_threads(nothing, share(8, 2, 4), 8) == 4);
  CHECK(e::default_threads(nothing, share(8, 1, 8), 2) == 2);
  CHECK(e::default_threads(nothing, share(0, 1, 0), 8) == 0);
  CHECK(e::default_threads(omp, share(8, 2, 4), 3) == 0);
  CHECK(e::default_threads(kokkos, share(8, 2, 4), 8) == 0);
}

TEST_CASE("BLAS takes as many threads as Kokkos, where it does not so by itself") {
  e::thread_request nothing, blas, omp;
  blas.blas_threads = "2";
  omp.omp_threads = "2";
  e::core_share const s = share(8, 2, 4);
  CHECK(e::default_blas_threads(nothing, e::blas_pool::openmp, true, 4, s) == 0);
  CHECK(e::default_blas_threads(nothing, e::blas_pool::its_own, true, 3, s) == 3);
  CHECK(e::default_blas_threads(nothing, e::blas_pool::its_own, false, 1, s) == 4);  // Kokkos' Serial backend
  CHECK(e::default_blas_threads(nothing, e::blas_pool::openmp, false, 1, s) == 4);
  CHECK(e::default_blas_threads(nothing, e::blas_pool::none, false, 1, s) == 0);
  CHECK(e::default_blas_threads(nothing, e::blas_pool::unknown, true, 4, s) == 0);
  CHECK(e::default_blas_threads(blas, e::blas_pool::its_own, true, 4, s) == 0);
  CHECK(e::default_blas_threads(omp, e::blas_pool::its_own, true, 4, s) == 0);  // OpenBLAS reads it, too
}

TEST_CASE("sound combinations are not talked about") {
  e::thread_facts f = sound();
  CHECK(e::thread_warnings({}, f).empty());
  f.bound = true;
  f.share = share(4, 1, 4);
  CHECK(e::thread_warnings({}, f).empty());  // bound to cores of its own
  f = sound();
  f.threads = f.blas_threads = 1;
  f.share = share(2, 8, 1);
  CHECK(e::thread_warnings({}, f).empty());  // the launcher was asked to oversubscribe
  f = sound();
  f.share = {};
  CHECK(e::thread_warnings({}, f).empty());  // MPI is not initialised by us
  f = sound();
  f.pool = e::blas_pool::its_own;
  f.blas_threads = 1;
  CHECK(e::thread_warnings({}, f).empty());
}

TEST_CASE("bad combinations, each with its remedy") {
  e::thread_facts f = sound();
  f.threads = f.blas_threads = 8;
  check_warned(f, "the threads of a node's ranks fit its cores, but 2 ranks with 8 threads each share 8 cores; set "
                  "OMP_NUM_THREADS=4, or leave it unset and each rank takes its part");

  f = sound();
  f.share = share(1, 1, 1);
  f.threads = 4;
  check_warned(
      f,
      "the threads of a node's ranks fit its cores, but a rank with 4 threads may run on 1 core; let the launcher "
      "give it more (mpirun --bind-to none, or --map-by slot:PE=4), or set OMP_NUM_THREADS=1");

  f = sound();
  f.threads = 1;  // BLAS alone is too many
  f.pool = e::blas_pool::its_own;
  f.blas_threads = 8;
  ostraka::dynamic_array<std::string> const all = e::thread_warnings({}, f);
  REQUIRE(all.size() == 1);
  CHECK(contains(all[0], "2 ranks with 8 threads each share 8 cores"));

  f = sound();
  f.bound = true;
  check_warned(
      f,
      "ranks whose threads are bound have cores of their own, but 2 ranks bind theirs to the same; bind ranks too "
      "(mpirun --map-by slot:PE=4 --bind-to core), or set OMP_PROC_BIND=false");

  f = sound();
  f.pool = e::blas_pool::its_own;
  check_warned(
      f,
      "Kokkos and BLAS share their threads, but this OpenBLAS has 4 of its own beside Kokkos' 4; link its OpenMP "
      "flavour (Debian: libopenblas-openmp-dev), or set OMP_WAIT_POLICY=passive");
}

TEST_CASE("kernels for a processor of long ago") {
  e::thread_facts f = sound();
  f.blas_core = "Prescott";
  check_warned(f, "OpenBLAS knows the processor, but it has chosen its kernels for Prescott; set "
                  "OPENBLAS_CORETYPE=SkylakeX, or install a newer one");
  f.has_avx512 = false;
  check_warned(f, "OpenBLAS knows the processor, but it has chosen its kernels for Prescott; set "
                  "OPENBLAS_CORETYPE=Haswell, or install a newer one");
  e::thread_request asked;
  asked.core_type = "Prescott";
  CHECK(e::thread_warnings(asked, f).empty());
  f.has_avx2 = false;
  CHECK(e::thread_warnings({}, f).empty());  // an old processor
}

TEST_CASE("what this node tells") {
  char const* const argv[] = {"program", "--kokkos-num-threads=2"};
  CHECK(e::node::find_request(2, argv).kokkos_threads == std::string("--kokkos-num-threads=2"));
  CHECK(e::node::find_request(1, argv).omp_threads ==
        e::node::first_set({"OSTRAKA_NO_SUCH_VARIABLE", "OMP_NUM_THREADS"}));
  e::core_share const s = e::node::share_of_this_rank();
  CHECK(s.cores >= 1);
  CHECK(s.part >= 1);
  CHECK(s.part <= s.cores);
  CHECK(s.ranks <= ostraka::testing::ranks());
  CHECK(e::node::facts(s).threads >= 1);
}

TEST_CASE("the running libraries are described") {
  e::environment_report w;
  w.kokkos = "4.7.2";
  w.backend = "OpenMP";
  w.mpi = "Open MPI v4.1.4";
  w.mpi_level = "funneled";
  w.ranks = 2;
  w.blas = "OpenBLAS 0.3.21";
  w.vectors = "AVX-512";
  w.threads = sound();
  std::string const begins = "Ostraka " + std::to_string(OSTRAKA_VERSION_MAJOR) + '.' +
                             std::to_string(OSTRAKA_VERSION_MINOR) + '.' + std::to_string(OSTRAKA_VERSION_PATCH) +
                             " on 2 devices\n";
  CHECK(e::describe(w) == begins +
                              "Kokkos: 4.7.2, OpenMP, 4 threads a rank\nMPI: Open MPI v4.1.4, threads funneled\n"
                              "BLAS: OpenBLAS 0.3.21, kernels for SkylakeX, threads of OpenMP\nown kernels: AVX-512\n");

  w.threads.blas_core = "Prescott";
  w.threads.pool = e::blas_pool::its_own;
  CHECK(contains(
      e::describe(w),
      "\nBLAS: OpenBLAS 0.3.21, kernels for Prescott (slow on this processor; OPENBLAS_CORETYPE=SkylakeX), 4 threads "
      "of its own\n"));
  w.threads.has_avx512 = false;
  w.threads.pool = e::blas_pool::none;
  CHECK(contains(
      e::describe(w),
      "\nBLAS: OpenBLAS 0.3.21, kernels for Prescott (slow on this processor; OPENBLAS_CORETYPE=Haswell), without "
      "threads\n"));
  w.threads.has_avx2 = false;
  CHECK(contains(e::describe(w), "\nBLAS: OpenBLAS 0.3.21, kernels for Prescott, without threads\n"));

  w.blas = "netlib's reference BLAS";
  w.threads.blas_core = "";
  w.threads.pool = e::blas_pool::unknown;
  CHECK(contains(e::describe(w), "\nBLAS: netlib's reference BLAS\n"));
  w.bfloat16 = "oneDNN 2.6.3";
  CHECK(contains(e::describe(w), "\nBLAS: netlib's reference BLAS; bfloat16 by oneDNN 2.6.3\n"));
  w.bfloat16 = "";
  w.backend = "Cuda";
  w.on_host = "Serial";
  w.threads.threads = 1;
  CHECK(contains(e::describe(w), "\nMPI: Open MPI v4.1.4, threads funneled, GPU memory is staged on the host\n"));
  w.is_gpu_aware = true;
  CHECK(contains(e::describe(w), "\nMPI: Open MPI v4.1.4, threads funneled, takes GPU memory\n"));
  w.gpu_carrier = "NCCL";
  CHECK(contains(e::describe(w), "\nMPI: Open MPI v4.1.4, threads funneled, GPU memory is carried by NCCL\n"));
  w.gpu_carrier.clear();
  w.gpu_blas = "cuBLAS 13.1";
  CHECK(contains(e::describe(w), "\nBLAS: netlib's reference BLAS; on the GPU cuBLAS 13.1\n"));
  w.gpu_fourier = "cuFFT 12.0";
  CHECK(contains(e::describe(w), "; on the GPU cuBLAS 13.1\nFourier transforms on the GPU: cuFFT 12.0\nown kernels: "));
  w.blas = w.mpi = w.gpu_blas = w.gpu_fourier = "";
  CHECK(contains(
      e::describe(w),
      "\nKokkos: 4.7.2, Cuda, on the host Serial, 1 thread a rank\nMPI: none\nBLAS: none; our own kernels multiply\n"));
}

TEST_CASE("whether MPI takes GPU memory: what the user says, else what MPI says") {
  CHECK(e::find_gpu_aware_mpi("1"));
  CHECK(!e::find_gpu_aware_mpi("0"));
  CHECK(e::find_gpu_aware_mpi("") == e::find_gpu_aware_mpi(nullptr));
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP)
  CHECK(!e::find_gpu_aware_mpi(nullptr));  // there is no GPU to ask for
#endif
}

TEST_CASE("the names of MPI libraries are short") {
  CHECK(
      e::short_mpi_version("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022") ==
      "Open MPI v4.1.4");
  CHECK(e::short_mpi_version("MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7 12:34:45 CDT 2022\n") ==
        "MPICH 4.0.2");
  CHECK(e::short_mpi_version("Intel(R) MPI Library 2021.8 for Linux* OS\n") ==
        "Intel(R) MPI Library 2021.8 for Linux* OS");
  CHECK(e::short_mpi_version("") == "");
}
