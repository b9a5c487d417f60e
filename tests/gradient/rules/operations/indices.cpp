// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of operations by indices and along an axis: take and scatter_add under many shardings, with the bytes
/// that their backwards move; sorted elements, running sums, products and extremes; rows that are written at a
/// position.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using whole = t::global_tensor<double>;

// Whole numbers that are indices into so many.
t::global_tensor<std::int64_t> indices(std::string const& letters, t::extents_by_letter const& e, std::int64_t n) {
  t::global_tensor<std::int64_t> g = t::whole_numbers<std::int64_t>(letters, e, 5);
  for (std::int64_t& v : g.values) v = (v + 6) % n;
  return g;
}

// Offsets that make all elements different.
whole offsets(std::string const& letters, t::extents_by_letter const& e) {
  whole g = t::whole_numbers<double>(letters, e, 1);
  for (std::size_t i = 0; i < g.values.size(); ++i) g.values[i] = 0.003 * static_cast<double>(i);
  return g;
}

template <class P, class F>
whole gradient_by_loops(whole at, F const& f) {  // of f(values), by differences without the library
  whole g = at;
  double const step = 1e-6;
  for (std::size_t i = 0; i < at.values.size(); ++i) {
    double const v = at.values[i];
    at.values[i] = v + step;
    double const up = f(at.values);
    at.values[i] = v - step;
    g.values[i] = (up - f(at.values)) / (2 * step);
    at.values[i] = v;
  }
  return g;
}

bool near(double got, double want) { return std::abs(got - want) <= 1e-7 * (1 + std::abs(want)); }

template <class Table, class Index, auto... Out>
void check_take(t::test_mesh const& m, t::extents_by_letter const& e, os::dims<Out...>) {
  // table[I, J], index[B]: Σ w (table[index])²
  whole const table = t::whole_numbers<double>("IJ", e, 2);
  t::global_tensor<std::int64_t> const index = indices("B", e, e.at('I'));
  whole const weigh = t::whole_numbers<double>("BJ", e, 3);
  auto const ids = t::placed<Index>(m, index);
  auto const w = t::placed<os::tensor<double, Out...>>(m, weigh);
  auto const loss = [&](auto const& p) {
    auto const rows = os::take<I, Out...>(p, ids);
    return os::sum<>(rows * rows * w);
  };
  whole want = table;
  for (double& v : want.values) v = 0;
  auto const columns = static_cast<std::size_t>(e.at('J'));
  for (std::size_t b = 0; b < index.values.size(); ++b)
    for (std::size_t j = 0; j < columns; ++j) {
      std::size_t const at = static_cast<std::size_t>(index.values[b]) * columns + j;
      want.values[at] += 2 * weigh.values[b * columns + j] * table.values[at];
    }
  auto const g = os::value_and_grad(loss)(t::placed<Table>(m, table)).gradient;
  static_assert(std::is_same_v<std::remove_const_t<decltype(g)>, Table>);
  CHECK(t::disagreements(m, g, want, near) == 0);
}

}  // namespace

TEST_CASE("rows of a table under many shardings, against loops") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    for (t::extents_by_letter const& e :
         {t::extents_by_letter{{'B', 6}, {'I', 5}, {'J', 3}}, t::extents_by_letter{{'B', 1}, {'I', 2}, {'J', 0}}}) {
      using os::dims;
      check_take<os::tensor<double, I, J>, os::tensor<std::int64_t, B>>(m, e, dims<B, J>{});
      check_take<os::tensor<double, I, J/Y>, os::tensor<std::int64_t, B/X>>(m, e, dims<B/X, J/Y>{});
      check_take<os::tensor<double, I/X, J>, os::tensor<std::int64_t, B>>(m, e, dims<B, J>{});
      check_take<os::tensor<double, I/X, J>, os::tensor<std::int64_t, B/X>>(m, e, dims<B/X, J>{});
      check_take<os::tensor<double, I/X, J/Y>, os::tensor<std::int64_t, B/Y>>(m, e, dims<B/Y, J/X>{});
    }
  });
}

TEST_CASE("what the backward of a look-up moves") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    for (std::int64_t const rows : {40, 400}) {
      t::extents_by_letter const e{{'B', 8}, {'I', rows}, {'J', 4}};
      auto const table = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 2));
      auto const all = t::placed<os::tensor<std::int64_t, B>>(m, indices("B", e, rows));
      auto const backward = [&](auto const& f) {
        auto const forward = t::traffic_of([&] { static_cast<void>(f(table)); }).bytes;
        return t::traffic_of([&] { static_cast<void>(os::value_and_grad(f)(table)); }).bytes - forward;
      };
      // The cotangents of all rows are on all devices: each adds up those of its part of the table.
      CHECK(backward([&](auto const& p) { return os::sum<>(os::take<I, B, J>(p, all)); }) == 0);

      // Each device has some of the rows: the plan is that of the scatter_add, which reads no index.
      auto const some = t::placed<os::tensor<std::int64_t, B/X>>(m, indices("B", e, rows));
      using summed = os::sharding<os::over<I_axis, X_mesh>, J_axis>;
      os::operation::scatter_add<I_axis, summed, os::detail::promised_range> add;
      add.extent = rows;
      auto const g = t::placed<os::tensor<double, B/X, J>>(m, t::whole_numbers<double>("BJ", e, 3));
      std::int64_t const predicted = os::bytes_of(add, g, some) * m.handle()->devices();
      std::int64_t const b = backward([&](auto const& p) { return os::sum<>(os::take<I, B/X, J>(p, some)); });
      CHECK(b <= predicted);
      CHECK(predicted - b < m.handle()->devices());  // which is rounded up
    }
  });
}

TEST_CASE("gradients of a table that stay partial move nothing") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'B', 8}, {'I', 5}, {'J', 4}};
    auto const table = t::placed<os::tensor<double, I, J>>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const some = t::placed<os::tensor<std::int64_t, B/X>>(m, indices("B", e, 5));
    auto const loss = [&](auto const& p) { return os::sum<>(os::square(os::take<I, B/X, J>(p, some))); };
    auto const forward = t::traffic_of([&] { static_cast<void>(loss(table)); }).bytes;
    auto const deferred = os::value_and_grad<os::deferred_over<X>>(loss);
    CHECK(t::traffic_of([&] { static_cast<void>(deferred(table)); }).bytes == forward);
    auto const partial = deferred(table).gradient;
    static_assert(std::is_same_v<std::remove_const_t<decltype(partial)>, os::tensor<double, I, J, os::partial(X)>>);
    auto const whole_one = os::value_and_grad(loss)(table).gradient;
    CHECK(os::value(os::max<>(os::abs(os::reshard<I, J>(partial) - whole_one))) == 0);
  });
}

namespace {

// An embedding, whose table, tokens and rows are divided, and sums by token of its running sums.
constexpr auto embedding = [](auto const& table, auto const& tokens) {
  auto const rows = os::cumsum<B/X>(os::take<I, B/X, J>(table, tokens));
  auto const sums = os::scatter_add<K, K/X, J>(rows, tokens, K = 16);
  return os::sum<>(os::square(sums));
};
using divided_table = os::tensor<double, I/X, J>;
using divided_tokens = os::tensor<std::int64_t, B/X>;
constexpr auto plan_of_embedding = os::gradient_plan<divided_table, divided_tokens>(embedding);
static_assert(plan_of_embedding.unpriced() == 0);
static_assert(plan_of_embedding.backward.count(os::step::all_gather) <= 1);  // of cotangents, not of the table

}  // namespace

TEST_CASE("what indices and scans move is predicted") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    // A scan is predicted for one device, rounded up: its 12 columns are shared evenly by 1 to 4, 6 and 8 devices.
    t::extents_by_letter const e{{'B', 8}, {'I', 16}, {'J', 12}, {'K', 16}};
    auto const table = t::placed<divided_table>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const tokens = t::placed<divided_tokens>(m, indices("B", e, 16));
    auto const moved = t::traffic_of([&] { static_cast<void>(os::value_and_grad(embedding)(table, tokens)); });
    auto const at = os::sizes(B = 8, I = 16, J = 12, K = 16, X = m.size("X"), Y = m.size("Y"), Z = m.size("Z"));
    CHECK(moved.bytes == plan_of_embedding.total_bytes(at));
  });
}

TEST_CASE("sums by index, an axis that both have, segments") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'B', 4}, {'I', 3}, {'J', 2}};
    auto const ids = t::placed<os::tensor<std::int64_t, B/X>>(m, indices("B", e, 3));
    auto const seen = t::placed<os::tensor<std::int64_t, B>>(m, indices("B", e, 2));
    t::check_by_differences<os::tensor<double, B/X, J/Y>>(m, e, "BJ", [&](auto const& p) {
      auto const x = os::square(p);
      auto const sums = os::scatter_add<I, I/X, J/Y>(x, ids, I = 3);
      auto const parts = os::scatter_add<I, I, J/Y, os::partial(X)>(x, ids, I = 3);
      auto const segments = os::segment_sum<B, I, I, J>(x, ids, I = 3);
      auto const met = os::take<J>(os::reshard<B, J>(x), seen);  // x[b, seen[b]]
      return os::sum<>(sums * sums) + os::sum<>(os::reshard<I, J/Y>(parts) * os::reshard<I, J/Y>(segments)) +
             os::sum<>(met * met * met);
    });
  });
}

TEST_CASE("sorted elements and the largest") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 3}, {'J', 4}, {'K', 2}};
    using matrix = os::tensor<double, I/X, J>;
    auto const apart = t::placed<matrix>(m, offsets("IJ", e));
    auto const weigh = t::placed<matrix>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const few = t::placed<os::tensor<double, I/X, K>>(m, t::whole_numbers<double>("IK", e, 3));
    t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
      auto const x = p + apart;
      auto const sorted = os::sort<J>(x * x);
      auto const by_key = os::sort_by_key<J>(x);
      auto const largest = os::top_k<J, K>(x, K = 2);
      static_assert(std::is_same_v<typename decltype(by_key.permutation)::value_type, std::int64_t>);
      static_assert(os::Tensor<std::remove_const_t<decltype(largest.indices)>>);
      static_assert(os::Tensor<std::remove_const_t<decltype(os::argsort<J>(x))>>);
      return os::sum<>(sorted * weigh * by_key.keys) + os::sum<>(largest.values * largest.values * few);
    });
    using divided = os::tensor<double, I / X, J / Y>;
    auto const apart_there = t::placed<divided>(m, offsets("IJ", e));
    t::check_by_differences<divided>(m, e, "IJ", [&](auto const& p) {
      auto const largest = os::top_k<J / Y, K>(p + apart_there, K = 2);
      static_assert(os::Tensor<std::remove_const_t<decltype(largest.indices)>>);
      return os::sum<>(largest.values * largest.values * few);
    });
  });
}

TEST_CASE("running sums, products and extremes, in both directions, along whole and divided axes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 3}, {'J', 4}};
    using matrix = os::tensor<double, I/X, J/Y>;
    auto const apart = t::placed<matrix>(m, offsets("IJ", e));
    auto const weigh = t::placed<matrix>(m, t::whole_numbers<double>("IJ", e, 2));
    t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
      auto const x = p + apart;
      auto const sums = os::cumsum<J/Y>(x, os::exclusive) * os::cumsum<I/X>(x, os::reversed) + os::cumsum<J/Y>(x);
      auto const products = os::cumprod<J/Y>(x) + os::cumprod<J/Y>(x, os::exclusive | os::reversed);
      auto const extremes = os::cummax<J/Y>(x) * os::cummin<I/X>(x, os::reversed) + os::cummin<J/Y>(x);
      auto const before = os::where(x > 0.0, os::cummax<J/Y>(os::reshard<I/X, J/Y>(x), os::reversed), x);
      return os::sum<>((sums * sums + 0.01 * products * products + extremes * before) * weigh);
    });
  });
}

TEST_CASE("running products of zeros, running extremes of equal elements, exclusive ones") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 3}, {'J', 5}};
    using matrix = os::tensor<double, I/X, J/Y>;
    auto const gradient = [&](auto const& f, whole const& at) {
      return os::value_and_grad(f)(t::placed<matrix>(m, at)).gradient;
    };
    whole const w{"IJ", e, {1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5}};
    whole const zeros{"IJ", e, {2, 0, 3, 4, 5, 0, 2, 0, 3, 1, 1, 2, 3, 4, 0}};
    auto const weigh = t::placed<matrix>(m, w);
    auto const by_loops = [&](std::vector<double> const& x, bool is_exclusive) {
      double sum = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        double so_far = 1;
        for (std::size_t j = 0; j < 5; ++j) {
          double const next = so_far * x[5 * i + j];
          sum += w.values[5 * i + j] * (is_exclusive ? so_far : next);
          so_far = next;
        }
      }
      return sum;
    };
    auto const inclusive = [&](auto const& p) { return os::sum<>(os::cumprod<J/Y>(p) * weigh); };
    auto const exclusive = [&](auto const& p) { return os::sum<>(os::cumprod<J/Y>(p, os::exclusive) * weigh); };
    CHECK(t::disagreements(m, gradient(inclusive, zeros),
                           gradient_by_loops<matrix>(zeros, [&](auto const& x) { return by_loops(x, false); }),
                           near) == 0);
    CHECK(t::disagreements(m, gradient(exclusive, zeros),
                           gradient_by_loops<matrix>(zeros, [&](auto const& x) { return by_loops(x, true); }),
                           near) == 0);
    // and of the gradient
    auto const first = os::value_and_grad(inclusive);
    auto const of_gradient = [&](auto const& p) { return os::sum<>(first(p).gradient * weigh); };
    auto const directional = [&](std::vector<double> x) {  // Σ_k w_k ∂f/∂x_k, f being linear in each x_k
      double sum = 0;
      for (std::size_t k = 0; k < x.size(); ++k) {
        double const v = x[k];
        x[k] = 1;
        double const at_one = by_loops(x, false);
        x[k] = 0;
        sum += w.values[k] * (at_one - by_loops(x, false));
        x[k] = v;
      }
      return sum;
    };
    CHECK(t::disagreements(m, gradient(of_gradient, zeros), gradient_by_loops<matrix>(zeros, directional), near) == 0);

    // The first element that reached it.
    whole const equal{"IJ", e, {1, 3, 2, 3, 4, 2, 2, 2, 1, 2, 5, 4, 3, 2, 1}};
    auto const largest = [&](auto const& p) { return os::sum<>(os::cummax<J/Y>(p) * weigh); };
    CHECK(t::disagreements(m, gradient(largest, equal),
                           whole{"IJ", e, {1, 9, 0, 0, 5, 15, 0, 0, 0, 0, 15, 0, 0, 0, 0}}, near) == 0);
    auto const before = [&](auto const& p) {  // the first has none before it
      auto const found = os::cummax<J/Y>(p, os::exclusive);
      return os::sum<>(os::where(os::isfinite(found), found, 0.0) * weigh);
    };
    CHECK(t::disagreements(m, gradient(before, equal),
                           whole{"IJ", e, {2, 12, 0, 0, 0, 14, 0, 0, 0, 0, 14, 0, 0, 0, 0}}, near) == 0);
  });
}

TEST_CASE("what is written at a position; the cache of a variable stays as it was") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 4}, {'J', 2}};
    auto const cache = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const before = os::copy(cache);
    t::check_by_differences<os::tensor<double, J>>(m, {{'J', 2}}, "J", [&](auto const& p) {
      auto const y = os::write_at<I/X>(os::copy(cache), 2, os::exp(p));
      return os::sum<>(y * y);
    });
    auto const squares = [&](auto const& p) {
      auto const y = os::write_at<I/X>(p, 1, os::sum<J>(p * p));
      return os::sum<>(y * y);
    };
    auto const g = os::value_and_grad(squares)(cache).gradient;
    auto const of_copies = [&](auto const& p) { return squares(os::copy(p)); };
    using matrix = os::tensor<double, I/X, J>;
    CHECK(t::disagreements(m, g, t::slopes<matrix>(of_copies, m, t::whole_numbers<double>("IJ", e, 2)), near) == 0);
    CHECK(os::value(os::sum<>(os::abs(cache - before))) == 0);
  });
}

TEST_CASE("the gradient of a gradient") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 3}, {'J', 4}, {'K', 2}};
    using matrix = os::tensor<double, I/X, J>;
    auto const apart = t::placed<matrix>(m, offsets("IJ", e));
    auto const weigh = t::placed<matrix>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const ids = t::placed<os::tensor<std::int64_t, K>>(m, indices("K", e, 3));
    auto const first = os::value_and_grad([&](auto const& p) {
      auto const x = p + apart;
      auto const rows = os::take<I, K, J>(x, ids);
      auto const back = os::scatter_add<I, I/X, J>(rows * rows * rows, ids, I = 3);
      auto const along = os::cumsum<I/X>(x * x) + os::cumprod<J>(x) + os::cummax<J>(x * x) + os::sort<J>(x * x);
      return os::sum<>(back * back + along * along);
    });
    t::check_by_differences<matrix>(m, e, "IJ", [&](auto const& p) {
      return os::mean<>(first(p).gradient * weigh);
    });
  });
}
