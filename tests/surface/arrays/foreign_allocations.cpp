// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Copies by a plan allocate nothing in a steady state, whatever they send.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/foreign_blocks.hpp>

#include "support/counted_allocations.hpp"
#include "support/program_array.hpp"
#include "surface/arrays/foreign_boxes.hpp"

#ifdef OSTRAKA_COUNTS_ALLOCATIONS

namespace os = ostraka;
namespace t = os::testing;

TEST_CASE("boxes, several boxes, and what is dealt") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 40 * t::ranks() + 3, k = 30;
  auto const a = os::zeros<double, I, J/X>(mesh, I = n, J = k);
  using view = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::DefaultExecutionSpace>;
  auto const of = [](t::matrix_box const& b) {
    return view("array", static_cast<std::size_t>(b.rows()), static_cast<std::size_t>(b.columns()));
  };
  auto const check = [&](auto& plan, auto const& arrays) {
    CHECK(t::most_in_steady_state([&] { plan.copy_to(a, arrays); }) == 0);
    CHECK(t::most_in_steady_state([&] { plan.copy_from_into(a, arrays); }) == 0);
  };
  t::matrix_box const rows = t::rows_of(t::division::first_have_more, n, k, t::rank(), t::ranks())[0];
  view const array = of(rows);
  auto boxes = os::plan_blocks<double, I, J/X>(mesh, I = n, J = k, os::at(I = rows.i0), array);
  check(boxes, array);

  std::vector<decltype(os::placed(os::at(I = 0, J = 0), array))> fields;
  for (t::matrix_box const& b : t::fields_of(n, k, t::rank(), t::ranks()))
    fields.push_back(os::placed(os::at(I = b.i0, J = b.j0), of(b)));
  auto many = os::plan_blocks<double, I, J/X>(mesh, I = n, J = k, fields);
  check(many, fields);

  auto const cyclic = os::block_cyclic<I/X, J>(I = 7);
  auto const there = os::scalapack_array_of<I, J/X>(mesh, I = n, J = k, cyclic, 0);
  t::program_array<double> const local(there.elements());
  auto const lies = os::strided(local.data(), I = 1, J = there.leading_dimension);
  auto dealt = os::plan_blocks<double, I, J/X>(mesh, I = n, J = k, cyclic, lies);
  check(dealt, lies);
}

#endif
