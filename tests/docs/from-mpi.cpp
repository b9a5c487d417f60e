// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/from-mpi.md as the page prints them, run on 4 ranks: calls of MPI, and collectives on blocks
/// that give the same.

#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <utility>

#include "support/on_meshes.hpp"

namespace os = ostraka;

namespace from_mpi {

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

using matrix = Kokkos::View<double**, Kokkos::LayoutRight>;

constexpr int n = 4, m = 8;    // what a rank has

// The block of this rank, as an array, and the tensor that the blocks are together.
struct blocks {
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank = 0, ranks = 1;
  matrix A{"A", n, m};
  blocks() {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) A(i, j) = 100 * rank + 10 * i + j;
  }
  auto tensor() const {
    auto const mesh = os::make_mesh(X = ranks);
    return os::from_local<double, I/X, J>(mesh, I = n * ranks, J = m, A);
  }
};

// True if the block holds the elements of the array, in this order.
bool same(auto const& block, matrix const& array) {
  auto const local = block.local();
  Kokkos::fence();
  if (local.size() != array.size()) return false;
  for (std::size_t e = 0; e < array.size(); ++e)
    if (local.data()[e] != array.data()[e]) return false;
  return true;
}

void compute(matrix const& x) { Kokkos::deep_copy(x, 1.0); }

TEST_CASE("all-reduce, all-gather, reduce-scatter") {
  blocks const b;
  auto const [comm, rank, ranks, A] = b;

  // all-reduce
  matrix sum("sum", n, m);
  MPI_Allreduce(A.data(), sum.data(), n * m, MPI_DOUBLE, MPI_SUM, comm);

  // all-gather
  matrix all("all", n * ranks, m);
  MPI_Allgather(A.data(), n * m, MPI_DOUBLE, all.data(), n * m, MPI_DOUBLE, comm);

  // reduce-scatter
  matrix rows("rows", n / ranks, m);
  MPI_Reduce_scatter_block(A.data(), rows.data(), n / ranks * m, MPI_DOUBLE, MPI_SUM, comm);

  auto const [total, whole, divided] =
      os::shard_map<os::dims<I, J>{}, os::dims<I, J>{}, os::dims<I/X, J>{}>([&](auto a) {
    // collectives
    auto s = os::psum<X>(a);               // double[I, J]: the same on every device
    auto g = os::all_gather<I/X>(a);       // double[I, J]: the blocks, one after the other along I
    auto r = os::psum_scatter<I/X>(a);     // double[I, J] {V_X}: of the sum, this device's rows

    CHECK(same(s, sum));
    CHECK(same(g, all));
    CHECK(same(r, rows));
    return std::tuple{s, g, r};
  }, b.tensor());
  CHECK(total.extent(I) == n);
  CHECK(whole.extent(I) == n * ranks);
  CHECK(divided.extent(I) == n);
}

TEST_CASE("columns for rows") {
  blocks const b;
  auto const [comm, rank, ranks, A] = b;

  // all-to-all
  int const columns = m / ranks;
  matrix out("out", n * ranks, columns), in("in", n * ranks, columns);
  for (int to = 0; to < ranks; ++to)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < columns; ++j) out(to * n + i, j) = A(i, to * columns + j);
  MPI_Alltoall(out.data(), n * columns, MPI_DOUBLE, in.data(), n * columns, MPI_DOUBLE, comm);

  auto const transposed = os::shard_map<I, J/X>([&](auto a) {
    auto t = os::all_to_all<I/X, J/X>(a);    // parts of J go out, and what comes in stands one after the other along I
    CHECK(same(t, in));
    return t;
  }, b.tensor());
  CHECK(transposed.extent(J) == m);
}

TEST_CASE("roots and scans") {
  blocks const b;
  auto const [comm, rank, ranks, A] = b;
  matrix B("B", n, m), S("S", n, m), whole("whole", n * ranks, m);
  int const root = 1;

  // to and from one rank
  Kokkos::deep_copy(B, A);
  MPI_Bcast(B.data(), n * m, MPI_DOUBLE, root, comm);
  MPI_Gather(A.data(), n * m, MPI_DOUBLE, whole.data(), n * m, MPI_DOUBLE, root, comm);

  // over the ranks before
  MPI_Scan(A.data(), S.data(), n * m, MPI_DOUBLE, MPI_SUM, comm);

  auto const [broadcast, scanned] = os::shard_map<os::dims<I, J>{}, os::dims<I/X, J>{}>([&](auto a) {
    auto c = os::pbroadcast<X>(a, root);     // double[I, J]: the same on every device
    auto w = os::gather_to<I/X>(a, root);    // double[I, J] {V_X}: no rows but on the root
    auto s = os::inclusive_scan<X>(a);       // double[I, J] {V_X}; os::exclusive_scan<X>: without this device's
    CHECK(same(c, B));
    CHECK(same(s, S));
    if (rank == root) CHECK(same(w, whole));
    return std::tuple{c, s};
  }, b.tensor());
  CHECK(broadcast.extent(I) == n);
  CHECK(scanned.extent(I) == n * ranks);
}

TEST_CASE("neighbours") {
  blocks const b;
  auto const [comm, rank, n_ranks, A] = b;
  int ranks = n_ranks;
  matrix B("B", n, m), C("C", n, m), D("D", n, m);

  // a ring
  MPI_Comm ring;
  int cyclic = 1, before = 0, after = 0;
  MPI_Cart_create(comm, 1, &ranks, &cyclic, 0, &ring);
  MPI_Cart_shift(ring, 0, 1, &before, &after);
  MPI_Sendrecv(A.data(), n * m, MPI_DOUBLE, after, 0, B.data(), n * m, MPI_DOUBLE, before, 0, ring,
               MPI_STATUS_IGNORE);

  // computing meanwhile
  MPI_Request requests[2];
  MPI_Irecv(C.data(), n * m, MPI_DOUBLE, before, 0, ring, &requests[0]);
  MPI_Isend(A.data(), n * m, MPI_DOUBLE, after, 0, ring, &requests[1]);
  compute(D);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

  // rows of the neighbours
  matrix padded("padded", n + 2, m);    // a row more at either end
  Kokkos::deep_copy(Kokkos::subview(padded, std::pair(1, n + 1), Kokkos::ALL), A);
  int const above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  int const below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(&padded(1, 0), m, MPI_DOUBLE, above, 0, &padded(n + 1, 0), m, MPI_DOUBLE, below, 0, comm,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(&padded(n, 0), m, MPI_DOUBLE, below, 0, &padded(0, 0), m, MPI_DOUBLE, above, 0, comm,
               MPI_STATUS_IGNORE);

  auto const back = os::shard_map<I/X, J>([&](auto a) {
    auto next = os::shift<X>(a, +1);       // what the device before has, cyclic
    auto line = os::ppermute<X>(a, {{0, 1}, {1, 2}, {2, 3}});    // hops one by one: device 0 has zeros
    CHECK(same(next, B));
    CHECK(line.local()(0, 1) == (rank > 0 ? B(0, 1) : 0));

    auto coming = os::start_shift<X>(a, +1);
    compute(D);                            // a contraction lets messages go on between its tiles
    auto came = std::move(coming).wait();
    CHECK(same(came, C));

    auto p = os::exchange_halo<os::halo<I, 1>/X>(a);    // double[I(1), J] {V_X}; zeros beyond the ends
    CHECK(same(p, padded));
    return came;
  }, b.tensor());
  CHECK(back.extent(I) == n * ranks);
  MPI_Comm_free(&ring);
}

TEST_CASE("in flight") {
  blocks const b;
  auto const [comm, rank, ranks, A] = b;
  matrix B("B", n, m), sum("sum", n, m);
  // non-blocking
  MPI_Request request;
  MPI_Iallreduce(A.data(), sum.data(), n * m, MPI_DOUBLE, MPI_SUM, comm, &request);
  compute(B);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  auto const total = os::shard_map<I, J>([&](auto a) {
    auto coming = os::start_psum<X>(a);
    compute(B);
    auto s = std::move(coming).wait();     // it cannot be read before
    CHECK(same(s, sum));
    return s;
  }, b.tensor());
  CHECK(total.extent(I) == n);
}

// a communicator of one's own
TEST_CASE("a row of ranks") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  auto const mesh = os::make_mesh(X = 2, Y = 2);
  auto const tensor = os::ones<double, I/X, J/Y>(mesh, I = 2, J = 2);
  MPI_Comm row;
  int place = 0, members = 0;

  // places
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
  MPI_Comm_rank(row, &place);
  MPI_Comm_size(row, &members);

  auto const same_place = os::shard_map<I/X, J/Y>([&](auto a) {
    auto y = os::axis_index<Y>(a);         // an os::varying_int<Y>: what is cut with it varies along Y
    int of = os::axis_size<Y>(a);
    CHECK(y.value() == place);
    CHECK(of == members);
    return a;
  }, tensor);
  CHECK(same_place.extent(I) == 2);
  MPI_Comm_free(&row);
}

TEST_CASE("communicators of one's own") {
  blocks const b;
  auto const [comm, rank, ranks, A] = b;
  matrix sum("sum", n, m);

  // each half for itself
  MPI_Comm part;
  MPI_Comm_split(comm, rank % 2, rank, &part);
  MPI_Allreduce(A.data(), sum.data(), n * m, MPI_DOUBLE, MPI_SUM, part);

  auto const half = os::make_mesh(part, X = ranks / 2);    // even and odd ranks have a mesh each
  MPI_Comm_free(&part);                                    // the mesh has its own duplicate
  auto const total = os::shard_map<I, J>([](auto a) { return os::psum<X>(a); },
                                         os::from_local<double, I/X, J>(half, I = n * ranks / 2, J = m, A));
  CHECK(same(total, sum));

  // some of the ranks
  MPI_Comm first;
  MPI_Comm_split(comm, rank < 2 ? 0 : MPI_UNDEFINED, rank, &first);
  auto const few = os::make_mesh(first, X = 2);            // absent on the other ranks
  auto const all = os::make_mesh(X = ranks);
  auto const there = os::ones<double, I/X, J>(few, I = n, J = m);    // without elements where few is absent
  auto const spread = os::reshard<I/X, J>(there, all);     // from some ranks to all
  if (first != MPI_COMM_NULL) MPI_Comm_free(&first);
  CHECK(few.absent() == (rank >= 2));
  CHECK(there.local().size() == (rank < 2 ? std::size_t(n / 2 * m) : 0));
  CHECK(spread.local().size() == std::size_t(n / ranks * m));
  CHECK(spread.local()(0, m - 1) == 1);
}

TEST_CASE("errors") {
  blocks const b;
  auto const [comm, rank, ranks, A] = b;
  bool const fits = rank != 1;
  bool stopped = false;

  // what one rank knows, sent to all
  int wrong = fits ? 0 : 1, any = 0;
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, comm);
  if (any) stopped = true;                      // on all ranks, so that none waits for another
  CHECK(stopped);

  auto const mesh = os::make_mesh(X = ranks);
  auto const view = Kokkos::subview(A, std::pair(0, fits ? n : n - 1), Kokkos::ALL);
  std::string said;
  try {
    auto const t = os::from_local<double, I/X, J>(mesh, I = n * ranks, J = m, view);    // rank 1's block is too small
  } catch (os::error const& e) {
    said = e.what();                            // the same sentence on all ranks; the program can go on
  }
  CHECK(said.find("device 1 holds 4 elements along dimension 0 and its view has 3") != std::string::npos);
  CHECK(os::value(os::sum<>(os::ones<double, I/X>(mesh, I = n))) == n);
}

}  // namespace from_mpi
