// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The sum of examples/first by Kokkos and MPI alone, whose compile time is the baseline of that program's
/// (compile.py): C[I_X, K_Y] = A[I_X, J_Y] · B[J_Y, K] on 2 × 4 ranks. Each rank multiplies its blocks, packs the
/// columns of each rank along Y, and a reduce-scatter sums them.

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include <cstdio>

using matrix = Kokkos::View<float**, Kokkos::LayoutRight>;

void fill(matrix const& a, int first_row, int first_column) {
  using range = Kokkos::MDRangePolicy<Kokkos::Rank<2>>;
  Kokkos::parallel_for("fill", range({0, 0}, {a.extent_int(0), a.extent_int(1)}), KOKKOS_LAMBDA(int i, int j) {
    a(i, j) = static_cast<float>((first_row + i) * 31 + (first_column + j) * 17 % 101) / 101;
  });
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Kokkos::initialize(argc, argv);
  {
    constexpr int x = 2, y = 4, rows = 4096 / x, depth = 1024 / y, columns = 512;
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != x * y) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm along_y = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank / y, rank, &along_y);

    matrix const a("A", rows, depth), b("B", depth, columns);
    fill(a, rank / y * rows, rank % y * depth);
    fill(b, rank % y * depth, 0);

    Kokkos::View<float***, Kokkos::LayoutRight> const sums("sums", y, rows, columns / y);  // by receiver
    using range = Kokkos::MDRangePolicy<Kokkos::Rank<2>>;
    Kokkos::parallel_for("multiply", range({0, 0}, {rows, columns}), KOKKOS_LAMBDA(int i, int k) {
      float sum = 0;
      for (int j = 0; j < depth; ++j) sum += a(i, j) * b(j, k);
      sums(k / (columns / y), i, k % (columns / y)) = sum;
    });
    Kokkos::fence();

    matrix const c("C", rows, columns / y);
    MPI_Reduce_scatter_block(sums.data(), c.data(), rows * columns / y, MPI_FLOAT, MPI_SUM, along_y);
    if (rank == 0)
      std::printf("C[I_X, K_Y], %d x %d of 4096 x 512 on rank 0, begins with %f\n", rows, columns / y,
                  static_cast<double>(c(0, 0)));
    MPI_Comm_free(&along_y);
  }
  Kokkos::finalize();
  MPI_Finalize();
}
