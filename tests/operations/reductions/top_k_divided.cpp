// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::top_k along a divided axis against a selection, one element after the other: random extents with parts that are
/// empty or have fewer elements than are asked for, equal elements, NaN, 0 and −0, 16 bits; what it moves; too few.
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
struct selected {
  t::global_tensor<T> values;
  t::global_tensor<std::int64_t> places;
};

// The k largest along J, which becomes L: the first of those that are larger than all others, NaN before numbers.
template <class T>
selected<T> select(t::global_tensor<T> const& g, std::int64_t k) {
  std::string labels = g.labels, rows = g.labels;
  labels[labels.find('J')] = 'L';
  rows.erase(rows.find('J'), 1);
  t::extents_by_letter e = g.extents;
  e.erase('J');
  e['L'] = k;
  auto const n = static_cast<std::size_t>(t::number_of_elements(labels, e));
  selected<T> s{{labels, e, std::vector<T>(n)}, {labels, e, std::vector<std::int64_t>(n)}};
  t::for_each_index(rows, g.extents, [&](t::extents_by_letter at) {
    std::vector<bool> taken(static_cast<std::size_t>(g.extents.at('J')));
    for (std::int64_t l = 0; l < k; ++l) {
      std::int64_t best = -1;
      T largest{};
      for (std::int64_t j = 0; j < g.extents.at('J'); ++j) {
        if (taken[static_cast<std::size_t>(j)]) continue;
        at['J'] = j;
        T const x = g.values[g.position(at)];
        if (best < 0 || x > largest || (x != x && largest == largest)) best = j, largest = x;
      }
      taken[static_cast<std::size_t>(best)] = true;
      at['L'] = l;
      s.values.values[s.values.position(at)] = largest;
      s.places.values[s.places.position(at)] = best;
    }
  });
  return s;
}

template <class T>
bool same(T a, T b) {
  if (a != a || b != b) return (a != a) == (b != b);
  return a == b && std::signbit(static_cast<double>(a)) == std::signbit(static_cast<double>(b));
}

template <class A, auto Along>
void check_largest(t::mesh_at_hand const& m, t::global_tensor<typename A::value_type> const& g) {
  using T = typename A::value_type;
  auto const a = t::placed<A>(m, g);
  std::int64_t const n = g.extents.at('J');
  for (std::int64_t const k : {std::int64_t(0), std::int64_t(1), std::int64_t(3), n / 2, n}) {
    if (k > n) continue;
    INFO("the largest ", k);
    auto const want = select(g, k);
    auto const [values, indices] = os::top_k<Along, L>(a, L = k);
    CHECK(t::disagreements(m, values, want.values, same<T>) == 0);
    CHECK(t::disagreements(m, indices, want.places) == 0);
    os::operation::top_k<os::detail::type_of<Along>, L_axis> const operation{};
    std::int64_t const moved = t::traffic_of([&] { return os::top_k<Along, L>(a, L = k); }).bytes, ranks = t::ranks();
    CHECK(os::bytes_of(operation, a, L = k) == (moved + ranks - 1) / ranks);
  }
}

}  // namespace

TEST_CASE("the largest of rows that are divided, of random extents with equal elements") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      t::draws draw(seed);
      t::extents_by_letter const e{{'I', draw(9)}, {'J', draw(3) == 0 ? 60 + draw(200) : draw(14)}, {'K', 1 + draw(5)}};
      INFO(m.text(), t::text_of(e), "seed ", seed);
      check_largest<os::tensor<double, I/X, J/Y>, J/Y>(m, t::whole_numbers<double>("IJ", e, seed));
      check_largest<os::tensor<std::int32_t, J/X/Y, I>, J/X/Y>(m, t::whole_numbers<std::int32_t>("JI", e, seed));
      check_largest<os::tensor<os::float16, I/Y, J/X, K>, J/X>(m, t::whole_numbers<os::float16>("IJK", e, seed));
    }
  });
}

TEST_CASE("NaN comes first, 0 and -0 are equal, infinities have their places") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    auto g = t::whole_numbers<float>("IJ", {{'I', 5}, {'J', 70}}, 3);
    for (std::size_t k = 0; k < g.values.size(); k += 3) {
      float const some[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(), -0.0f, 0.0f};
      g.values[k] = some[k / 3 % 5];
    }
    INFO(m.text());
    check_largest<os::tensor<float, I/X, J/Y>, J/Y>(m, g);
  });
}

TEST_CASE("more elements than there are on all devices") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    auto const a = t::placed<os::tensor<float, I/X, J/Y>>(m, t::whole_numbers<float>("IJ", {{'I', 5}, {'J', 4}}, 3));
    CHECK_THROWS_WITH_AS(static_cast<void>(os::top_k<J/Y, L>(a, L = 5)), doctest::Contains("L = 5 and J = 4"),
                         os::error);
  });
}
