// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::environment and os::make_mesh: they adopt what already runs, any communicator will do, and device numbers count
/// the first mesh axis major. A fault at run time is an os::error on every rank alike, before anything is sent.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "support/on_meshes.hpp"

OSTRAKA_MESH_AXIS(fixed, 2);

namespace os = ostraka;
namespace t = os::testing;

namespace {

// f throws this text on every rank and has not communicated.
template <class F>
void check_refused(std::string const& text, F&& f) {
  t::traffic const moved = t::traffic_of([&] { CHECK_THROWS_WITH_AS(f(), text.c_str(), os::error); });
  CHECK(moved.calls == 0);
  CHECK(moved.bytes == 0);
}

}  // namespace

TEST_CASE("an environment adopts running libraries and leaves them running") {
  int argc = 0;
  char** argv = nullptr;
  for (int twice = 0; twice < 2; ++twice) os::environment const env(argc, argv);
  CHECK(Kokkos::is_initialized());
#if OSTRAKA_ENABLE_MPI
  int finalized = 1;
  MPI_Finalized(&finalized);
  CHECK(finalized == 0);
#endif
  os::environment const env(argc, argv);
  CHECK(os::make_mesh(X = t::ranks()).devices() == t::ranks());
}

TEST_CASE("an environment describes the running libraries without communication") {
  int argc = 0;
  char** argv = nullptr;
  os::environment const env(argc, argv);
  std::string text;
  t::traffic const moved = t::traffic_of([&] { text = os::describe(env); });
  CHECK(moved.calls == 0);
  auto const says = [&](std::string const& part) { return text.find(part) != std::string::npos; };
  CHECK(says(t::ranks() == 1 ? " on 1 device\n" : " on " + std::to_string(t::ranks()) + " devices\n"));
  CHECK(says(std::string(", ") + Kokkos::DefaultExecutionSpace::name() + ", "));
  CHECK(says("Kokkos: " + std::to_string(KOKKOS_VERSION / 10000) + '.'));
#if OSTRAKA_ENABLE_MPI
  CHECK((says("MPI: Open MPI") || says("MPI: MPICH") || says("MPI: Intel")));
  CHECK(says(", threads "));
#else
  CHECK(says("MPI: none\n"));
#endif
  CHECK(says(OSTRAKA_ENABLE_CBLAS ? "BLAS: " : "BLAS: none; our own kernels multiply\n"));
  CHECK(says("own kernels: "));
}

TEST_CASE("coordinates count the first mesh axis major") {
  for (t::mesh_shape const& s : t::mesh_shapes()) {
    if (s.axes != "XYZ") continue;
    t::test_mesh const m(s);
    auto const mesh = os::make_mesh(X = s.sizes[0], Y = s.sizes[1], Z = s.sizes[2]);
    CHECK(mesh.device() == t::rank());
    CHECK(mesh.size(Y) == s.sizes[1]);
    CHECK(mesh.coordinate(X) == m.coordinate("X", t::rank()));
    CHECK(mesh.coordinate(Y) == m.coordinate("Y", t::rank()));
    CHECK(mesh.coordinate(Z) == m.coordinate("Z", t::rank()));
    CHECK(mesh.sizes().of(X) * mesh.sizes().of(Y) * mesh.sizes().of(Z) == t::ranks());
  }
}

#if OSTRAKA_ENABLE_MPI

TEST_CASE("a communicator with the ranks reversed") {
  MPI_Comm reversed = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -t::rank(), &reversed);
  int const n = t::ranks();
  int const device = n - 1 - t::rank();
  auto const mesh = os::make_mesh(reversed, Y = 1, X = n);
  MPI_Comm_free(&reversed);  // the mesh has its own
  CHECK(mesh.device() == device);
  auto const a = os::generate<std::int32_t, I/X>(
      mesh, I = 13, KOKKOS_LAMBDA(std::int64_t i) { return static_cast<std::int32_t>(3 * i + 1); });
  CHECK(a.global_offset(I) == device * 13 / n);
  auto const b = t::host_block(os::all_gather<X>(a));
  for (std::size_t i = 0; i < 13; ++i) CHECK(b(i) == static_cast<std::int32_t>(3 * i + 1));
  auto const whole = os::gather_to_root(a);  // on device 0, the last rank
  CHECK(static_cast<bool>(whole) == (t::rank() == n - 1));
  if (whole)
    for (std::size_t i = 0; i < 13; ++i) CHECK((*whole)(i) == static_cast<std::int32_t>(3 * i + 1));
}

TEST_CASE("meshes on parts of the job work at the same time") {
  int const colour = t::rank() % 2;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, colour, t::rank(), &part);
  int members = 0;
  MPI_Comm_size(part, &members);
  auto const mesh = os::make_mesh(part, X = members);
  MPI_Comm_free(&part);
  CHECK(mesh.devices() == members);
  CHECK(mesh.device() == t::rank() / 2);
  auto const a = os::generate<std::int64_t, I, J/X>(
      mesh, I = 2, J = 7, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { return (j + 1) * (i + 10) + colour; });
  auto const sum = t::host_block(os::sum<I>(a));
  for (std::int64_t i = 0; i < 2; ++i) CHECK(sum(static_cast<std::size_t>(i)) == 28 * (i + 10) + 7 * colour);
}

TEST_CASE("an intercommunicator is refused on both sides") {
  if (t::ranks() < 2) return;
  MPI_Comm side = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, t::rank() % 2, t::rank(), &side);
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, 1 - t::rank() % 2, 0, &both);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::make_mesh(both, X = t::ranks())),
      "make_mesh: a mesh is made over one group of processes, but an intercommunicator was given, which joins two; "
      "merge them with MPI_Intercomm_merge first",
      os::error);
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(both, t::rank() % 2, &merged);
  CHECK(os::make_mesh(merged, X = t::ranks()).devices() == t::ranks());
  MPI_Comm_free(&merged);
  MPI_Comm_free(&both);
  MPI_Comm_free(&side);
}

#endif

TEST_CASE("make_mesh: sizes that do not multiply to the number of devices") {
  int const n = t::ranks();
  std::string const has = ", the communicator has " + std::to_string(n) + "; choose sizes whose product is " +
                          std::to_string(n) + ", or start as many processes as the mesh has devices";
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::make_mesh(X = n + 1, Y = 2)),
      ("make_mesh: X=" + std::to_string(n + 1) + " · Y=2 needs " + std::to_string(2 * (n + 1)) + " devices" + has)
          .c_str(),
      os::error);
  if (n > 1)
    CHECK_THROWS_WITH_AS(static_cast<void>(os::make_mesh(X = 1)), ("make_mesh: X=1 needs 1 device" + has).c_str(),
                         os::error);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::make_mesh(X = n, Y = 0)),
      "make_mesh: a mesh axis has at least one device, but Y=0; use Y=1 for an axis that divides nothing", os::error);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::make_mesh(fixed = 3)),
      "make_mesh: the mesh axis fixed has the static size 2, but 3 was given; give that size or declare the axis "
      "without one",
      os::error);
  if (n == 2) CHECK(os::make_mesh(fixed).devices() == 2);
}

TEST_CASE("operands of two meshes") {
  auto const one = os::make_mesh(X = t::ranks());
  auto const other = os::make_mesh(X = t::ranks());
  auto const a = os::zeros<float, I, J/X>(one, I = 2, J = 3);
  auto const b = os::zeros<float, J/X, K>(other, J = 3, K = 2);
  std::string const remedy = ": the operands live on different meshes; make them all on one os::make_mesh";
  check_refused("einsum" + remedy, [&] { static_cast<void>(os::einsum<I, K>(a, b)); });
  check_refused("map" + remedy, [&] {
    static_cast<void>(os::map(
        KOKKOS_LAMBDA(float x, float y) { return x * y; }, a, b));
  });
  check_refused("add" + remedy, [&] { static_cast<void>(os::add(a, b)); });
}

TEST_CASE("an empty handle") {
  os::tensor<float, I, J/X> const empty;
  auto const a = os::zeros<float, J/X, K>(os::make_mesh(X = t::ranks()), J = 3, K = 2);
  std::string const remedy =
      ": an operand is an empty handle; make it with os::zeros, os::generate, … or assign a tensor to it first";
  check_refused("einsum" + remedy, [&] { static_cast<void>(os::einsum<I, K>(empty, a)); });
  check_refused("reshard" + remedy, [&] { static_cast<void>(os::reshard<I, J>(empty)); });
  check_refused("all_gather" + remedy, [&] { static_cast<void>(os::all_gather<X>(empty)); });
  check_refused("gather_to_root" + remedy, [&] { static_cast<void>(os::gather_to_root(empty)); });
}

TEST_CASE("extents that disagree") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::zeros<float, I, J/X>(mesh, I = 2, J = 3);
  auto const b = os::zeros<float, J/X, K>(mesh, J = 4, K = 2);
  std::string const text =
      ": all operands agree on the extent of an axis, but J is 3 in one and 4 in another; make them with the same "
      "os::sizes";
  check_refused("einsum" + text, [&] { static_cast<void>(os::einsum<I, K>(a, b)); });
  check_refused("map" + text, [&] {
    static_cast<void>(os::map(
        KOKKOS_LAMBDA(float x, float y) { return x * y; }, a, b));
  });
  check_refused("add" + text, [&] { static_cast<void>(os::add(a, b)); });
  auto const c = os::zeros<float, I/X, J>(mesh, I = 2, J = 3);
  auto const d = os::zeros<float, J, K>(mesh, J = 4, K = 2);
  check_refused("contract" + text, [&] { static_cast<void>(os::contract<J>(c, d)); });
}

TEST_CASE("a mesh axis that the mesh lacks") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::zeros<float, I, J/X>(mesh, I = 2, J = 3);
  std::string const text = ": the mesh has no axis Y; add it to os::make_mesh (size 1 costs nothing)";
  check_refused("einsum" + text, [&] { static_cast<void>(os::einsum<I/Y>(a)); });
  check_refused("reshard" + text, [&] { static_cast<void>(os::reshard<I/Y, J/X>(a)); });
  check_refused("slice" + text, [&] { static_cast<void>(os::slice<I/Y>(a)); });
  check_refused("max" + text, [&] { static_cast<void>(os::max<I/Y>(a)); });
}
