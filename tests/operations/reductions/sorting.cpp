// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::sort, argsort, sort_by_key and top_k along whole axes against insertion, one element after another: random
/// extents and seeds, equal elements, NaN, infinities, −0, empty axes and blocks.
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
void check_sorts(t::test_mesh const& m, t::global_tensor<typename A::value_type> const& g, char along) {
  using T = typename A::value_type;
  auto const a = t::placed<A>(m, g);
  auto const want = t::in_order(g, along, false, g.extents.at(along), along);
  CHECK(t::disagreements(m, os::sort<Along>(a), want.values, t::same<T>) == 0);
  CHECK(t::disagreements(m, os::argsort<Along>(a), want.places) == 0);
  auto const [keys, permutation] = os::sort_by_key<Along>(a);
  CHECK(t::disagreements(m, keys, want.values, t::same<T>) == 0);
  CHECK(t::disagreements(m, permutation, want.places) == 0);
  std::int64_t const n = g.extents.at(along);
  for (std::int64_t k : {std::int64_t(0), std::int64_t(1), n / 20, n / 2, n}) {
    if (k > n) continue;
    INFO("the largest ", k);
    auto const largest = t::in_order(g, along, true, k, 'L');
    auto const [values, indices] = os::top_k<Along, L>(a, L = k);
    CHECK(t::disagreements(m, values, largest.values, t::same<T>) == 0);
    CHECK(t::disagreements(m, indices, largest.places) == 0);
  }
}

}  // namespace

TEST_CASE("sorts of random extents with equal elements") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      auto const e = t::random_extents(seed);
      INFO(m.text(), t::text_of(e), "seed ", seed);
      check_sorts<os::tensor<double, I/X, J>, J>(m, t::whole_numbers<double>("IJ", e, seed), 'J');
      check_sorts<os::tensor<std::int32_t, J, I/X/Y>, J>(m, t::whole_numbers<std::int32_t>("JI", e, seed), 'J');
      check_sorts<os::tensor<os::float16, I/Y, J, K/X>, J>(m, t::whole_numbers<os::float16>("IJK", e, seed), 'J');
    }
  });
}

TEST_CASE("NaN stands last, 0 and -0 keep their order, infinities have their places") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const g = t::special_numbers();
    INFO(m.text());
    check_sorts<os::tensor<float, I/X, J>, J>(m, g, 'J');
    check_sorts<os::tensor<float, I, J/X/Y>, I>(m, g, 'I');
  });
}

TEST_CASE("more elements than there are") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const a = t::placed<os::tensor<float, I/X, J>>(m, t::whole_numbers<float>("IJ", {{'I', 5}, {'J', 4}}, 3));
    CHECK_THROWS_WITH_AS(static_cast<void>(os::top_k<J, L>(a, L = 5)), doctest::Contains("L = 5 and J = 4"), os::error);
  });
}

TEST_CASE("in a body the axis of a block is whole") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const g = t::whole_numbers<float>("IJ", {{'I', 9}, {'J', 16}}, 3);
    auto const a = t::placed<os::tensor<float, I/X, J>>(m, g);
    INFO(m.text());
    auto const largest = t::in_order(g, 'J', true, 3, 'L');
    auto const indices = os::shard_map<I/X, L>([](auto const& b) { return os::top_k<J, L>(b, L = 3).indices; }, a);
    CHECK(t::disagreements(m, indices, largest.places) == 0);
  });
}
