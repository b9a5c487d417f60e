// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::sort, argsort, sort_by_key and top_k along whole axes against insertion, one element after another: random
/// extents and seeds, equal elements, NaN, infinities, −0, empty axes and blocks.
// labels: essential

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/draws.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class T>
struct rows_in_order {
  t::global_tensor<T> values;
  t::global_tensor<std::int64_t> places;
};

/// Rows along `along` by insertion; `kept` elements of each, ascending, or the largest first.
template <class T>
rows_in_order<T> in_order(t::global_tensor<T> const& g, char along, bool largest, std::int64_t kept, char kept_axis) {
  rows_in_order<T> r{{g.labels, g.extents, {}}, {g.labels, g.extents, {}}};
  r.values.labels[g.labels.find(along)] = r.places.labels[g.labels.find(along)] = kept_axis;
  r.values.extents[kept_axis] = r.places.extents[kept_axis] = kept;
  std::int64_t step = 1, outer = 1;
  for (std::size_t k = 0; k < g.labels.size(); ++k)
    (k > g.labels.find(along) ? step : outer) *= g.labels[k] == along ? 1 : g.extents.at(g.labels[k]);
  std::int64_t const n = g.extents.at(along);
  r.values.values.resize(static_cast<std::size_t>(outer * kept * step));
  r.places.values.resize(r.values.values.size());
  for (std::int64_t row = 0; row < outer * step; ++row) {
    std::int64_t const first = row / step * n * step + row % step;
    auto const element = [&](std::int64_t k) { return g.values[static_cast<std::size_t>(first + k * step)]; };
    std::vector<std::int64_t> order;
    for (std::int64_t k = 0; k < n; ++k) {
      auto const number = [&](std::int64_t i) { return static_cast<double>(element(i)); };
      auto const less = [&](std::int64_t i, std::int64_t j) {
        return number(i) < number(j) || (number(i) == number(i) && number(j) != number(j));
      };
      auto at = order.end();
      while (at != order.begin() && (largest ? less(*(at - 1), k) : less(k, *(at - 1)))) --at;
      order.insert(at, k);
    }
    for (std::int64_t k = 0; k < kept; ++k) {
      auto const to = static_cast<std::size_t>((row / step * kept + k) * step + row % step);
      r.values.values[to] = element(order[static_cast<std::size_t>(k)]);
      r.places.values[to] = order[static_cast<std::size_t>(k)];
    }
  }
  return r;
}

/// The same bits: NaN is NaN and −0 is not 0.
template <class T>
bool same(T const& got, T const& wanted) {
  return std::memcmp(&got, &wanted, sizeof(T)) == 0;
}

template <class A, auto Along>
void check_sorts(t::mesh_at_hand const& m, t::global_tensor<typename A::value_type> const& g, char along) {
  using T = typename A::value_type;
  auto const a = t::placed<A>(m, g);
  auto const want = in_order(g, along, false, g.extents.at(along), along);
  CHECK(t::disagreements(m, os::sort<Along>(a), want.values, same<T>) == 0);
  CHECK(t::disagreements(m, os::argsort<Along>(a), want.places) == 0);
  auto const [keys, permutation] = os::sort_by_key<Along>(a);
  CHECK(t::disagreements(m, keys, want.values, same<T>) == 0);
  CHECK(t::disagreements(m, permutation, want.places) == 0);
  std::int64_t const n = g.extents.at(along);
  for (std::int64_t k : {std::int64_t(0), std::int64_t(1), n / 20, n / 2, n}) {
    if (k > n) continue;
    INFO("the largest ", k);
    auto const largest = in_order(g, along, true, k, 'L');
    auto const [values, indices] = os::top_k<Along, L>(a, L = k);
    CHECK(t::disagreements(m, values, largest.values, same<T>) == 0);
    CHECK(t::disagreements(m, indices, largest.places) == 0);
  }
}

t::extents_by_letter random_extents(std::uint64_t seed) {
  t::draws draw(seed);
  return {{'I', draw(9)}, {'J', draw(3) == 0 ? 60 + draw(200) : draw(14)}, {'K', 1 + draw(5)}};
}

}  // namespace

TEST_CASE("sorts of random extents with equal elements") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      auto const e = random_extents(seed);
      INFO(m.text(), t::text_of(e), "seed ", seed);
      check_sorts<os::tensor<double, I/X, J>, J>(m, t::whole_numbers<double>("IJ", e, seed), 'J');
      check_sorts<os::tensor<std::int32_t, J, I/X/Y>, J>(m, t::whole_numbers<std::int32_t>("JI", e, seed), 'J');
      check_sorts<os::tensor<os::float16, I/Y, J, K/X>, J>(m, t::whole_numbers<os::float16>("IJK", e, seed), 'J');
    }
  });
}

TEST_CASE("NaN stands last, 0 and -0 keep their order, infinities have their places") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    auto g = t::whole_numbers<float>("IJ", {{'I', 5}, {'J', 70}}, 3);
    for (std::size_t k = 0; k < g.values.size(); k += 3) {
      float const some[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(), -0.0f, 0.0f};
      g.values[k] = some[k / 3 % 5];
    }
    INFO(m.text());
    check_sorts<os::tensor<float, I/X, J>, J>(m, g, 'J');
    check_sorts<os::tensor<float, I, J/X/Y>, I>(m, g, 'I');
  });
}

TEST_CASE("more elements than there are") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    auto const a = t::placed<os::tensor<float, I/X, J>>(m, t::whole_numbers<float>("IJ", {{'I', 5}, {'J', 4}}, 3));
    CHECK_THROWS_WITH_AS(static_cast<void>(os::top_k<J, L>(a, L = 5)), doctest::Contains("L = 5 and J = 4"), os::error);
  });
}

TEST_CASE("in a body the axis of a block is whole") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    auto const g = t::whole_numbers<float>("IJ", {{'I', 9}, {'J', 16}}, 3);
    auto const a = t::placed<os::tensor<float, I/X, J>>(m, g);
    INFO(m.text());
    auto const largest = in_order(g, 'J', true, 3, 'L');
    auto const indices = os::shard_map<I/X, L>([](auto const& b) { return os::top_k<J, L>(b, L = 3).indices; }, a);
    CHECK(t::disagreements(m, indices, largest.places) == 0);
  });
}
