// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::argmax, argmin, norm, variance, count, any and all over local, divided and several axes against plain loops:
/// random extents and seeds, equal elements, NaN, blocks that are uneven or empty; the predicted bytes against the
/// counted.
// labels: essential
// sham: always

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/draws.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

std::string without(std::string const& letters, std::string const& some) {
  std::string rest;
  for (char l : letters)
    if (some.find(l) == std::string::npos) rest += l;
  return rest;
}

/// The places of the elements of these letters, row-major over them, in the given order.
std::vector<std::int64_t> places(std::string const& letters, std::string const& all, t::extents_by_letter const& e) {
  std::vector<std::int64_t> at{0};
  for (char l : letters) {
    std::int64_t step = 1;
    for (std::size_t k = all.find(l) + 1; k < all.size(); ++k) step *= e.at(all[k]);
    std::vector<std::int64_t> next;
    for (std::int64_t before : at)
      for (std::int64_t i = 0; i < e.at(l); ++i) next.push_back(before + i * step);
    at = next;
  }
  return at;
}

/// f(the elements of one element of the result, in order) for each of them.
template <class R, class T, class F>
t::global_tensor<R> by_rows(std::string const& out, t::global_tensor<T> const& g, F const& f) {
  t::global_tensor<R> r{out, g.extents, {}};
  auto const inner = places(without(g.labels, out), g.labels, g.extents);
  std::vector<T> row(inner.size());
  for (std::int64_t at : places(out, g.labels, g.extents)) {
    for (std::size_t k = 0; k < inner.size(); ++k) row[k] = g.values[static_cast<std::size_t>(at + inner[k])];
    r.values.push_back(static_cast<R>(f(row)));
  }
  return r;
}

template <class T>
double wide(T const& x) {
  return static_cast<double>(x);
}
template <class T>
Kokkos::complex<double> wide(Kokkos::complex<T> const& x) {
  return {static_cast<double>(x.real()), static_cast<double>(x.imag())};
}
double square(double x) { return x * x; }
double square(Kokkos::complex<double> const& x) { return x.real() * x.real() + x.imag() * x.imag(); }

template <bool Largest, class T>
std::int64_t first_extreme(std::vector<T> const& row) {
  std::size_t best = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    double const x = wide(row[k]), b = wide(row[best]);
    if (b != b) break;
    if (x != x || (Largest ? x > b : x < b)) best = k;
  }
  return static_cast<std::int64_t>(best);
}

template <class T>
double variance_of(std::vector<T> const& row, int less) {
  using sum = decltype(wide(T()));
  sum total(0);
  for (T const& x : row) total += wide(x);
  auto const n = static_cast<double>(row.size());
  sum const mean = total * (1 / n);
  long double squares = 0;  // a thousand roundings of doubles are more than the library's
  for (T const& x : row) squares += square(wide(x) - mean);
  return static_cast<double>(squares) / std::max(n - less, 0.0);
}

template <class T>
double norm_of(std::vector<T> const& row) {
  double squares = 0;
  for (T const& x : row) squares += square(wide(x));
  return std::sqrt(squares);
}

template <class T>
std::int64_t nonzeros(std::vector<T> const& row) {
  std::int64_t n = 0;
  for (T const& x : row) n += wide(x) != decltype(wide(x))(0) ? 1 : 0;
  return n;
}

/// Equal but for some roundings of the result's type; NaN is NaN.
template <class R>
auto about(double per_rounding) {
  return [=](R const& got, R const& wanted) {
    double const g = static_cast<double>(got), w = static_cast<double>(wanted);
    if (w != w || std::isinf(w)) return w != w ? g != g : g == w;
    return std::abs(g - w) <= per_rounding * static_cast<double>(std::numeric_limits<R>::epsilon()) * std::abs(w);
  };
}

bool has_elements(std::string const& letters, t::extents_by_letter const& e) {
  for (char l : letters)
    if (e.at(l) == 0) return false;
  return true;
}

/// For element types with an order.
template <class A, auto... Out>
void check_order(t::test_mesh const& m, t::global_tensor<typename A::value_type> const& g, std::string const& out) {
  using T = typename A::value_type;
  auto const a = t::placed<A>(m, g);
  if (!has_elements(without(g.labels, out), g.extents)) {
    CHECK_THROWS_WITH_AS(static_cast<void>(os::argmax<Out...>(a)),
                         doctest::Contains("argmax: the result is one of the elements"), os::error);
    return;
  }
  auto const largest = os::argmax<Out...>(a);
  static_assert(std::is_same_v<typename decltype(largest)::value_type, std::int64_t>);
  CHECK(t::disagreements(m, largest, by_rows<std::int64_t>(out, g, first_extreme<true, T>)) == 0);
  CHECK(t::disagreements(m, os::argmin<Out...>(a), by_rows<std::int64_t>(out, g, first_extreme<false, T>)) == 0);
}

template <class A, auto... Out>
void check_sums(t::test_mesh const& m, t::global_tensor<typename A::value_type> const& g, std::string const& out) {
  using T = typename A::value_type;
  auto const a = t::placed<A>(m, g);
  auto const norm = os::norm<Out...>(a);
  using R = typename decltype(norm)::value_type;
  auto const narrow = about<R>(4);
  CHECK(t::disagreements(m, norm, by_rows<R>(out, g, norm_of<T>), narrow) == 0);
  CHECK(t::disagreements(m, os::variance<Out...>(a),
                         by_rows<R>(out, g, [](auto const& row) { return variance_of(row, 0); }), about<R>(64)) == 0);
  CHECK(t::disagreements(m, os::standard_deviation<Out...>(a, os::ddof(1)),
                         by_rows<R>(out, g, [](auto const& row) { return std::sqrt(variance_of(row, 1)); }),
                         about<R>(64)) == 0);
  CHECK(t::disagreements(m, os::count<Out...>(a), by_rows<std::int64_t>(out, g, nonzeros<T>)) == 0);
  using number = std::int32_t;
  CHECK(t::disagreements(m, os::cast<number>(os::any<Out...>(a)), by_rows<number>(out, g, [](auto const& row) {
                           return nonzeros(row) > 0 ? 1 : 0;
                         })) == 0);
  CHECK(t::disagreements(m, os::cast<number>(os::all<Out...>(a)), by_rows<number>(out, g, [](auto const& row) {
                           return nonzeros(row) == static_cast<std::int64_t>(row.size()) ? 1 : 0;
                         })) == 0);
  if constexpr (std::is_same_v<T, double>)
    CHECK(t::disagreements(m, os::count<Out...>(a != 0), by_rows<std::int64_t>(out, g, nonzeros<T>)) == 0);
}

template <class A, auto... Out>
void check_all(t::test_mesh const& m, t::global_tensor<typename A::value_type> const& g, std::string const& out) {
  check_order<A, Out...>(m, g, out);
  check_sums<A, Out...>(m, g, out);
}

/// Small extents, with many ties and blocks without elements; every few an extent of some hundreds.
t::extents_by_letter random_extents(std::uint64_t seed) {
  t::draws draw(seed);
  t::extents_by_letter e{{'I', draw(9)}, {'J', draw(14)}, {'K', 1 + draw(5)}};
  if (draw(4) == 0) e['J'] = 200 + draw(1100);
  if (draw(4) == 0) e['K'] = 250 + draw(20);
  return e;
}

}  // namespace

TEST_CASE("reductions of random extents over whole, divided and several axes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      auto const e = random_extents(seed);
      INFO(m.text(), t::text_of(e), "seed ", seed);
      auto const two = t::whole_numbers<double>("IJ", e, seed);
      check_all<os::tensor<double, I/X, J/Y>, I/X>(m, two, "I");
      check_all<os::tensor<double, I, J/Y/X>, I/X>(m, two, "I");
      check_all<os::tensor<double, I/X, J/Y>, J>(m, two, "J");
      auto const three = t::whole_numbers<float>("IJK", e, seed);
      check_all<os::tensor<float, I/X, J/Y, K>, J/Y>(m, three, "J");
      check_all<os::tensor<float, I, J/X, K/Y>, K/Y, I>(m, three, "KI");
      check_all<os::tensor<float, I/X, J, K>>(m, three, "");
    }
  });
}

TEST_CASE("reductions of other element types") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::uint64_t seed = 11; seed <= 12; ++seed) {
      auto const e = random_extents(seed);
      INFO(m.text(), t::text_of(e), "seed ", seed);
      check_all<os::tensor<std::int32_t, I/X, J/Y>, I/X>(m, t::whole_numbers<std::int32_t>("IJ", e, seed), "I");
      check_order<os::tensor<os::bfloat16, I/X, J/Y>, J/Y>(m, t::whole_numbers<os::bfloat16>("IJ", e, seed), "J");
      check_sums<os::tensor<os::float16, I/X, J/Y>, I/X>(m, t::whole_numbers<os::float16>("IJ", e, seed), "I");
      using complex = Kokkos::complex<float>;
      check_sums<os::tensor<complex, I/X, J/Y>, I/X>(m, t::whole_numbers<complex>("IJ", e, seed), "I");
    }
  });
}

TEST_CASE("the first NaN wins, infinities have their places, and equal elements are distinguished by their index") {
  t::on_every_mesh([](t::test_mesh const& m) {
    double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    auto g = t::whole_numbers<double>("IJ", {{'I', 6}, {'J', 40}}, 3);
    auto const at = [&](std::size_t i, std::size_t j) -> double& { return g.values[i * 40 + j]; };
    at(0, 31) = at(0, 17) = nan;
    for (std::size_t j = 0; j < 40; ++j) at(1, j) = -inf, at(2, j) = 5, at(3, j) = nan, at(4, j) = -0.0;
    at(4, 20) = 0.0;
    at(5, 39) = inf;
    INFO(m.text());
    check_order<os::tensor<double, I/X, J/Y>, I/X>(m, g, "I");
    check_order<os::tensor<double, I, J/X/Y>, I>(m, g, "I");
    check_order<os::tensor<double, I/X, J/Y>>(m, g, "");
  });
}

TEST_CASE("indices over several axes where a block has one index along the last of them") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::global_tensor<double> const two{"IJ", {{'I', 2}, {'J', 2}}, {0, 1, 5, 2}};  // the largest at (1, 0)
    CHECK(os::value(os::argmax<>(t::placed<os::tensor<double, I, J / X>>(m, two))) == 2);
    for (std::int64_t i = 1; i < 4; ++i)
      for (std::int64_t j = 1; j < 4; ++j)
        for (std::int64_t k = 1; k < 4; ++k) {
          t::extents_by_letter const e{{'I', i}, {'J', j}, {'K', k}};
          INFO(m.text(), t::text_of(e));
          auto const g = t::whole_numbers<double>("IJK", e, 3);
          check_order<os::tensor<double, I, J / Y, K / X>>(m, g, "");
          check_order<os::tensor<double, I, J, K / X / Y>, I>(m, g, "I");
        }
  });
}

TEST_CASE("rows of all lengths about those of vectors, and long ones side by side, of which some are left over") {
  t::on_every_mesh([](t::test_mesh const& m) {
    double const inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (auto const& [rows, columns] : {std::pair{27, 1100}, {8, 1030}, {40, 31}, {33, 64}, {3, 95}}) {
      t::extents_by_letter const e{{'I', rows}, {'J', columns}};
      INFO(m.text(), t::text_of(e));
      auto g = t::whole_numbers<double>("IJ", e, 9);
      check_all<os::tensor<double, I/X, J/Y>, I/X>(m, g, "I");
      check_all<os::tensor<double, I/X, J/Y>, J>(m, g, "J");
      check_order<os::tensor<os::bfloat16, I/X, J/Y>, J/Y>(m, t::whole_numbers<os::bfloat16>("IJ", e, 8), "J");
      std::size_t const n = g.values.size();
      for (std::size_t k = 7; k < n; k += 11) g.values[k] = -inf;
      for (std::size_t k = n / 3; k < n; k += n / 5) g.values[k] = nan, g.values[k - 1] = inf;
      check_order<os::tensor<double, I/X, J/Y>, I/X>(m, g, "I");
      check_order<os::tensor<double, I/X, J/Y>, J>(m, g, "J");
    }
  });
}

TEST_CASE("a variance keeps its digits where the mean is large, a norm where squares do not fit") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 9001}};
    auto g = t::whole_numbers<double>("IJ", e, 5);
    auto f = t::whole_numbers<float>("IJ", e, 6);
    INFO(m.text());
    check_order<os::tensor<double, I/X, J/Y>, I/X>(m, g, "I");
    check_order<os::tensor<double, I/X, J/Y>, J>(m, g, "J");
    auto const variance = [](auto const& row) { return variance_of(row, 0); };
    auto const of_rows = by_rows<double>("I", g, variance), of_columns = by_rows<double>("J", g, variance);
    auto const of_floats = by_rows<float>("I", f, variance);
    for (double& x : g.values) x += 1e9;  // it changes no variance, and is exact
    for (float& x : f.values) x += 1e6f;
    auto const a = t::placed<os::tensor<double, I/X, J/Y>>(m, g);
    CHECK(t::disagreements(m, os::variance<I/X>(a), of_rows, about<double>(64)) == 0);
    CHECK(t::disagreements(m, os::variance<J/Y>(a), of_columns, about<double>(64)) == 0);
    CHECK(t::disagreements(m, os::variance<I/X>(t::placed<os::tensor<float, I/X, J/Y>>(m, f)), of_floats,
                           about<float>(4)) == 0);
    auto const of_size = [&](float scale) {
      auto scaled = t::whole_numbers<float>("IJ", e, 7);
      for (float& x : scaled.values) x *= scale;
      auto const norms = os::norm<I/X>(t::placed<os::tensor<float, I/X, J/Y>>(m, scaled));
      CHECK(t::disagreements(m, norms, by_rows<float>("I", scaled, norm_of<float>), about<float>(4)) == 0);
    };
    of_size(1e30f);
    of_size(1e-38f);
  });
}

TEST_CASE("a variance of infinite elements is none, and one whose squares do not fit is infinite") {
  t::on_every_mesh([](t::test_mesh const& m) {
    double const inf = std::numeric_limits<double>::infinity();
    t::extents_by_letter const e{{'I', 4}, {'J', 95}};
    auto g = t::whole_numbers<double>("IJ", e, 4);
    auto const at = [&](std::size_t i, std::size_t j) -> double& { return g.values[i * 95 + j]; };
    at(0, 0) = at(1, 40) = inf;
    at(2, 94) = -inf;
    for (std::size_t j = 0; j < 95; ++j) at(3, j) = j % 2 == 0 ? 1e160 : -1e160;
    INFO(m.text());
    check_sums<os::tensor<double, I/X, J>, I/X>(m, g, "I");
    check_sums<os::tensor<double, I/X, J/Y>, I/X>(m, g, "I");
    check_sums<os::tensor<double, I/X, J/Y>, J>(m, g, "J");
  });
}

TEST_CASE("reductions move what they say") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const a = t::placed<os::tensor<float, I/X, J/Y>>(m, t::whole_numbers<float>("IJ", {{'I', 16}, {'J', 24}}, 1));
    auto const moves = [&](auto const& operation) {
      std::int64_t const moved = t::traffic_of([&] { (void)os::detail::operate(operation, a); }).bytes;
      CHECK((moved + t::ranks() - 1) / t::ranks() == os::bytes_of(operation, a));
      return moved;
    };
    INFO(m.text());
    using rows = os::sharding_of<I/X>;
    using columns = os::sharding_of<J/Y>;
    moves(os::operation::argmax<rows>{});
    moves(os::operation::argmin<columns>{});
    moves(os::operation::variance<rows>{1});
    moves(os::operation::norm<rows>{});
    moves(os::operation::norm<os::sharding_of<I/X/Y>>{});
    moves(os::operation::count<columns>{});
    moves(os::operation::truth_of_elements<os::reduction::max, rows>{});
    CHECK(moves(os::operation::argmax<os::sharding_of<I/X, J/Y>>{}) == 0);
  });
}

TEST_CASE("in a body the axes of a block are whole") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const g = t::whole_numbers<double>("IJ", {{'I', 7}, {'J', 11}}, 2);
    auto const a = t::placed<os::tensor<double, I/X, J/Y>>(m, g);
    INFO(m.text());
    auto const of_block = [](auto const& block) { return os::argmax<I>(os::all_gather<J/Y>(block)); };
    auto const of_rows = os::shard_map<I/X>(of_block, a);
    CHECK(t::disagreements(m, of_rows, by_rows<std::int64_t>("I", g, first_extreme<true, double>)) == 0);
    auto const over_x = [](auto const& block) { return os::variance<I>(block); };
    auto const b = t::placed<os::tensor<double, I/X, J>>(m, g);
    CHECK(t::disagreements(m, os::shard_map<I/X>(over_x, b), by_rows<double>("I", g, [](auto const& row) {
                             return variance_of(row, 0);
                           }), about<double>(64)) == 0);
  });
}

TEST_CASE("whether a block has elements enough is known to all devices, or all of them throw") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const a = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", {{'I', 1}, {'J', 3}}, 2));
    INFO(m.text());
    // Two rows on one device and none on the others: after the concatenation the devices no longer know each other's
    // extents.
    bool const are_unknown = m.size("X") > 1;
    auto const refused = [](auto const& find) {
      try {
        find();
      } catch (os::error const& e) {
        return std::string(e.what()).find("each device's own") != std::string::npos;
      }
      return false;
    };
    static_cast<void>(os::shard_map<I/X, J>(
        [&](auto block) {
          auto const twice = os::concatenate<I>(block, block);
          CHECK(refused([&] { static_cast<void>(os::argmax<J>(twice)); }) == are_unknown);
          CHECK(refused([&] { static_cast<void>(os::argmin<>(twice)); }) == are_unknown);
          CHECK(refused([&] { static_cast<void>(os::top_k<I, K>(twice, K = 1)); }) == are_unknown);
          return block;
        },
        a));
  });
}
