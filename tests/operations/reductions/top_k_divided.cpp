// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::top_k along a divided axis against insertion, one element after another: random extents with parts that are
/// empty or have fewer elements than are asked for, equal elements, NaN, 0 and −0, 16 bits; what it moves; too few.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cstdint>

#include "operations/reductions/rows_in_order.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class A, auto Along>
void check_largest(t::test_mesh const& m, t::global_tensor<typename A::value_type> const& g) {
  using T = typename A::value_type;
  auto const a = t::placed<A>(m, g);
  std::int64_t const n = g.extents.at('J');
  for (std::int64_t const k : {std::int64_t(0), std::int64_t(1), std::int64_t(3), n / 2, n}) {
    if (k > n) continue;
    INFO("the largest ", k);
    auto const want = t::in_order(g, 'J', true, k, 'L');
    auto const [values, indices] = os::top_k<Along, L>(a, L = k);
    CHECK(t::disagreements(m, values, want.values, t::same<T>) == 0);
    CHECK(t::disagreements(m, indices, want.places) == 0);
    os::operation::top_k<os::detail::type_of<Along>, L_axis> const operation{};
    std::int64_t const moved = t::traffic_of([&] { return os::top_k<Along, L>(a, L = k); }).bytes, ranks = t::ranks();
    CHECK(os::bytes_of(operation, a, L = k) == (moved + ranks - 1) / ranks);
  }
}

}  // namespace

TEST_CASE("the largest of rows that are divided, of random extents with equal elements") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      auto const e = t::random_extents(seed);
      INFO(m.text(), t::text_of(e), "seed ", seed);
      check_largest<os::tensor<double, I/X, J/Y>, J/Y>(m, t::whole_numbers<double>("IJ", e, seed));
      check_largest<os::tensor<std::int32_t, J/X/Y, I>, J/X/Y>(m, t::whole_numbers<std::int32_t>("JI", e, seed));
      check_largest<os::tensor<os::float16, I/Y, J/X, K>, J/X>(m, t::whole_numbers<os::float16>("IJK", e, seed));
    }
  });
}

TEST_CASE("NaN comes first, 0 and -0 are equal, infinities have their places") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    check_largest<os::tensor<float, I/X, J/Y>, J/Y>(m, t::special_numbers());
  });
}

TEST_CASE("more elements than there are on all devices") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const a = t::placed<os::tensor<float, I/X, J/Y>>(m, t::whole_numbers<float>("IJ", {{'I', 5}, {'J', 4}}, 3));
    CHECK_THROWS_WITH_AS(static_cast<void>(os::top_k<J/Y, L>(a, L = 5)), doctest::Contains("L = 5 and J = 4"),
                         os::error);
  });
}
