// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Products in groups of rows against plain loops, and their first and second derivatives: empty groups, all rows in
/// one, rows after the last group, other axes divided.
// sham:

#include <doctest/doctest.h>

#include <ostraka/experts.hpp>
#include <ostraka/gradient.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using whole = t::global_tensor<double>;
using numbers = t::global_tensor<std::int64_t>;

// I: rows, B: groups, J: summed, K: stays. The group of row i; −1 after the last.
std::int64_t group_of(numbers const& sizes, std::int64_t i) {
  std::int64_t end = 0;
  for (std::size_t g = 0; g < sizes.values.size(); ++g)
    if (i < (end += sizes.values[g])) return static_cast<std::int64_t>(g);
  return -1;
}

whole dot_by_loops(whole const& x, whole const& w, numbers const& sizes, t::extents_by_letter const& e) {
  whole y{"IK", e, std::vector<double>(static_cast<std::size_t>(e.at('I') * e.at('K')))};
  t::for_each_index("IKJ", e, [&](t::extents_by_letter const& at) {
    t::extents_by_letter in_w = at;
    in_w['B'] = group_of(sizes, at.at('I'));
    if (in_w['B'] >= 0) y.values[y.position(at)] += x.values[x.position(at)] * w.values[w.position(in_w)];
  });
  return y;
}

whole contract_by_loops(whole const& x, whole const& y, numbers const& sizes, t::extents_by_letter const& e) {
  whole w{"BJK", e, std::vector<double>(static_cast<std::size_t>(e.at('B') * e.at('J') * e.at('K')))};
  t::for_each_index("IKJ", e, [&](t::extents_by_letter const& at) {
    t::extents_by_letter in_w = at;
    in_w['B'] = group_of(sizes, at.at('I'));
    if (in_w['B'] >= 0) w.values[w.position(in_w)] += x.values[x.position(at)] * y.values[y.position(at)];
  });
  return w;
}

std::vector<std::vector<std::int64_t>> cuts() {
  return {{3, 2, 4}, {9, 0, 0}, {0, 0, 9}, {0, 0, 0}, {1, 5, 1}, {0, 12, 7}, {-2, 4, 1}};
}

}  // namespace

TEST_CASE("rows times the matrix of their group") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    for (std::int64_t const width : {3, 40}) {
      t::extents_by_letter const e{{'I', 9}, {'B', 3}, {'J', width}, {'K', width + 2}};
      whole const x = t::whole_numbers<double>("IJ", e, 1), w = t::whole_numbers<double>("BJK", e, 2),
                  y = t::whole_numbers<double>("IK", e, 3);
      for (auto const& cut : cuts()) {
        numbers given{"B", e, cut}, sizes = given;
        std::int64_t left = e.at('I');  // groups end within the rows, and none is negative
        for (std::int64_t& s : sizes.values) left -= (s = s < 0 ? 0 : s < left ? s : left);
        auto const n = t::placed<os::tensor<std::int64_t, B>>(m, given);
        auto const xs = t::placed<os::tensor<double, I, J>>(m, x);
        auto const z = os::ragged_dot<I, B>(xs, t::placed<os::tensor<double, B, J, K/X/Y>>(m, w), n);
        static_assert(std::is_same_v<std::remove_const_t<decltype(z)>, os::tensor<double, I, K/X/Y>>);
        CHECK(t::disagreements(m, z, dot_by_loops(x, w, sizes, e)) == 0);
        // The summed axis is divided: the result is summands, which nothing has moved yet.
        auto const of_columns = t::placed<os::tensor<double, I, J/X>>(m, x);
        auto const summands = os::ragged_dot<I, B>(of_columns, t::placed<os::tensor<double, B, J/X, K/Y>>(m, w), n);
        static_assert(std::is_same_v<std::remove_const_t<decltype(summands)>,
                                     os::tensor<double, I, K/Y, os::partial(X)>>);
        CHECK(t::disagreements(m, os::reshard<I, K/Y>(summands), dot_by_loops(x, w, sizes, e)) == 0);
        auto const v = os::ragged_contract<I, B>(xs, t::placed<os::tensor<double, I, K/Y>>(m, y), n);
        static_assert(std::is_same_v<std::remove_const_t<decltype(v)>, os::tensor<double, B, J, K/Y>>);
        CHECK(t::disagreements(m, v, contract_by_loops(x, y, sizes, e)) == 0);
      }
    }
  });
}

TEST_CASE("their derivatives") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 6}, {'B', 3}, {'J', 2}, {'K', 3}};
    for (auto const& cut : {std::vector<std::int64_t>{2, 0, 4}, std::vector<std::int64_t>{1, 1, 2}}) {
      auto const n = t::placed<os::tensor<std::int64_t, B>>(m, numbers{"B", e, cut});
      auto const x = t::placed<os::tensor<double, I, J>>(m, t::whole_numbers<double>("IJ", e, 1));
      auto const w = t::placed<os::tensor<double, B, J, K>>(m, t::whole_numbers<double>("BJK", e, 2));
      t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {
        auto const y = os::ragged_dot<I, B>(os::reshard<I, J>(p), w, n);
        return os::sum<>(y * y * y);
      });
      t::check_by_differences<os::tensor<double, B, J, K/Y>>(m, e, "BJK", [&](auto const& p) {
        auto const y = os::ragged_dot<I, B>(x, p, n);
        return os::sum<>(y * y * y);
      });
      // Divided columns: the cotangent of rows is a sum over them; and weights whose rows are divided.
      auto const columns = os::reshard<B, J, K/X/Y>(w);
      auto const back = os::reshard<B, J/X/Y, K>(w);
      t::check_by_differences<os::tensor<double, I, J>>(m, e, "IJ", [&](auto const& p) {
        auto const y = os::ragged_dot<I, B>(p, columns, n);
        return os::sum<>(y * y * y);
      });
      t::check_by_differences<os::tensor<double, I, J/X/Y>>(m, e, "IJ", [&](auto const& p) {
        auto const y = os::reshard<I, K>(os::ragged_dot<I, B>(p, back, n));
        return os::sum<>(y * y * y);
      });
      t::check_by_differences<os::tensor<double, B, J/Y, K>>(m, e, "BJK", [&](auto const& p) {
        auto const y = os::reshard<I, K>(os::ragged_dot<I, B>(os::reshard<I, J/Y>(x), p, n));
        return os::sum<>(y * y * y);
      });
      // The gradient of half a squared gradient: the rules of the rules.
      t::check_by_differences<os::tensor<double, I, J>>(m, e, "IJ", [&](auto const& p) {
        auto const inner = [&](auto const& q, auto const& rows) {
          auto const y = os::ragged_dot<I, B>(rows, q, n);
          return os::sum<>(y * y);
        };
        auto const g = os::value_and_grad(inner)(w, p).gradient;
        return os::sum<>(g * g);
      });
    }
  });
}

TEST_CASE("extents that differ are errors") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 4}, {'B', 2}, {'J', 3}, {'K', 2}}, other{{'B', 2}, {'J', 2}, {'K', 2}};
    auto const n = t::placed<os::tensor<std::int64_t, B>>(m, numbers{"B", e, {2, 2}});
    auto const x = t::placed<os::tensor<double, I, J>>(m, t::whole_numbers<double>("IJ", e, 1));
    auto const w = t::placed<os::tensor<double, B, J, K>>(m, t::whole_numbers<double>("BJK", other, 1));
    CHECK_THROWS_AS(static_cast<void>(os::ragged_dot<I, B>(x, w, n)), os::error);
  });
}
