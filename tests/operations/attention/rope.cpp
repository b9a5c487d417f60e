// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::rope against plain loops: every division of positions, frequencies and heads, both orders of pairs, offsets and
/// given positions; and its purpose: scores depend only on the difference of positions.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// I: positions, J: frequencies, B: heads, P: pairs, K: in one case the batch that has positions of its own.
OSTRAKA_AXIS(P, 2);

template <class Position>
t::global_tensor<double> turned(t::global_tensor<double> const& g, double base, Position const& position) {
  t::global_tensor<double> y = g;
  t::for_each_index(g.labels, g.extents, [&](t::extents_by_letter at) {
    double const angle =
        position(at) * std::pow(base, -static_cast<double>(at.at('J')) / static_cast<double>(g.extents.at('J')));
    std::int64_t const which = at.at('P');
    at['P'] = 0;
    double const a = g.values[g.position(at)];
    at['P'] = 1;
    double const b = g.values[g.position(at)];
    at['P'] = which;
    y.values[y.position(at)] =
        which == 0 ? a * std::cos(angle) - b * std::sin(angle) : a * std::sin(angle) + b * std::cos(angle);
  });
  return y;
}

constexpr auto is_close = [](double got, double wanted) { return std::abs(got - wanted) <= 1e-12; };

std::vector<t::extents_by_letter> extents() {
  std::vector<t::extents_by_letter> all = t::usual_extents();
  for (auto& e : all) e['P'] = 2;
  all.push_back(
      {{'B', 3}, {'I', 200}, {'J', 5}, {'K', 2}, {'L', 1}, {'P', 2}});  // more positions than the table holds
  return all;
}

}  // namespace

TEST_CASE("rope turns pairs by position and frequency, however the tensor is divided") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      auto const g = t::whole_numbers<double>("IBJP", e, 3);
      auto const by_index = [](std::int64_t from) {
        return [=](t::extents_by_letter const& at) { return static_cast<double>(from + at.at('I')); };
      };
      auto const want = turned(g, 10000, by_index(0));
      auto const x = t::placed<os::tensor<double, I/X, B/Y, J, P>>(m, g);
      CHECK(t::disagreements(m, os::rope<I, J, P>(x), want, is_close) == 0);
      CHECK(t::disagreements(m, os::rope<I/X, J, P>(x), want, is_close) == 0);
      auto const y = t::placed<os::tensor<double, I, B, J/Y / X, P>>(m, g);
      CHECK(t::disagreements(m, os::rope<I, J, P>(y, os::from_position(1000), os::rope_base(500)),
                             turned(g, 500, by_index(1000)), is_close) == 0);

      // A half of the width apart, positions innermost but one; in float, to its last places.
      auto const h = t::whole_numbers<double>("BPIJ", e, 5);
      CHECK(t::disagreements(m, os::rope<I, J, P>(t::placed<os::tensor<double, B, P, I/Y, J/X>>(m, h)),
                             turned(h, 10000, by_index(0)), is_close) == 0);
      auto const f = t::whole_numbers<double>("JPIB", e, 6);
      CHECK(t::disagreements(m, os::rope<I, J, P>(t::placed<os::tensor<double, J, P, I/X, B>>(m, f)),
                             turned(f, 10000, by_index(0)), is_close) == 0);
    }
  });
}

TEST_CASE("rope at given positions, of summands, and in a body") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      auto const g = t::whole_numbers<double>("BIJP", e, 3);
      auto const positions = t::whole_numbers<std::int32_t>("IB", e, 9);
      auto const want = turned(g, 10000, [&](t::extents_by_letter const& at) {
        return static_cast<double>(positions.values[positions.position(at)] + 70);
      });
      auto const x = t::placed<os::tensor<double, B/Y, I/X, J, P>>(m, g);
      auto const along_both = t::placed<os::tensor<std::int32_t, I/X, B>>(m, positions);
      CHECK(t::disagreements(m, os::rope<I, J, P>(x, along_both, os::from_position(70)), want, is_close) == 0);

      auto const by_index =
          turned(g, 10000, [](t::extents_by_letter const& at) { return static_cast<double>(at.at('I')); });
      auto const parts = t::placed<os::tensor<double, B, I/X, J, P, os::partial(Y)>>(m, g);
      CHECK(t::disagreements(m, os::rope<I, J, P>(parts), by_index, is_close) == 0);

      t::global_tensor<std::int64_t> indices{"I", {{'I', e.at('I')}}, {}};
      for (std::int64_t i = 0; i < e.at('I'); ++i) indices.values.push_back(i);
      auto const in_body =
          os::shard_map<B/Y, I/X, J, P>([](auto block, auto at) { return os::rope<I, J, P>(block, at); }, x,
                                            t::placed<os::tensor<std::int64_t, I/X>>(m, indices));
      CHECK(t::disagreements(m, in_body, by_index, is_close) == 0);
    }
  });
}

TEST_CASE("scores of turned queries and keys depend on the difference of their positions") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const q = os::random<float, I, J, P>(mesh, I = 1, J = 16, os::seed(1));
  auto const k = os::random<float, I, J, P>(mesh, I = 1, J = 16, os::seed(2));
  auto const score = [&](std::int64_t of_query, std::int64_t of_key) {
    return os::value(os::einsum<>(os::rope<I, J, P>(q, os::from_position(of_query)),
                                  os::rope<I, J, P>(k, os::from_position(of_key))));
  };
  for (std::int64_t apart : {0, 1, 7, 100})
    for (std::int64_t at : {1, 63, 64, 5000, 1'000'000})
      CHECK(std::abs(score(at + apart, at) - score(apart, 0)) < 2e-5f);
  CHECK(std::abs(score(5, 0) - score(0, 0)) > 1e-3f);
}

TEST_CASE("numbers of 16 bits are turned in float") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const x = os::random<float, I/X, J, P>(mesh, I = 100, J = 9, os::seed(4));
  auto const narrow = os::rope<I, J, P>(os::cast<os::bfloat16>(x));
  auto const wide = os::rope<I, J, P>(os::cast<float>(os::cast<os::bfloat16>(x)));
  auto const wrong = os::map([](os::bfloat16 a, float b) { return a == os::bfloat16(b) ? 0 : 1; }, narrow, wide);
  CHECK(os::value(os::sum<>(wrong)) == 0);
}

TEST_CASE("a pair is of two, and positions agree with the operand") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const triples = os::zeros<float, I, J, K>(mesh, I = 2, J = 3, K = 3);
  CHECK_THROWS_AS(static_cast<void>(os::rope<I, J, K>(triples)), os::error);
  auto const x = os::zeros<float, I, J, K>(mesh, I = 2, J = 3, K = 2);
  auto const too_many = os::zeros<std::int32_t, I>(mesh, I = 3);
  CHECK_THROWS_AS(static_cast<void>(os::rope<I, J, K>(x, too_many)), os::error);
}
