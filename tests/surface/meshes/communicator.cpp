// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ranks: 1 2 4 6

/// @file
/// mesh.communicator(): the program's own messages between the devices of a mesh, and of its axes.
// sham:

#include <doctest/doctest.h>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

#if OSTRAKA_ENABLE_MPI

namespace {

int size_of(MPI_Comm comm) {
  int n = 0;
  MPI_Comm_size(comm, &n);
  return n;
}

int rank_in(MPI_Comm comm) {
  int n = 0;
  MPI_Comm_rank(comm, &n);
  return n;
}

}  // namespace

TEST_CASE("of all devices and along each axis, in the order of coordinates") {
  int const n = t::ranks();
  int const y = n % 2 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(X = n / y, Y = y, Z = 1);
  CHECK(size_of(mesh.communicator()) == n);
  CHECK(rank_in(mesh.communicator()) == mesh.device());
  CHECK(size_of(mesh.communicator(X)) == n / y);
  CHECK(rank_in(mesh.communicator(X)) == mesh.coordinate(X));
  CHECK(size_of(mesh.communicator(Y)) == y);
  CHECK(rank_in(mesh.communicator(Y)) == mesh.coordinate(Y));
  CHECK(size_of(mesh.communicator(Z)) == 1);
  CHECK(rank_in(mesh.communicator(Y, X)) ==
        mesh.device());  // the first axis of the mesh is the major one, however they are named
  CHECK(mesh.communicator(X) == mesh.communicator(X));
  CHECK(mesh.communicator(X, Z) == mesh.communicator(X));

  double sum = mesh.coordinate(X);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, mesh.communicator(X));
  CHECK(sum == (n / y) * (n / y - 1) / 2);
}

TEST_CASE("no message of an operation travels there") {
  int const n = t::ranks();
  if (n == 1) return;
  auto const mesh = os::make_mesh(X = n);
  MPI_Comm const comm = mesh.communicator();
  // A receive of anything, of any tag, while operations run: it gets what the program sends.
  int got = -1;
  MPI_Request pending = MPI_REQUEST_NULL;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &pending);
  auto const a = os::random<double, I/X, J>(mesh, I = 24, J = 24);
  auto const b = os::reshard<I, J/X>(a);
  if (auto const whole = os::gather_to_root(os::reshard<I/X, J>(b))) CHECK(whole->size() == 576);
  int const mine = mesh.device();
  MPI_Send(&mine, 1, MPI_INT, (mine + 1) % n, 5, comm);
  MPI_Wait(&pending, MPI_STATUS_IGNORE);
  CHECK(got == (mine + n - 1) % n);
}

TEST_CASE("it lives as long as the mesh, also in a tensor") {
  auto const tensor = [] {
    auto const mesh = os::make_mesh(X = t::ranks());
    MPI_Barrier(mesh.communicator());
    return os::zeros<float, I/X>(mesh, I = 8);
  }();
  CHECK(os::value(os::sum<>(tensor)) == 0);
}

TEST_CASE("none where the mesh is absent") {
  auto const mesh = os::make_mesh(os::not_here, X = 3);
  CHECK(mesh.communicator() == MPI_COMM_NULL);
  CHECK(mesh.communicator(X) == MPI_COMM_NULL);
}

#else

TEST_CASE("without MPI it is nothing, and the program compiles") {
  static_cast<void>(os::make_mesh(X = 1).communicator(X));
}

#endif
