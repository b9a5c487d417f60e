// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The costs that grow with the number of ranks: seconds of make_mesh on one, two and three mesh axes against
/// MPI_Comm_dup and MPI_Comm_split by hand, communicators made, heap in use on a rank by MPI and by Ostraka, and tiny
/// operations against the same collective by hand.
///
///     mpirun -n 16 bench/scale [rounds=5] [json=FILE]
///
/// The heap is glibc's count of bytes in use. Bytes that the functions of MPI below allocate count as MPI's, others as
/// Ostraka's. The figure is that of the rank with the most.

#include <mpi.h>

#include <malloc.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ostraka/ostraka.hpp>

#include "report.hpp"
#include "seconds_of_all.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);

namespace {

std::int64_t heap() {
  struct mallinfo2 const now = mallinfo2();
  return static_cast<std::int64_t>(now.uordblks + now.hblkhd);
}

struct {
  std::int64_t communicators = 0;
  std::int64_t of_mpi = 0;
} counted;  // since the start of the program

/// Wraps a call of MPI and counts the memory that it keeps as MPI's.
template <class F>
int counting(int communicators, F const& f) {
  std::int64_t const before = heap();
  int const result = f();
  counted.of_mpi += heap() - before;
  counted.communicators += communicators;
  return result;
}

}  // namespace

extern "C" {
int MPI_Comm_dup(MPI_Comm from, MPI_Comm* to) {
  return counting(1, [&] { return PMPI_Comm_dup(from, to); });
}
int MPI_Comm_split(MPI_Comm from, int colour, int key, MPI_Comm* to) {
  return counting(1, [&] { return PMPI_Comm_split(from, colour, key, to); });
}
int MPI_Comm_split_type(MPI_Comm from, int kind, int key, MPI_Info info, MPI_Comm* to) {
  return counting(1, [&] { return PMPI_Comm_split_type(from, kind, key, info, to); });
}
int MPI_Comm_create_group(MPI_Comm from, MPI_Group members, int tag, MPI_Comm* to) {
  return counting(1, [&] { return PMPI_Comm_create_group(from, members, tag, to); });
}
int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  return counting(0, [&] { return PMPI_Comm_group(comm, group); });
}
int MPI_Group_incl(MPI_Group from, int n, int const* ranks, MPI_Group* to) {
  return counting(0, [&] { return PMPI_Group_incl(from, n, ranks, to); });
}
int MPI_Group_free(MPI_Group* group) {
  return counting(0, [&] { return PMPI_Group_free(group); });
}
int MPI_Comm_free(MPI_Comm* comm) {
  return counting(-1, [&] { return PMPI_Comm_free(comm); });
}
int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* memory, MPI_Win* window) {
  return counting(0, [&] { return PMPI_Win_allocate(size, unit, info, comm, memory, window); });
}
int MPI_Allgather(void const* a, int m, MPI_Datatype s, void* b, int n, MPI_Datatype t, MPI_Comm comm) {
  return counting(0, [&] { return PMPI_Allgather(a, m, s, b, n, t, comm); });
}
int MPI_Allreduce(void const* a, void* b, int n, MPI_Datatype t, MPI_Op how, MPI_Comm comm) {
  return counting(0, [&] { return PMPI_Allreduce(a, b, n, t, how, comm); });
}
int MPI_Barrier(MPI_Comm comm) {
  return counting(0, [&] { return PMPI_Barrier(comm); });
}
int MPI_Isend(void const* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  return counting(0, [&] { return PMPI_Isend(a, n, t, to, tag, comm, request); });
}
int MPI_Irecv(void* a, int n, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  return counting(0, [&] { return PMPI_Irecv(a, n, t, from, tag, comm, request); });
}
int MPI_Waitall(int n, MPI_Request* requests, MPI_Status* statuses) {
  return counting(0, [&] { return PMPI_Waitall(n, requests, statuses); });
}
}

namespace {

/// The communicators and the heap at a moment.
struct account {
  std::int64_t communicators = counted.communicators, of_mpi = counted.of_mpi, in_all = heap();
};

/// Adds the difference of two accounts, on the rank where it is largest.
void tell(bench::comparison& c, std::string const& when, account const& before, account const& after) {
  double const communicators = static_cast<double>(after.communicators - before.communicators);
  double const of_mpi = static_cast<double>(after.of_mpi - before.of_mpi);
  double const in_all = static_cast<double>(after.in_all - before.in_all);
  c.numbers["communicators " + when] = bench::largest(communicators);
  c.numbers["bytes of MPI " + when] = bench::largest(of_mpi);
  c.numbers["bytes of ours " + when] = bench::largest(in_all - of_mpi);
}

/// Two or three sizes, as equal as powers of two allow.
std::vector<int> sizes_of(int ranks, int axes) {
  std::vector<int> sizes(static_cast<std::size_t>(axes), 1);
  for (std::size_t a = 0; ranks > 1; a = (a + 1) % sizes.size()) {
    int const factor = ranks % 2 == 0 ? 2 : ranks;
    sizes[a] *= factor;
    ranks /= factor;
  }
  return sizes;
}

// A duplicate, and the lines of devices along each axis: the least that a program by hand needs if it uses all axes.
void by_hand(std::vector<int> const& sizes) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<MPI_Comm> made(1 + (sizes.size() > 1 ? sizes.size() : 0));
  PMPI_Comm_dup(MPI_COMM_WORLD, &made[0]);
  int below = 1;
  for (std::size_t a = sizes.size(); a-- > 0 && made.size() > 1; below *= sizes[a])
    PMPI_Comm_split(made[0], rank / (below * sizes[a]) * below + rank % below, rank, &made[a + 1]);
  for (MPI_Comm& c : made) PMPI_Comm_free(&c);
}

template <class Make>
void meshes(bench::report& results, int rounds, std::string const& name, std::vector<int> const& sizes,
            Make const& make) {
  std::vector<bench::contestant> const all{{"make_mesh", [&] { static_cast<void>(make()); }},
                                           {"by hand", [&] { by_hand(sizes); }}};
  bench::comparison c = bench::compare(name, all, rounds, bench::seconds_of_all);
  account const before;
  auto const mesh = make();
  account const after;
  tell(c, "held", before, after);
  results.add(std::move(c));
}

template <class Operation, class ByHand>
void operation(bench::report& results, int rounds, std::string const& name, Operation const& ours,
               ByHand const& by_hand) {
  account const before;
  ours();
  account const once;
  for (int i = 0; i < 50; ++i) ours();
  account const often;
  bench::comparison c =
      bench::compare(name, {{"ours", ours}, {"by hand", by_hand}}, rounds, bench::seconds_of_all, 0.01);
  tell(c, "with the first", before, once);
  tell(c, "with 50 more", once, often);
  results.add(std::move(c));
}

// 64 by 64 doubles on a mesh of two axes; along X the collective by hand moves as many bytes.
void operations(bench::report& results, int rounds, int ranks) {
  std::vector<int> const sizes = sizes_of(ranks, 2);
  auto const mesh = os::make_mesh(X = sizes[0], Y = sizes[1]);
  MPI_Comm line = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_WORLD, mesh.coordinate(Y), mesh.device(), &line);
  auto const rows = os::random<double, I/X, J>(mesh, I = 64, J = 64);
  auto const columns = os::random<double, I, J/X>(mesh, I = 64, J = 64);
  auto const other = os::random<double, J/X, K>(mesh, J = 64, K = 64);
  std::vector<double> part(64 * 64), whole(64 * 64);
  int const mine = 64 * 64 / sizes[0];
  operation(results, rounds, "reshard [I_X, J] to [I, J]", [&] { static_cast<void>(os::reshard<I, J>(rows)); },
            [&] { PMPI_Allgather(part.data(), mine, MPI_DOUBLE, whole.data(), mine, MPI_DOUBLE, line); });
  operation(
      results, rounds, "reshard [I_X, J] to [I, J_X]", [&] { static_cast<void>(os::reshard<I, J/X>(rows)); },
      [&] {
        PMPI_Alltoall(part.data(), mine / sizes[0], MPI_DOUBLE, whole.data(), mine / sizes[0], MPI_DOUBLE, line);
      });
  operation(
      results, rounds, "einsum [I, J_X] [J_X, K] to [I, K]",
      [&] { static_cast<void>(os::einsum<I, K>(columns, other)); },
      [&] { PMPI_Allreduce(MPI_IN_PLACE, whole.data(), 64 * 64, MPI_DOUBLE, MPI_SUM, line); });
  PMPI_Comm_free(&line);
}

}  // namespace

int main(int argc, char** argv) {
  bench::arguments const given(argc, argv);
  os::environment const env(argc, argv);
  int const ranks = env.devices();
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int const rounds = given.number("rounds", 5);
  bench::report results("scale", given, rank == 0);
  results.condition("ranks", std::to_string(ranks));
  results.condition("made with the environment", std::to_string(counted.communicators) + " communicators, " +
                                                     std::to_string(counted.of_mpi) + " bytes of MPI");
  std::vector<int> const one = sizes_of(ranks, 1), two = sizes_of(ranks, 2), three = sizes_of(ranks, 3);
  meshes(results, rounds, "one axis", one, [&] { return os::make_mesh(X = one[0]); });
  meshes(results, rounds, "two axes", two, [&] { return os::make_mesh(X = two[0], Y = two[1]); });
  meshes(results, rounds, "three axes", three, [&] { return os::make_mesh(X = three[0], Y = three[1], Z = three[2]); });
  operations(results, rounds, ranks);
}
