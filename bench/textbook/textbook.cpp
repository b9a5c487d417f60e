// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The four matrix products of the textbook, C[I, K] = A[I, J] · B[J, K] over one mesh axis, against plain MPI and CBLAS written by
/// hand with everything preallocated. Prints the median time of both and the ratio pair by pair: ours / by hand.
///
///     mpirun -n 2 bench/textbook [extent, 1024] [pairs, 15]

#include <mpi.h>

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include <ostraka/ostraka.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

namespace {

// C = A · B or, with beta 1, C += A · B; row-major, leading dimensions as given.
void gemm(int m, int n, int k, double const* a, int lda, double const* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0, a, lda, b, ldb, beta, c, ldc);
}

double seconds(std::function<void()> const& run) {
  MPI_Barrier(MPI_COMM_WORLD);
  double const begin = MPI_Wtime();
  run();
  double mine = MPI_Wtime() - begin;
  double slowest = 0;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

void compare(char const* name, int pairs, bool root, std::function<void()> const& ours, std::function<void()> const& by_hand, double difference) {
  std::vector<double> ours_s, hand_s, ratios;
  for (int i = -2; i < pairs; ++i) {  // two to warm up
    double const o = seconds(ours);
    double const h = seconds(by_hand);
    if (i < 0) continue;
    ours_s.push_back(o);
    hand_s.push_back(h);
    ratios.push_back(o / h);
  }
  auto const [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  if (root)
    std::printf("%-34s %9.2f ms %9.2f ms    %5.2f  (%.2f to %.2f)%s\n", name, 1e3 * median(ours_s), 1e3 * median(hand_s), median(ratios), *least, *most,
                difference < 1e-9 ? "" : "   DIFFERENT RESULTS");
}

// The largest difference between our block and theirs.
template <class View>
double difference(View const& ours, std::vector<double> const& theirs) {
  double d = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) d = std::max(d, std::abs(ours.data()[i] - theirs[i]) / (1 + std::abs(theirs[i])));
  MPI_Allreduce(MPI_IN_PLACE, &d, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return d;
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const p = env.devices();
  int const n = (argc > 1 ? std::atoi(argv[1]) : 1024) / p * p;  // even blocks: what is written by hand below needs them
  int const pairs = argc > 2 ? std::atoi(argv[2]) : 15;
  int const part = n / p;
  auto const mesh = os::make_mesh(X = p);
  bool const root = mesh.device() == 0;
  auto const sizes = os::sizes(I = n, J = n, K = n);
  auto const size = [](int rows, int columns) { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); };
  if (root) std::printf("doubles, %d x %d x %d on %d ranks\n%-34s %12s %12s    ratio\n", n, n, n, p, "", "ours", "by hand");

  {
    auto const a = os::random<double, I/X, J>(mesh, sizes, os::seed(1));
    auto const b = os::random<double, J, K>(mesh, sizes, os::seed(2));
    os::tensor<double, I/X, K> c;
    std::vector<double> by_hand(size(part, n));
    auto const ours = [&] { c = os::contract<J>(a, b); };
    auto const hand = [&] { gemm(part, n, n, a.local().data(), n, b.local().data(), n, 0, by_hand.data(), n); };
    ours(), hand();
    compare("1. [I_X, J] . [J, K] -> [I_X, K]", pairs, root, ours, hand, difference(c.local(), by_hand));
  }
  {
    auto const a = os::random<double, I, J/X>(mesh, sizes, os::seed(1));
    auto const b = os::random<double, J, K>(mesh, sizes, os::seed(2));
    os::tensor<double, I, K> c;
    std::vector<double> by_hand(size(n, n)), gathered(size(n, n));
    auto const ours = [&] { c = os::einsum<I, K>(a, b); };
    auto const hand = [&] {  // gather A; multiply the blocks where they arrive
      MPI_Allgather(a.local().data(), n * part, MPI_DOUBLE, gathered.data(), n * part, MPI_DOUBLE, MPI_COMM_WORLD);
      for (int d = 0; d < p; ++d)
        gemm(n, n, part, gathered.data() + size(d * n, part), part, b.local().data() + size(d * part, n), n, d > 0 ? 1 : 0, by_hand.data(), n);
    };
    ours(), hand();
    compare("2. [I, J_X] . [J, K] -> [I, K]", pairs, root, ours, hand, difference(c.local(), by_hand));
  }
  {
    auto const a = os::random<double, I, J/X>(mesh, sizes, os::seed(1));
    auto const b = os::random<double, J/X, K>(mesh, sizes, os::seed(2));
    os::tensor<double, I/X, K> c;
    std::vector<double> by_hand(size(part, n)), summand(size(n, n));
    auto const ours = [&] { c = os::einsum<I/X, K>(a, b); };
    auto const hand = [&] {
      gemm(n, n, part, a.local().data(), part, b.local().data(), n, 0, summand.data(), n);
      MPI_Reduce_scatter_block(summand.data(), by_hand.data(), part * n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    };
    ours(), hand();
    compare("3. [I, J_X] . [J_X, K] -> [I_X, K]", pairs, root, ours, hand, difference(c.local(), by_hand));
  }
  {
    auto const a = os::random<double, I/X, J>(mesh, sizes, os::seed(1));
    auto const b = os::random<double, J, K/X>(mesh, sizes, os::seed(2));
    os::tensor<double, I/X, K> c;
    std::vector<double> by_hand(size(part, n)), gathered(size(n, n));
    auto const ours = [&] { c = os::einsum<I/X, K>(a, b); };
    auto const hand = [&] {  // gather B; each block gives some columns of C
      MPI_Allgather(b.local().data(), n * part, MPI_DOUBLE, gathered.data(), n * part, MPI_DOUBLE, MPI_COMM_WORLD);
      for (int d = 0; d < p; ++d) gemm(part, part, n, a.local().data(), n, gathered.data() + size(d * n, part), part, 0, by_hand.data() + d * part, n);
    };
    ours(), hand();
    compare("4. [I_X, J] . [J, K_X] -> [I_X, K]", pairs, root, ours, hand, difference(c.local(), by_hand));
  }
}
