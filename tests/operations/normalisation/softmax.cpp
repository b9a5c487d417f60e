// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::softmax, log_softmax, log_sum_exp and cross_entropy against plain loops of long doubles: whole and divided axes,
/// the last one and others, masks, 16 bits, rows longer than a piece, rows of −∞, infinities and NaN.
// labels: essential
// gpu:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <limits>
#include <random>

#include "support/on_meshes.hpp"
#include "support/random_numbers.hpp"

namespace os = ostraka;
namespace t = os::testing;

using t::random_numbers;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Calls f(positions of the elements, position of the row among rows) for every row along a label.
template <class T, class F>
void for_each_row(t::global_tensor<T> const& g, char along, F const& f) {
  std::string rows = g.labels;
  rows.erase(rows.find(along), 1);
  std::size_t number = 0;
  t::for_each_index(rows, g.extents, [&](t::extents_by_letter at) {
    std::vector<std::size_t> positions;
    for (std::int64_t k = 0; k < g.extents.at(along); ++k) {
      at[along] = k;
      positions.push_back(g.position(at));
    }
    f(positions, number++);
  });
}

template <class T>
t::global_tensor<T> without(t::global_tensor<T> const& g, char along) {
  t::global_tensor<T> rows{g.labels, g.extents, {}};
  rows.labels.erase(rows.labels.find(along), 1);
  rows.extents.erase(along);
  rows.values.resize(static_cast<std::size_t>(t::number_of_elements(rows.labels, rows.extents)));
  return rows;
}

// The expected results for a tensor whose hidden elements are −∞.
struct wanted {
  t::global_tensor<double> softmax, log_softmax, log_sum_exp;
};

template <class T>
wanted by_loops(t::global_tensor<T> const& g, char along) {
  t::global_tensor<double> as_doubles{g.labels, g.extents, {}};
  for (T const& x : g.values) as_doubles.values.push_back(static_cast<double>(x));
  wanted w{as_doubles, as_doubles, without(as_doubles, along)};
  for_each_row(as_doubles, along, [&](std::vector<std::size_t> const& at, std::size_t row) {
    long double largest = -infinity, sum = 0;
    for (std::size_t k : at) largest = std::max<long double>(largest, as_doubles.values[k]);
    if (largest == -infinity) {
      for (std::size_t k : at) w.softmax.values[k] = 0, w.log_softmax.values[k] = -infinity;
      w.log_sum_exp.values[row] = -infinity;
      return;
    }
    for (std::size_t k : at) sum += std::exp(as_doubles.values[k] - largest);
    for (std::size_t k : at) {
      w.softmax.values[k] = static_cast<double>(std::exp(as_doubles.values[k] - largest) / sum);
      w.log_softmax.values[k] = static_cast<double>(as_doubles.values[k] - largest - std::log(sum));
    }
    w.log_sum_exp.values[row] = static_cast<double>(largest + std::log(sum));
  });
  return w;
}

// Within some units of the last place. Exponents are up to `width`; an error of their last place is as large an error
// of an exponential, relative to it, and of a logarithm.
enum class result { exponential, logarithm };

template <class T>
std::int64_t far_from(t::test_mesh const& m, T const& got, t::global_tensor<double> const& want, double width,
                      result what = result::exponential) {
  using number = typename T::value_type;
  t::global_tensor<number> w{want.labels, want.extents, {}};
  for (double x : want.values) w.values.push_back(static_cast<number>(x));
  double const unit = static_cast<double>(std::numeric_limits<number>::epsilon());
  double const exponent = static_cast<double>(std::numeric_limits<os::accumulator_of_t<number>>::epsilon()) * width;
  double const smallest = static_cast<double>(std::numeric_limits<number>::denorm_min());
  return t::disagreements(m, got, w, [=](number a, number b) {
    double const x = static_cast<double>(a), y = static_cast<double>(b);
    if (std::isnan(y)) return std::isnan(x);
    double const scale = what == result::exponential ? std::abs(y) : 1;
    return x == y || std::abs(x - y) <= std::abs(y) * 8 * unit + scale * 4 * exponent + 2 * smallest;
  });
}

std::vector<t::extents_by_letter> extents() {
  std::vector<t::extents_by_letter> all = t::usual_extents();
  all.push_back({{'B', 1}, {'I', 2}, {'J', 9001}, {'K', 1}, {'L', 1}});  // a row of more than a piece
  all.push_back({{'B', 1}, {'I', 3}, {'J', 77}, {'K', 41}, {'L', 1}});
  return all;
}

template <class A, auto Along, char Letter>
void check_all(t::test_mesh const& m, t::global_tensor<typename A::value_type> const& g, double width) {
  auto const a = t::placed<A>(m, g);
  wanted const want = by_loops(g, Letter);
  std::int64_t moved = 0;
  CHECK(far_from(m, os::softmax<Along>(a), want.softmax, width) == 0);
  CHECK(far_from(m, os::log_softmax<Along>(a), want.log_softmax, width, result::logarithm) == 0);
  CHECK(far_from(m, os::log_sum_exp<Along>(a), want.log_sum_exp, width, result::logarithm) == 0);
  moved = t::traffic_of([&] { return os::softmax<Along>(a); }).bytes;
  std::int64_t const predicted = os::bytes_of(os::operation::softmax<os::detail::type_of<Along>>(), a), n = t::ranks();
  CHECK(predicted == (moved + n - 1) / n);
}

}  // namespace

TEST_CASE("softmax and its logarithms of whole and divided axes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      auto const g = random_numbers<double>("IJ", e, 30, 1);
      check_all<os::tensor<double, I/X, J>, J, 'J'>(m, g, 60);
      check_all<os::tensor<double, I/X, J/Y>, J/Y, 'J'>(m, g, 60);
      check_all<os::tensor<double, I, J/X/Y>, J/X/Y, 'J'>(m, g, 60);
      auto const between = random_numbers<float>("IJK", e, 5, 2);
      check_all<os::tensor<float, I/X, J/Y, K>, J/Y, 'J'>(m, between, 10);
      check_all<os::tensor<os::bfloat16, J/Y, I/X>, J/Y, 'J'>(m, random_numbers<os::bfloat16>("JI", e, 8, 3), 16);
    }
  });
}

TEST_CASE("softmax of what a mask does not hide; rows of nothing are zeros") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      auto const hidden = [&]<class T>(t::global_tensor<T> g, t::global_tensor<std::int32_t> const& mask) {
        t::for_each_index(g.labels, g.extents, [&](t::extents_by_letter const& at) {
          if (mask.values[mask.position(at)] == 0) g.values[g.position(at)] = static_cast<T>(-infinity);
        });
        return g;
      };
      auto const mask_of = [&](std::string const& labels) {
        auto mask = random_numbers<std::int32_t>(labels, e, 2, 5);
        for (std::size_t k = 0; k < mask.values.size() && k < 3; ++k) mask.values[k] = 0;
        return mask;
      };
      auto const g = random_numbers<float>("IJK", e, 20, 4);
      auto const across = mask_of("JI"), same = mask_of("JK");
      auto const last = t::placed<os::tensor<float, I/X, J, K/Y>>(m, g);
      auto const got = os::softmax<K/Y>(last, t::placed<os::tensor<std::int32_t, J, K/Y>>(m, same));
      CHECK(far_from(m, got, by_loops(hidden(g, same), 'K').softmax, 40) == 0);
      auto const before = t::placed<os::tensor<float, I/X, J/Y, K>>(m, g);
      auto const mask = t::placed<os::tensor<std::int32_t, J/Y, I>>(m, across);
      CHECK(far_from(m, os::softmax<J/Y>(before, mask), by_loops(hidden(g, across), 'J').softmax, 40) == 0);
      CHECK(far_from(m, os::log_sum_exp<J/Y>(before, mask), by_loops(hidden(g, across), 'J').log_sum_exp, 40,
                     result::logarithm) == 0);
      CHECK(far_from(m, os::log_softmax<J/Y>(before, mask), by_loops(hidden(g, across), 'J').log_softmax, 40,
                     result::logarithm) == 0);
    }
  });
}

// The oracle takes longer than everything else: it is the same on every mesh.
TEST_CASE("softmax of long rows, whose exponentials are kept or computed twice") {
  for (std::int64_t length : {8193, 66000, 140000}) {
    t::extents_by_letter const e{{'I', 2}, {'J', length}};
    auto const check = [&]<class T>(t::global_tensor<T> const& g, double width) {
      auto const want = by_loops(g, 'J').softmax;
      t::on_every_mesh([&](t::test_mesh const& m) {
        INFO(m.text(), length);
        CHECK(far_from(m, os::softmax<J>(t::placed<os::tensor<T, I/X, J>>(m, g)), want, width) == 0);
      });
    };
    check(random_numbers<double>("IJ", e, 30, 10), 60);
    check(random_numbers<os::float16>("IJ", e, 4, 11), 8);
    auto const g = random_numbers<float>("IJ", e, 5, 12);
    check(g, 10);
    auto mask = random_numbers<std::int32_t>("IJ", e, 2, 13);
    auto hidden = g;
    for (std::size_t k = 0; k < g.values.size(); ++k)
      if (mask.values[k] == 0) hidden.values[k] = -std::numeric_limits<float>::infinity();
    auto const want = by_loops(hidden, 'J').softmax;
    t::on_every_mesh([&](t::test_mesh const& m) {
      INFO(m.text(), length);
      auto const got = os::softmax<J>(t::placed<os::tensor<float, I/X, J>>(m, g),
                                      t::placed<os::tensor<std::int32_t, I/X, J>>(m, mask));
      CHECK(far_from(m, got, want, 10) == 0);
    });
  }
}

TEST_CASE("softmax of infinities and NaN") {
  t::on_every_mesh([](t::test_mesh const& m) {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    t::global_tensor<double> g{"IJ", {{'I', 5}, {'J', 4}}, {}};
    g.values = {-infinity, -infinity, -infinity, -infinity, 0,         -infinity, 0,    -infinity, 1,     infinity,
                2,         3,         1,         nan,       -infinity, 2,         1000, 1000,      -1000, 1000};
    auto const a = t::placed<os::tensor<double, I/X, J/Y>>(m, g);
    t::global_tensor<double> want = g, logs = without(g, 'J');
    want.values = {0, 0, 0, 0, 0.5, 0, 0.5, 0, nan, nan, nan, nan, nan, nan, nan, nan, 1.0 / 3, 1.0 / 3, 0, 1.0 / 3};
    logs.values = {-infinity, std::log(2.0), infinity, nan, 1000 + std::log(3.0)};
    CHECK(far_from(m, os::softmax<J/Y>(a), want, 1) == 0);
    CHECK(far_from(m, os::log_sum_exp<J/Y>(a), logs, 1, result::logarithm) == 0);
  });
}

TEST_CASE("softmax in a body") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const g = random_numbers<double>("IJ", {{'I', 7}, {'J', 5}}, 10, 6);
    auto const a = t::placed<os::tensor<double, I/X, J/Y>>(m, g);
    auto const got =
        os::shard_map<os::manual(X), I/X, J/Y>([](auto const& block) { return os::softmax<J/Y>(block); }, a);
    CHECK(far_from(m, got, by_loops(g, 'J').softmax, 20) == 0);
  });
}

TEST_CASE("cross entropy of a divided vocabulary") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      if (e.at('J') == 0) continue;
      INFO(m.text(), t::text_of(e));
      auto const g = random_numbers<float>("IJK", e, 20, 7);
      auto labels = random_numbers<std::int32_t>("KI", e, 1, 8);
      t::global_tensor<double> want = without(t::global_tensor<double>{g.labels, g.extents, {}}, 'J');
      t::global_tensor<double> const logs = by_loops(g, 'J').log_softmax;
      std::mt19937 random(9);
      t::for_each_index("IK", e, [&](t::extents_by_letter at) {
        auto const label = static_cast<std::int32_t>(random() % static_cast<unsigned>(e.at('J') + 1)) - 1;
        labels.values[labels.position(at)] = label < 0 ? -100 : label;
        std::size_t const row = want.position(at);
        at['J'] = label;
        want.values[row] = label < 0 ? 0 : -logs.values[logs.position(at)];
      });
      auto const l = t::placed<os::tensor<std::int32_t, K, I/X>>(m, labels);
      auto const whole = t::placed<os::tensor<float, I/X, J, K>>(m, g);
      auto const divided = t::placed<os::tensor<float, I/X, J/Y, K>>(m, g);
      CHECK(far_from(m, os::cross_entropy<J>(whole, l, os::ignore(-100)), want, 40, result::logarithm) == 0);
      CHECK(far_from(m, os::cross_entropy<J/Y>(divided, l, os::ignore(-100)), want, 40, result::logarithm) == 0);
      os::operation::cross_entropy<os::detail::type_of<J/Y>> const operation{true, -100};
      std::int64_t const moved = t::traffic_of([&] { return os::detail::operate(operation, divided, l); }).bytes;
      CHECK(os::bytes_of(operation, divided, l) == (moved + t::ranks() - 1) / t::ranks());
      bool const any_ignored = std::find(labels.values.begin(), labels.values.end(), -100) != labels.values.end();
      if (any_ignored) CHECK_THROWS_AS(static_cast<void>(os::cross_entropy<J/Y>(divided, l)), os::error);
    }
  });
}
