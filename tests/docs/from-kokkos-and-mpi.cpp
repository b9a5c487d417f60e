// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/from-kokkos-and-mpi.md as the page prints them, run on 4 ranks: the version by hand and the
/// version with the library give the same.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include <ostraka/foreign_blocks.hpp>
#include <ostraka/operations.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;

namespace by_hand {

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

constexpr int n = 12, k = 5, m = 8;

using matrix = Kokkos::View<double**, Kokkos::LayoutRight>;

double start(int i, int j) { return 0.5 * i - j; }

TEST_CASE("a grid of ranks") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  MPI_Comm row, column;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);

  auto mesh = os::make_mesh(X = 2, Y = 2);

  int of_row = 0;
  MPI_Comm_rank(row, &of_row);
  CHECK(of_row == mesh.coordinate(Y));
  CHECK(rank / 2 == mesh.coordinate(X));
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
}

TEST_CASE("blocks, products, reductions") {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto mesh = os::make_mesh(X = ranks);

  // a block: rows of an n × k matrix
  int begin = rank * n / ranks, end = (rank + 1) * n / ranks;
  matrix A("A", end - begin, k);
  Kokkos::parallel_for(end - begin, [=](int i) {
    for (int j = 0; j < k; ++j) A(i, j) = start(begin + i, j);
  });

  auto a = os::generate<double, I/X, J>(mesh, I = n, J = k, [](auto i, auto j) { return start(int(i), int(j)); });
  CHECK(a.global_offset(I) == begin);

  auto adopted =
      os::from_local<double, I/X, J>(mesh, I = n, J = k, A);  // the same elements: both see each other's writes
  CHECK(adopted.local().data() == A.data());
  CHECK(os::value(os::max<>(os::subtract(a, adopted))) == 0);

  // a kernel of your own
  auto block = a.local();    // what it always was, a Kokkos::View
  Kokkos::parallel_for(block.extent(0), [=](std::size_t i) { block(i, 0) += 1; });
  Kokkos::fence();
  Kokkos::parallel_for(A.extent(0), [=](std::size_t i) { A(i, 0) += 1; });

  // a sum over all ranks
  double sum = 0;
  Kokkos::parallel_reduce(A.extent(0), [=](std::size_t i, double& s) {
    for (int j = 0; j < k; ++j) s += A(i, j) * A(i, j);
  }, sum);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

  double same = os::value(os::einsum<>(a, a));
  CHECK(same == doctest::Approx(sum));
}

TEST_CASE("your memory") {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto mesh = os::make_mesh(X = ranks);
  int begin = rank * n / ranks, end = (rank + 1) * n / ranks;
  matrix A("A", end - begin, k);
  Kokkos::deep_copy(A, 2.0);

  auto b = os::from_local<double, I/X, J>(mesh, I = n, J = k, os::strided(A.data(), I = k, J = 1));
  CHECK(b.local().data() == A.data());

  Kokkos::View<double**, Kokkos::LayoutLeft> L("L", end - begin, k);
  auto c = os::from_local<double, J, I/X>(mesh, I = n, J = k, os::in_order<I, J>(L));    // where it is
  CHECK(c.local().data() == L.data());
  Kokkos::deep_copy(L, 3.0);
  CHECK(os::value(os::einsum<>(b, c)) == 6.0 * n * k);

  auto d = os::copy_from_local<double, I/X, J>(mesh, I = n, J = k, L);
  CHECK(os::value(os::sum<>(d)) == 3.0 * n * k);
  os::copy_to_local(d, L);
  CHECK(L(0, k - 1) == 3);

  auto w = os::ones<double, J, K>(mesh, J = k, K = m);
  Kokkos::View<double**, Kokkos::LayoutLeft> C("C", end - begin, m);
  Kokkos::View<double**, Kokkos::LayoutLeft> columns("columns", n, (rank + 1) * k / ranks - rank * k / ranks);
  os::einsum_into<I/X, K>(C, b, w, os::alpha = 2, os::beta = 1);    // C is a view: C <- 2 b · w + C
  os::map_into<I/X, J>(L, [](double v) { return v * v; }, b);
  os::reshard_into<I, J/X>(columns, b);
  CHECK(C(0, m - 1) == 4.0 * k);
  CHECK(L(0, k - 1) == 4);
  CHECK(columns(n - 1, 0) == 2);

  Kokkos::DefaultExecutionSpace const instance;
  os::with_instance const scope(instance);
  auto sums = os::einsum<I/X>(b, b);
  CHECK(os::value(os::sum<>(sums)) == 4.0 * n * k);
}

TEST_CASE("your communicator") {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks / 2 ? 0 : MPI_UNDEFINED, rank, &half);
  auto mesh = os::make_mesh(half, X = ranks / 2);
  if (half != MPI_COMM_NULL) MPI_Comm_free(&half);

  CHECK(mesh.absent() == (rank >= ranks / 2));
  auto total = os::sum<>(os::ones<double, I/X>(mesh, I = n));
  if (!mesh.absent()) CHECK(os::value(total) == n);
}

TEST_CASE("complex numbers") {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto mesh = os::make_mesh(X = ranks);
  int const rows = (rank + 1) * n / ranks - rank * n / ranks;

  std::vector<std::complex<double>> z(std::size_t(rows * k), {1, 2});
  std::complex<double> dot = 0;
  for (auto const& v : z) dot += std::conj(v) * v;
  MPI_Allreduce(MPI_IN_PLACE, &dot, 1, MPI_CXX_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);

  auto a = os::from_local<std::complex<double>, I/X, J>(mesh, I = n, J = k, os::strided(z.data(), I = k, J = 1));
  std::complex<double> same = os::value(os::einsum<>(os::conj(a), a));    // einsum conjugates nothing by itself
  CHECK(dot == 5.0 * n * k);
  CHECK(same == dot);

  auto const* elements = reinterpret_cast<std::complex<double> const*>(a.local().data());
  CHECK(elements == z.data());
  z[0] = {0, 1};
  CHECK(elements[0] == std::complex<double>(0, 1));
}

TEST_CASE("MPI and Kokkos that run already") {
  int argc = 0, ranks = 1;
  char** argv = nullptr;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double sum = 0;

  {
    os::environment env(argc, argv);    // MPI and Kokkos run already: it begins neither
    auto mesh = os::make_mesh(X = ranks);
    sum = os::value(os::sum<>(os::ones<double, I/X>(mesh, I = n)));
  }                                     // and ends neither; tensors and meshes are gone

  CHECK(sum == n);
  int ended = 0;
  MPI_Finalized(&ended);
  CHECK(ended == 0);
  CHECK(Kokkos::is_initialized());
}

// in a library whose symbols are hidden
[[gnu::visibility("default")]] double norm(os::tensor<double, I/X> const& a);

double norm(os::tensor<double, I/X> const& a) { return std::sqrt(os::value(os::einsum<>(a, a))); }

TEST_CASE("a function of a library") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(norm(os::full<double, I/X>(os::make_mesh(X = ranks), I = 4, 2.0)) == 4);
}

TEST_CASE("a product whose inner dimension is divided") {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto mesh = os::make_mesh(X = ranks);
  int const mine = (rank + 1) * k / ranks - rank * k / ranks;
  matrix A("A", n, mine), B("B", mine, m), C("C", n, m);
  Kokkos::deep_copy(A, 2.0);
  Kokkos::deep_copy(B, 3.0);
  auto a = os::from_local<double, I, J/X>(mesh, I = n, J = k, A);
  auto b = os::from_local<double, J/X, K>(mesh, J = k, K = m, B);

  for (int i = 0; i < n; ++i)    // or a gemm
    for (int j = 0; j < mine; ++j)
      for (int l = 0; l < m; ++l) C(i, l) += A(i, j) * B(j, l);
  MPI_Allreduce(MPI_IN_PLACE, C.data(), n * m, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

  auto c = os::einsum<I, K>(a, b);         // a gemm, then an all-reduce
  auto d = os::einsum<I/X, K>(a, b);  // a gemm, then a reduce-scatter: each rank keeps its rows, for half of the bytes
  CHECK(c.local()(n - 1, m - 1) == C(n - 1, m - 1));
  CHECK(c.local()(0, 0) == 6.0 * k);
  CHECK(d.local().extent(0) * static_cast<unsigned>(ranks) == n);
}

TEST_CASE("transposes, gathers, files") {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto mesh = os::make_mesh(X = ranks);
  auto a = os::generate<double, I/X, K>(mesh, I = n, K = m, [](auto i, auto l) { return start(int(i), int(l)); });
  matrix A = a.local();

  // from rows to columns
  int rows = n / ranks, columns = m / ranks;    // they divide evenly here
  std::vector<double> out(rows * m), in(rows * m);
  for (int r = 0, at = 0; r < ranks; ++r)
    for (int i = 0; i < rows; ++i)
      for (int l = r * columns; l < (r + 1) * columns; ++l) out[at++] = A(i, l);
  MPI_Alltoall(out.data(), rows * columns, MPI_DOUBLE, in.data(), rows * columns, MPI_DOUBLE,
               MPI_COMM_WORLD);  // n × columns, row-major

  auto b = os::all_to_all<K/X>(a);         // or os::reshard<I, K/X>(a); any extents, no packing of your own
  CHECK(std::equal(in.begin(), in.end(), b.local().data()));

  // to and from one rank
  auto whole = os::gather_to_root(a);      // MPI_Gatherv, and the blocks put in their places
  auto back = os::scatter_from_root<double, I/X, K>(mesh, I = n, K = m, whole);    // MPI_Scatterv, likewise
  CHECK(os::value(os::max<>(os::subtract(a, back))) == 0);
}

TEST_CASE("your own messages") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto mesh = os::make_mesh(X = ranks);
  auto a = os::generate<double, I/X, K>(mesh, I = n, K = m, [](auto i, auto l) { return start(int(i), int(l)); });

  // the row above this device's block, from its neighbour along X
  auto block = a.local();
  std::vector<double> above(m);
  int const me = mesh.coordinate(X), last = mesh.size(X) - 1;
  Kokkos::fence();
  MPI_Sendrecv(&block(block.extent(0) - 1, 0), m, MPI_DOUBLE, me < last ? me + 1 : MPI_PROC_NULL, 0, above.data(), m,
               MPI_DOUBLE, me > 0 ? me - 1 : MPI_PROC_NULL, 0, mesh.communicator(X), MPI_STATUS_IGNORE);
  if (me > 0) CHECK(above[1] == start(static_cast<int>(a.global_offset(I)) - 1, 1));
}

namespace uneven {

constexpr int n = 10;

// Both ways, with the numbers of rows of each rank by hand; elements are their global row.
void check_law(int begin, int rows, std::vector<int> const& by_hand) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto mesh = os::make_mesh(X = ranks);
  REQUIRE(rows == by_hand[std::size_t(rank)]);
  matrix A("A", std::size_t(rows), k);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < k; ++j) A(i, j) = begin + i;

  auto a = os::copy_from_blocks<double, I/X, J>(mesh, I = n, J = k, os::at(I = begin), A);
  int const ours = rank * n / ranks;
  CHECK(a.local().extent(0) == std::size_t((rank + 1) * n / ranks - ours));
  for (std::size_t i = 0; i < a.local().extent(0); ++i) CHECK(a.local()(i, k - 1) == ours + int(i));

  Kokkos::deep_copy(A, -1.0);
  os::copy_to_blocks(a, os::at(I = begin), A);
  for (int i = 0; i < rows; ++i) CHECK(A(i, 0) == begin + i);
}

TEST_CASE("blocks of another distribution") {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  {
    int begin = rank * (n / ranks) + std::min(rank, n % ranks);
    int rows = n / ranks + (rank < n % ranks ? 1 : 0);    // the remainder on the first ranks
    check_law(begin, rows, {3, 3, 2, 2});
  }
  {
    int block = (n + ranks - 1) / ranks;                  // ⌈n/p⌉
    int begin = std::min(rank * block, n), rows = std::min(block, n - begin);
    check_law(begin, rows, {3, 3, 3, 1});
  }
}

}  // namespace uneven

}  // namespace by_hand
