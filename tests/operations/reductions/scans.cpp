// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::cumsum, cumprod, cummax and cummin along whole and divided axes against plain loops: random extents and seeds,
/// rows along and across, uneven and empty blocks, exclusive and reversed; the predicted bytes against the counted.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/draws.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class T, class Combine>
t::global_tensor<T> running(t::global_tensor<T> const& g, char along, T start, os::scan_option how,
                            Combine const& combine) {
  t::global_tensor<T> r = g;
  std::int64_t step = 1;
  for (std::size_t k = g.labels.find(along) + 1; k < g.labels.size(); ++k) step *= g.extents.at(g.labels[k]);
  std::int64_t const n = g.extents.at(along), rows = n == 0 ? 0 : static_cast<std::int64_t>(g.values.size()) / n;
  for (std::int64_t row = 0; row < rows; ++row) {
    T s = start;
    for (std::int64_t k = 0; k < n; ++k) {
      std::int64_t const at = row / step * step * n + row % step + (how.is_reversed ? n - 1 - k : k) * step;
      T const before = s, x = g.values[static_cast<std::size_t>(at)];
      s = combine(s, x);
      r.values[static_cast<std::size_t>(at)] = how.is_exclusive ? before : s;
    }
  }
  return r;
}

os::scan_option const ways[] = {{}, os::exclusive, os::reversed, os::exclusive | os::reversed};

// Whole numbers, whose sums are exact.
template <class A, auto Along>
void check_sums(t::test_mesh const& m, t::global_tensor<typename A::value_type> const& g, char along) {
  using T = typename A::value_type;
  auto const a = t::placed<A>(m, g);
  for (os::scan_option how : ways) {
    INFO("exclusive ", how.is_exclusive, " reversed ", how.is_reversed);
    auto const plus = [](T const& x, T const& y) { return static_cast<T>(x + y); };
    CHECK(t::disagreements(m, os::cumsum<Along>(a, how), running(g, along, T(0), how, plus)) == 0);
  }
}

t::extents_by_letter random_extents(std::uint64_t seed) {
  t::draws draw(seed);
  t::extents_by_letter e{{'I', draw(20)}, {'J', draw(14)}, {'K', 1 + draw(5)}};
  if (draw(3) == 0) e['J'] = 1000 + draw(20000), e['I'] = draw(3);
  if (draw(3) == 0) e['K'] = 250 + draw(20), e['I'] = draw(4);
  return e;
}

}  // namespace

TEST_CASE("running sums of random extents along whole and divided axes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      auto e = random_extents(seed);
      INFO(m.text(), t::text_of(e), "seed ", seed);
      auto const two = t::whole_numbers<double>("IJ", e, seed);
      check_sums<os::tensor<double, I/X, J>, J>(m, two, 'J');
      check_sums<os::tensor<double, I/X, J/Y>, J/Y>(m, two, 'J');
      check_sums<os::tensor<double, I, J/X/Y>, J/X/Y>(m, two, 'J');
      check_sums<os::tensor<double, I/Y/X, J>, I/Y/X>(m, two, 'I');
      e['J'] = e['J'] % 40;
      auto const three = t::whole_numbers<std::int32_t>("IJK", e, seed);
      check_sums<os::tensor<std::int32_t, I/X, J/Y, K>, J/Y>(m, three, 'J');
    }
  });
}

TEST_CASE("running products and extremes; NaN stays; 16 bits are summed as floats") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 1100}};
    auto g = t::whole_numbers<double>("IJ", e, 4);
    INFO(m.text());
    double const inf = std::numeric_limits<double>::infinity();
    using divided = os::tensor<double, I/X, J/Y>;
    for (os::scan_option how : ways) {
      auto const a = t::placed<divided>(m, g);
      auto const larger = [](double x, double y) { return std::max(x, y); };
      auto const smaller = [](double x, double y) { return std::min(x, y); };
      CHECK(t::disagreements(m, os::cummax<J/Y>(a, how), running(g, 'J', -inf, how, larger)) == 0);
      CHECK(t::disagreements(m, os::cummin<J/Y>(a, how), running(g, 'J', inf, how, smaller)) == 0);
    }
    auto signs = g;
    for (double& x : signs.values) x = x < 0 ? -1 : x > 4 ? 2 : 1;
    auto const times = [](double x, double y) { return x * y; };
    CHECK(t::disagreements(m, os::cumprod<J/Y>(t::placed<divided>(m, signs)), running(signs, 'J', 1.0, {}, times)) ==
          0);
    g.values[700] = std::numeric_limits<double>::quiet_NaN();
    auto const larger_or_nan = [](double x, double y) { return x != x || x > y ? x : y; };
    auto const same = [](double got, double wanted) { return wanted != wanted ? got != got : got == wanted; };
    CHECK(t::disagreements(m, os::cummax<J/Y>(t::placed<divided>(m, g)), running(g, 'J', -inf, {}, larger_or_nan),
                           same) == 0);
    t::global_tensor<os::bfloat16> ones{"IJ", e, std::vector<os::bfloat16>(5 * 1100, os::bfloat16(1.0f))};
    auto counted = ones;
    for (std::size_t k = 0; k < counted.values.size(); ++k) counted.values[k] = os::bfloat16(float(k % 1100 + 1));
    CHECK(t::disagreements(m, os::cumsum<J/Y>(t::placed<os::tensor<os::bfloat16, I/X, J/Y>>(m, ones)), counted) == 0);
  });
}

TEST_CASE("running sums move what they say") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const g = t::whole_numbers<float>("IJ", {{'I', 16}, {'J', 24}}, 1);
    auto const a = t::placed<os::tensor<float, I/X, J/Y>>(m, g);
    auto const b = t::placed<os::tensor<float, I, J/Y/X>>(m, g);
    auto const check = [](auto const& operation, auto const& operand) {
      std::int64_t const moved = t::traffic_of([&] { (void)os::detail::operate(operation, operand); }).bytes;
      CHECK((moved + t::ranks() - 1) / t::ranks() == os::bytes_of(operation, operand));
    };
    INFO(m.text());
    check(os::operation::cumsum<os::over<J_axis, Y_mesh>>{}, a);
    check(os::operation::cumsum<os::over<J_axis, Y_mesh, X_mesh>>{}, b);
  });
}

TEST_CASE("in a body the axis of a block is whole") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const g = t::whole_numbers<double>("IJ", {{'I', 7}, {'J', 11}}, 2);
    auto const a = t::placed<os::tensor<double, I/X, J>>(m, g);
    INFO(m.text());
    auto const rows = os::shard_map<I/X, J>([](auto const& block) { return os::cumsum<J>(block); }, a);
    CHECK(t::disagreements(m, rows, running(g, 'J', 0.0, {}, [](double x, double y) { return x + y; })) == 0);
  });
}
