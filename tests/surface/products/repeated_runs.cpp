// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The same operation again and again, which caches what its runs have in common (engine/run/known_schedule.hpp): with
/// other blocks, with an operand twice, with other factors, on other meshes and with more extents than it caches, by
/// turns. Against plain loops each time.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

// Long parts, which contractions send and gather themselves, short and uneven ones, and none.
std::vector<t::extents_by_letter> extents() {
  return {{{'B', 4}, {'I', 8}, {'J', 6}, {'K', 4}, {'L', 1}},     {{'B', 1}, {'I', 256}, {'J', 64}, {'K', 3}, {'L', 1}},
          {{'B', 3}, {'I', 7}, {'J', 5}, {'K', 9}, {'L', 1}},     {{'B', 1}, {'I', 3}, {'J', 64}, {'K', 256}, {'L', 1}},
          {{'B', 2}, {'I', 5}, {'J', 0}, {'K', 3}, {'L', 1}},     {{'B', 2}, {'I', 12}, {'J', 8}, {'K', 8}, {'L', 1}}};
}

template <auto... Out, auto... DimsA, auto... DimsB>
void product(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, dims<DimsA...>, dims<DimsB...>) {
  using left = os::tensor<double, DimsA...>;
  using right = os::tensor<double, DimsB...>;
  using result = os::tensor<double, Out...>;
  INFO(m.text(), t::text_of(e));
  for (int seed = 1; seed <= 2; ++seed)
    for (double const alpha : {1.0, 2.0, 0.0}) {
      auto const whole_a = t::whole_numbers<double>(t::letters_in<left>(), e, 10 + seed);
      auto const whole_b = t::whole_numbers<double>(t::letters_in<right>(), e, 20 + seed);
      auto const before = t::whole_numbers<double>(t::letters_in<result>(), e, 30 + seed);
      auto const a = t::placed<left>(m, whole_a);
      auto const b = t::placed<right>(m, whole_b);
      auto const c = t::placed<result>(m, before);
      auto const wanted = t::product_by_loops(t::letters_in<result>(), whole_a, whole_b);
      for (double const beta : {0.0, 3.0}) {
        auto const held = t::placed<result>(m, before);
        os::einsum_into(held, a, b, os::alpha = alpha, os::beta = beta);
        auto sum = wanted;
        for (std::size_t i = 0; i < sum.values.size(); ++i)
          sum.values[i] = alpha * wanted.values[i] + beta * before.values[i];
        CHECK(t::disagreements(m, held, sum) == 0);
      }
    }
}

template <auto... Out, auto... Dims>
void moved(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, dims<Dims...>) {
  using from = os::tensor<double, Dims...>;
  using to = os::tensor<double, Out...>;
  INFO(m.text(), t::text_of(e));
  for (int seed = 1; seed <= 2; ++seed) {
    auto const whole = t::whole_numbers<double>(t::letters_in<from>(), e, 40 + seed);
    auto const a = t::placed<from>(m, whole);
    auto const wanted = t::sum_by_loops(t::letters_in<to>(), whole);
    auto const into = t::placed<to>(m, t::whole_numbers<double>(t::letters_in<to>(), e, 50));
    os::einsum_into(into, a);
    CHECK(t::disagreements(m, into, wanted) == 0);
    CHECK(t::disagreements(m, os::reshard<Out...>(a), wanted) == 0);
    os::einsum_into(into, a, os::alpha = 2.0, os::beta = 1.0);
    auto tripled = wanted;
    for (double& x : tripled.values) x *= 3;
    CHECK(t::disagreements(m, into, tripled) == 0);
  }
}

}  // namespace

TEST_CASE("products by turns") {
  for (int round = 0; round < 2; ++round)
    t::on_every_mesh([](t::test_mesh const& m) {
      for (t::extents_by_letter const& e : extents()) {
        product(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J, K>{});
        product(m, e, dims<I, K/X>{}, dims<I, J/X>{}, dims<J/X, K>{});
        product(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
        product(m, e, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/X, K/Y>{});
        product(m, e, dims<B/X, I, K>{}, dims<B/X, I, J>{}, dims<B, J/X, K>{});
      }
    });
}

TEST_CASE("moves by turns") {
  for (int round = 0; round < 2; ++round)
    t::on_every_mesh([](t::test_mesh const& m) {
      for (t::extents_by_letter const& e : extents()) {
        moved(m, e, dims<I, J/X>{}, dims<I/X, J>{});
        moved(m, e, dims<I/Y, J>{}, dims<I/X/Y, J>{});
        moved(m, e, dims<I/Y/X, J>{}, dims<I/X/Y, J>{});
      }
    });
}

TEST_CASE("one block as both operands, and then two") {
  auto const m = t::test_mesh(t::mesh_shapes().front());
  t::extents_by_letter const e{{'B', 1}, {'I', 64}, {'J', 64}, {'K', 64}, {'L', 1}};
  using square = os::tensor<double, I, J/X>;
  auto const whole = t::whole_numbers<double>("IJ", e, 60);
  auto const other = t::whole_numbers<double>("IJ", e, 61);
  auto const a = t::placed<square>(m, whole);
  auto const b = t::placed<square>(m, other);
  auto const dot = [](auto const& x, auto const& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.values.size(); ++i) sum += x.values[i] * y.values[i];
    return sum;
  };
  auto const check = [&](auto const& x, auto const& y, double wanted) {
    auto const c = os::einsum<>(x, y);
    CHECK(os::engine::on_host(c.local())() == wanted);
  };
  for (int round = 0; round < 2; ++round) {
    check(a, a, dot(whole, whole));
    check(a, b, dot(whole, other));
  }
}
