// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Shapes: fewer indices than devices, on meshes of two axes and in halos.
// ranks: 1 2 3 4 7 8
// checked: 4 7 8

// page: Shapes
// sham:

#include <doctest/doctest.h>

#include <ostraka/files.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>
#include <vector>

#include "field/field_case.hpp"
#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

using namespace field;

FIELD_CASE("S2", "pytorch/pytorch#161368, pytorch/pytorch#150862",
           "Blocks without elements claimed the place of others: offsets overlapped, and a checkpoint lost data.") {
  auto const a = place<os::tensor<double, I/X/Y>>(numbers("I", {2}, {5, 6}));
  auto const begins = t::numbers_of_ranks(a.global_offset(I));
  auto const counts = t::numbers_of_ranks(static_cast<std::int64_t>(a.local().extent(0)));
  std::vector<int> held(2, 0);
  for (std::size_t r = 0; r < begins.size(); ++r) {
    CHECK(begins[r] >= 0);
    CHECK(begins[r] + counts[r] <= 2);
    for (std::int64_t i = begins[r]; i < begins[r] + counts[r]; ++i) ++held[static_cast<std::size_t>(i)];
  }
  CHECK(held == std::vector<int>(2, current_mesh->size("Z")));
  auto const whole = os::gather_to_root(a);
  if (whole) CHECK(((*whole)(0) == 5 && (*whole)(1) == 6));
  gives(os::reshard<I>(a), {5, 6});
  t::scratch_file const file("a.npy");
  os::save(file.path(), a);
  gives(os::load<double, I/Y/X>(file.path(), mesh()), {5, 6});
  std::int64_t rows = 0;
  for (std::int64_t d = 0; d < 30; ++d) {
    auto const on_thirty = os::zeros<float, I/X>(os::dry_mesh(os::as_device(d), X = 30, Y = 1), I = 4096);
    CHECK(on_thirty.global_offset(I) == rows);
    rows += static_cast<std::int64_t>(on_thirty.local().extent(0));
  }
  CHECK(rows == 4096);
}

FIELD_CASE("S5", "helmholtz-analytics/heat#568, helmholtz-analytics/heat#631",
           "Where some ranks have no rows, halos came from the wrong neighbour, or were waited for without end.") {
  auto const U = numbers("I", {6}, {1, 2, 3, 4, 5, 6});
  auto const u = place<os::tensor<double, I/X>>(U);
  auto const both_sides = [](auto const& x) { return x(-1) + x(1); };
  auto const body = [&](auto x) { return os::stencil(both_sides, os::exchange_halo<os::halo<I, 1>/X>(x)); };
  gives(os::shard_map<I/X>(body, u), {2, 4, 6, 8, 10, 5});
  auto const begun = [&](auto x) { return os::stencil(both_sides, os::start_exchange_halo<os::halo<I, 1>/X>(x)); };
  gives(os::shard_map<I/X>(begun, u), {2, 4, 6, 8, 10, 5});
  auto const ring = [&](auto x) {
    return os::stencil(both_sides, os::exchange_halo<os::halo<I, 1>/X>(x, os::periodic));
  };
  gives(os::shard_map<I/X>(ring, u), {8, 4, 6, 8, 10, 6});
  auto const wide = [&](auto x) {
    return os::stencil([](auto const& y) { return y(-2) + y(2); }, os::exchange_halo<os::halo<I, 2>/X>(x));
  };
  gives(os::shard_map<I/X>(wide, u), {3, 4, 6, 8, 3, 4});
}

FIELD_CASE("O4", "pytorch/pytorch#161368", "S2 with two axes, one of them shorter than the number of its devices.") {
  auto const A = numbers("IJ", {3, 1}, {2, 4, 8});
  using places = list<os::tensor<double, I/X, J/Y>, os::tensor<double, I/Y, J/X>,
                      os::tensor<double, I/X/Y, J>, os::tensor<double, I, J/Y/X>>;
  under<places>(A, [](auto const& a) {
    gives(os::reshard<I/Y/X, J>(a), {2, 4, 8});
    gives(os::reshard<I, J/X/Y>(a), {2, 4, 8});
    gives(os::sum<I>(a), {2, 4, 8});
    gives(os::sum<J/X>(a), 14, {1});
    gives(os::argmax<J>(a), 2, {1});
  });
}
