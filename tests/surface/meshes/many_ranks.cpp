// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// More ranks than this machine has cores: every kind of move, and products that need them, on lines, planes and cubes
/// of devices, against plain loops. By hand also on other numbers of ranks: mpirun -n 64 build/tests/surface.many_ranks
// ranks: 16 32
// timeout: 120

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "support/einsum_case.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

std::vector<t::mesh_shape> shapes() {
  int const p = t::ranks();
  if (p % 4 != 0) return {{"XYZ", {p, 1, 1}}};
  return {{"XYZ", {p, 1, 1}}, {"ZYX", {2, 2, p / 4}}, {"XYZ", {1, p / 4, 4}}};
}

/// Fewer and more indices than devices, and extents that nothing divides.
std::vector<t::extents_by_letter> extents() {
  return {{{'B', 3}, {'I', 37}, {'J', 70}, {'K', 5}, {'L', 2}}, {{'B', 2}, {'I', 16}, {'J', 0}, {'K', 64}, {'L', 1}}};
}

template <class F>
void on_all(F const& f) {
  for (t::mesh_shape const& shape : shapes()) {
    t::test_mesh const m(shape);
    for (t::extents_by_letter const& e : extents()) f(m, e);
  }
}

template <auto... DimsFrom, auto... DimsTo>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<DimsFrom...>, dims<DimsTo...>) {
  using from = os::tensor<std::int64_t, DimsFrom...>;
  auto const whole = t::whole_numbers<std::int64_t>(t::letters_in<from>(), e, 10);
  auto const there = os::reshard<DimsTo...>(t::placed<from>(m, whole));
  auto const back = os::reshard<DimsFrom...>(there);
  INFO(m.text(), t::text_of(e));
  CHECK(t::disagreements(m, there, whole) == 0);
  CHECK(t::disagreements(m, back, whole) == 0);
}

}  // namespace

TEST_CASE("reshards") {
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check(m, e, dims<I/X, J>{}, dims<I, J>{});
    check(m, e, dims<I/X/Y, J/Z>{}, dims<I/Z, J/Y/X>{});
    check(m, e, dims<B/X, I/Y, J/Z>{}, dims<B/Z, I/X, J/Y>{});
    check(m, e, dims<I, J/Z, partial(X, Y)>{}, dims<I/Y, J/X>{});
  });
}

TEST_CASE("products, and no more bytes than planned") {
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    t::check_einsum<double>(m, e, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/Y, K>{});
    t::check_einsum<double>(m, e, dims<I, K/Z>{}, dims<I, J/X/Y>{}, dims<J/X/Y, K/Z>{});
    t::check_einsum<double>(m, e, dims<>{}, dims<I/X, J/Y/Z>{}, dims<I/X, J/Y/Z>{});
  });
}
