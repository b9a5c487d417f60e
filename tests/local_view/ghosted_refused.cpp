// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Arrays with ghost layers that do not fit, and stencils that read beyond them, are refused on all devices alike.
// labels: essential
// checked: 2 4
// sham:

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "support/on_meshes.hpp"
#include "support/program_array.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

TEST_CASE("what does not fit is said alike") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 2 * t::ranks();
  std::string const last = std::to_string(t::ranks() - 1);
  auto const adopt = [&](std::int64_t rows, std::int64_t columns) {
    Kokkos::View<double**, Kokkos::LayoutRight> const v("v", static_cast<std::size_t>(rows),
                                                        static_cast<std::size_t>(columns));
    return t::said_alike(
        [&] { static_cast<void>(os::from_local<double, os::halo<I, 1, 2> / X, J>(mesh, I = n, J = 4, v)); });
  };
  std::string const rule =
      "; device d of p holds [floor(d*n/p), floor((d+1)*n/p)) of an extent n, or what os::at(I = begin) before the "
      "view says";
  std::string const fits =
      "from_local: each view has the extents of its device's block with its ghost layers, but that of device ";
  CHECK(adopt(5, 4) == "nothing");
  CHECK(adopt(2, 4) == fits + "0 has not; device 0 holds 5 elements along dimension 0 and its view has 2" + rule);
  CHECK(adopt(t::rank() == t::ranks() - 1 ? 6 : 5, 4) ==
        fits + last + " has not; device " + last + " holds 5 elements along dimension 0 and its view has 6" + rule);
  CHECK(adopt(5, t::rank() == t::ranks() - 1 ? 3 : 4) ==
        fits + last + " has not; device " + last + " holds 4 elements along dimension 1 and its view has 3" + rule);
  t::program_array<double> const memory(100);
  for (auto const& [row, column] : {std::pair{4, -1}, {0, 1}, {3, 1}, {2, 2}})
    CHECK(t::said_alike([&] {
            bool const is_last = t::rank() == t::ranks() - 1;
            static_cast<void>(os::from_local<double, os::halo<I, 1, 2> / X, J>(
                mesh, I = n, J = 4,
                os::strided(memory.data() + 50, I = is_last ? row : 4, J = is_last ? column : 1)));
          }) ==
          "from_local: each element has a place of its own, further on than the one before it, but the view of "
          "device " +
              last +
              " has a stride of 0, or a negative one, or one too short for its extents; give one with positive strides "
              "that are long enough");
  CHECK(t::said_alike([&] {
          static_cast<void>(os::from_local<double, os::halo<I, 1> / X, os::halo<J, 0, 5>>(
              mesh, I = n, J = 4, os::strided(memory.data(), I = 9, J = 1)));
        }) ==
        "from_local: a halo is at most as wide as its axis, beyond which there are no neighbours, but J = 4 is to be "
        "padded by 5; choose a smaller width, or a longer axis");
  // Arrays of different extents do not fit together.
  auto const u =
      os::from_local<double, os::halo<I, 1> / X, J>(mesh, I = n, J = 4, os::strided(memory.data(), I = 4, J = 1));
  auto const v =
      os::from_local<double, os::halo<I, 1> / X, J>(mesh, I = n, J = 3, os::strided(memory.data() + 50, I = 3, J = 1));
  CHECK(t::said_alike([&] {
          os::stencil_into(
              v, [](auto const& x) { return x(1); }, u);
        }).find("stencil_into: all blocks have the same extents, halos aside, but J is 4 in one and 3 in another") ==
        0);
}

TEST_CASE("in check mode a stencil's function reads no farther than the wider end") {
  auto const mesh = os::make_mesh(X = t::ranks());
  if (!mesh.handle()->world().compares_calls()) return;
  t::program_array<double> const memory(16), other(16);
  auto const adopt = [&](t::program_array<double> const& of) {
    return os::from_local<double, os::halo<I, 2, 0> / X>(mesh, I = 3 * t::ranks(), os::strided(of.data(), I = 1));
  };
  auto const u = adopt(memory), v = adopt(other);
  CHECK(t::said_alike([&] {
          os::stencil_into(
              v, [](auto const& x) { return x(-2) + x(0); }, u);
        }) == "nothing");
  CHECK(t::said_alike([&] {
          os::stencil_into(
              v, [](auto const& x) { return x(-2) + x(1); }, u);
        }) ==
        "stencil_into: f reads no farther than the halo of a block reaches, but it reads u(1) of a halo of 0 along I; "
        "exchange a wider halo, or read a nearer neighbour");
}
