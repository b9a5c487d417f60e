// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::check_replicas reports nothing for tensors that match their type; for others it reports which two ranks differ,
/// and where, on all ranks alike.
// ranks: 1 2 4
// sham:
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include <ostraka/ostraka.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class Tensor>
std::string said_of(Tensor const& a) {
  try {
    os::check_replicas(a);
  } catch (os::error const& e) {
    return e.what();
  }
  return "";
}

std::string difference(std::string const& tensor, std::string const& axis, std::string const& at, int first,
                       int other) {
  auto const rank = [](int r) { return "rank " + std::to_string(r) + " (device " + std::to_string(r) + ")"; };
  return "check_replicas: devices along a mesh axis that does not divide a tensor hold the same, but A" + tensor +
         " differs along " + axis + ", first" + (at.empty() ? "" : " at " + at + ",") + " between " + rank(first) +
         " and " + rank(other) + "; set elements that are repeated alike on all ranks, or make the tensor os::partial";
}

}  // namespace

TEST_CASE("replicas") {
  int const ranks = t::ranks(), me = t::rank();
  auto const mesh = os::make_mesh(X = ranks > 2 ? 2 : 1, Y = ranks > 2 ? ranks / 2 : ranks);
  auto const number = KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { return static_cast<double>(10 * i + j); };
  for (std::int64_t rows : {5, 1, 0}) {  // uneven, with empty blocks, empty
    auto const a = os::generate<double, I/X, J>(mesh, I = rows, J = 3, number);
    CHECK(said_of(a) == "");
    if (rows > 0 && mesh.coordinate(Y) == mesh.size(Y) - 1 && a.local().extent(0) > 0)
      t::change_block(a, [](auto const& block) { block(block.extent(0) - 1, 2) = -0.5; });
    // The first that differs is in the block of the first devices along X that have any.
    std::int64_t const first_block = mesh.size(X) == 1 ? rows : rows / 2 > 0 ? rows / 2 : rows;
    int const line = mesh.size(X) == 2 && rows == 1 ? mesh.size(Y) : 0;
    if (ranks > 1 && rows > 0)
      CHECK(said_of(a) == difference("[I_X, J]", "Y", "I = " + std::to_string(first_block - 1) + ", J = 2", line,
                                     line + mesh.size(Y) - 1));
    else
      CHECK(said_of(a) == "");
  }

  auto const b = os::generate<float, I, J>(mesh, I = 300, J = 200, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) {
    return static_cast<float>(i - j);
  });  // more than a piece
  CHECK(said_of(b) == "");
  t::change_block(b, [](auto const& block) { block(0, 0) = 0.0F; });
  CHECK(said_of(b) == "");
  if (me == ranks - 1) t::change_block(b, [](auto const& block) { block(299, 198) = 1; });
  if (ranks > 1)
    CHECK(said_of(b) == difference("[I, J]", ranks > 2 ? "X" : "Y", "I = 299, J = 198",
                                   ranks > 2 ? ranks - 1 - mesh.size(Y) : 0, ranks - 1));
  t::change_block(b, [&](auto const& block) {
    block(150, 7) = me == 0 ? 0.0F : -0.0F;  // equal, but not the same bits
  });
  if (ranks > 1) CHECK(said_of(b) == difference("[I, J]", "Y", "I = 150, J = 7", 0, 1));

  auto const c = os::zeros<std::int64_t, I/X, os::partial(Y)>(mesh, I = 4);  // every device holds a summand of its own
  Kokkos::deep_copy(c.local(), me);
  CHECK(said_of(c) == "");
  auto const d = os::zeros<std::int64_t, os::partial(X)>(mesh);
  Kokkos::deep_copy(d.local(), me);
  if (mesh.size(Y) > 1) CHECK(said_of(d) == difference("[] {U_X}", "Y", "", 0, 1));
}
