// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A mesh on processes that are not among its devices: the same program runs there, on tensors of the same types and
/// extents without elements, and sends nothing. An operation that needs a device throws an error.
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::partial;

namespace {

// A mesh X=n on the first n ranks, absent on the others.
auto mesh_on_first(int n) {
#if OSTRAKA_ENABLE_MPI
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, t::rank() < n ? 0 : MPI_UNDEFINED, t::rank(), &part);
  auto const mesh = os::make_mesh(part, X = n, Y = 1);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  return mesh;
#else
  return os::make_mesh(X = n, Y = 1);
#endif
}

// The work of every process, whether it is a device or not.
template <class Mesh>
void run_a_program(Mesh const& mesh) {
  bool const here = !mesh.absent();
  auto const a = os::generate<double, I/X, J>(
      mesh, I = 5, J = 3, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { return static_cast<double>(10 * i + j); });
  auto const b = os::random<double, J, K/X>(mesh, J = 3, K = 4);
  auto const c = os::einsum<I, K/X>(a, b);
  CHECK(os::reshard<J/X>(os::einsum<J, partial(X)>(a)).extent(J) == 3);
  CHECK(c.extent(I) == 5);
  CHECK(c.extent(K) == 4);
  if (!here) CHECK(c.local().size() == 0);
  if (!here) CHECK(c.global_offset(K) == 0);
  CHECK(os::reshard<I/X, K>(c).extent(K) == 4);
  CHECK(os::all_gather<X>(a).local().extent(0) == (here ? 5u : 0u));
  CHECK(os::all_to_all<J/X>(a).extent(J) == 3);
  CHECK(os::map(KOKKOS_LAMBDA(double x, double y) { return x + y; }, a, a).extent(I) == 5);
  CHECK(os::sum<J>(a).local().extent(0) == (here ? 3u : 0u));
  auto const whole = os::gather_to_root(a);
  CHECK(static_cast<bool>(whole) == (here && mesh.device() == 0));
  if (!here)
    CHECK_THROWS_WITH_AS(
        static_cast<void>(*whole),
        "gather_to_root: the elements are on device 0 alone, and this is none of the mesh's devices; read them only "
        "where the result is true, as in if (whole) use(*whole), or have them on every device by os::reshard<I, J>(A)",
        os::error);
  CHECK(os::rename<I, K>(a).extent(K) == 5);
  CHECK(os::zeros<float>(mesh).extents().empty());
  auto const square = os::zeros<double, I/X, J>(mesh, I = 3, J = 3);
  auto const diagonal = os::zeros<double, I>(mesh, I = 3);
  os::einsum_into(diagonal, os::relabel<I, I>(square), os::beta = 1);
  CHECK(diagonal.local().size() == (here ? 3u : 0u));
  CHECK_THROWS_AS(os::einsum_into(square, square), os::error);
  auto const sum = os::sum<>(a);  // Σ (10 i + j) over 5 × 3
  if (here) CHECK(os::value(sum) == 10 * 10 * 3 + 5 * 3);
  os::tensor<double, I/X, J>::view_type const view("view", a.local().extent(0), a.local().extent(1));
  CHECK(os::from_local<double, I/X, J>(mesh, I = 5, J = 3, view).extent(J) == 3);
}

}  // namespace

TEST_CASE("processes outside of a mesh run the same program and send nothing") {
  for (int n = 1; n <= t::ranks(); ++n) {
    auto const mesh = mesh_on_first(n);
    CHECK(mesh.absent() == (t::rank() >= n));
    CHECK(mesh.devices() == n);
    CHECK(mesh.size(X) == n);
    std::int64_t const calls = t::traffic_so_far().calls;
    run_a_program(mesh);
    if (mesh.absent()) CHECK(t::traffic_so_far().calls == calls);
  }
}

TEST_CASE("what only a device has is refused with a sentence") {
  auto const mesh = os::make_mesh(os::not_here, X = 3, Y = 2);
  CHECK(mesh.absent());
  CHECK(mesh.devices() == 6);
  CHECK(mesh.sizes().of(Y) == 2);
  char const* const text =
      "mesh: this process is none of the mesh's devices, so it has no number and no coordinates on it; ask "
      "mesh.absent() first";
  CHECK_THROWS_WITH_AS(static_cast<void>(mesh.device()), text, os::error);
  CHECK_THROWS_WITH_AS(static_cast<void>(mesh.coordinate(X)), text, os::error);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::value(os::zeros<float>(mesh))),
      "value: this process is none of the mesh's devices and holds no value; ask for it where mesh.absent() is false, "
      "or os::reshard the tensor to a mesh of all",
      os::error);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::from_local<float, I/X>(mesh, I = 6, Kokkos::View<float*>("v", 2))),
      "from_local: this process is none of the mesh's devices and holds no block, but its view has 2 elements along "
      "dimension 0; give an empty view where mesh.absent()",
      os::error);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::make_mesh(os::not_here, X = 0)),
      "make_mesh: a mesh axis has at least one device, but X=0; use X=1 for an axis that divides nothing", os::error);
  CHECK(os::describe(os::zeros<float, I/X, J>(mesh, I = 4, J = 2)) ==
        "float[I_X, J] of 4 × 2 on X=3 · Y=2; this process is none of its devices");
}
