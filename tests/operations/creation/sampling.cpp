// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::sample against plain loops that sort a row, drop what the options drop, and take the largest of log p + g, with
/// random numbers that the test makes itself: on every mesh, for random extents with parts that are empty, equal
/// logits, NaN, infinities, 16 bits; the frequencies of tokens; what is moved; options that are out of range.
// labels: essential
// checked: 4
// sham: always

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "support/draws.hpp"
#include "support/on_meshes.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Philox4x32-10 (Salmon et al. 2011) of counter (index, stream 7, 0): a number between 0 and 1.
double uniform_number(std::uint64_t key, std::uint64_t index) {
  std::uint32_t c[4] = {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 7, 0};
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    std::uint64_t const a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    std::uint32_t const next[4] = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
                                   static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
    std::copy(next, next + 4, c);
  }
  std::uint64_t const bits = (static_cast<std::uint64_t>(c[0]) << 32 | c[1]) >> 12;
  return (static_cast<double>(bits) + 0.5) / 4503599627370496.0;
}

struct options {
  double temperature = 1;
  std::int64_t top_k = 0;
  double top_p = 1, min_p = 0;
};

// The weights of a row's tokens, the largest 1, and 0 of those that are dropped. Ties are kept together.
std::vector<long double> weights_of(std::vector<double> const& x, options const& o) {
  double const most = *std::max_element(x.begin(), x.end());
  std::vector<long double> w;
  for (double v : x)
    w.push_back(v == most ? 1
                          : std::exp((static_cast<long double>(v) - most) / static_cast<long double>(o.temperature)));
  std::vector<double> sorted = x;
  std::sort(sorted.rbegin(), sorted.rend());
  if (o.top_k > 0 && o.top_k < static_cast<std::int64_t>(x.size()))
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] < sorted[static_cast<std::size_t>(o.top_k) - 1]) w[i] = 0;
  if (o.top_p < 1) {
    long double all = 0, above = 0;
    for (long double v : w) all += v;
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] > x[b]; });
    for (std::size_t i = 0; i < order.size();) {
      long double here = 0;
      bool const drops = x[order[i]] != most && above >= static_cast<long double>(o.top_p) * all;
      for (double const v = x[order[i]]; i < order.size() && x[order[i]] == v; ++i) {
        here += w[order[i]];
        if (drops) w[order[i]] = 0;
      }
      above += here;
    }
  }
  for (long double& v : w) v = v < static_cast<long double>(o.min_p) ? 0 : v;
  return w;
}

// The tokens that transformers' warpers keep (generation/logits_process.py), one warper after the other: each sets what
// it drops to −∞. Where logits are equal, top-p keeps the last ones of its sort.
std::vector<bool> kept_by_warpers(std::vector<double> x, options const& o) {
  std::size_t const n = x.size();
  for (double& v : x) v /= o.temperature;
  std::vector<std::size_t> ascending(n);
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::sort(ascending.begin(), ascending.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  auto const probabilities = [&] {
    std::vector<double> p;
    double sum = 0;
    for (double const v : x) p.push_back(std::exp(v - x[ascending[n - 1]])), sum += p.back();
    for (double& v : p) v /= sum;
    return p;
  };
  if (o.top_k > 0) {
    double const last = x[ascending[n - std::min(n, static_cast<std::size_t>(o.top_k))]];
    for (double& v : x) v = v < last ? -infinity : v;
  }
  std::vector<double> p = probabilities();
  double cumulated = 0;
  for (std::size_t i = 0; i + 1 < n && o.top_p < 1; ++i) {
    cumulated += p[ascending[i]];
    if (cumulated <= 1 - o.top_p) x[ascending[i]] = -infinity;
  }
  p = probabilities();
  std::vector<bool> kept;
  for (std::size_t i = 0; i < n; ++i) kept.push_back(x[i] > -infinity && p[i] >= o.min_p * p[ascending[n - 1]]);
  return kept;
}

// The token of row number `row`.
std::int64_t drawn(std::vector<double> const& x, options const& o, std::uint64_t key, std::int64_t row) {
  double most = -infinity;
  for (double v : x) {
    if (std::isnan(v)) return -1;
    most = std::max(most, v);
  }
  if (most == -infinity) return -1;
  if (o.temperature == 0) return std::max_element(x.begin(), x.end()) - x.begin();
  std::vector<long double> const w = weights_of(x, o);
  std::int64_t best = -1;
  double largest = 0;
  for (std::size_t v = 0; v < x.size(); ++v) {
    double const relative = x[v] == most ? 0 : (x[v] - most) / o.temperature;
    if (w[v] == 0 || relative == -infinity) continue;
    auto const index = static_cast<std::uint64_t>(row) * x.size() + v;
    double const score = relative - std::log(-std::log(uniform_number(key, index)));
    if (best < 0 || score > largest) best = static_cast<std::int64_t>(v), largest = score;
  }
  return best;
}

// The tokens of all rows along J.
template <class T>
t::global_tensor<std::int64_t> drawn_of_all(t::global_tensor<T> const& g, options const& o, std::uint64_t key) {
  std::string rows = g.labels;
  rows.erase(rows.find('J'), 1);
  t::global_tensor<std::int64_t> tokens{rows, g.extents, {}};
  tokens.extents.erase('J');
  std::int64_t row = 0;
  t::for_each_index(rows, g.extents, [&](t::extents_by_letter at) {
    std::vector<double> x;
    for (std::int64_t j = 0; j < g.extents.at('J'); ++j) {
      at['J'] = j;
      x.push_back(static_cast<double>(g.values[g.position(at)]));
    }
    tokens.values.push_back(x.empty() ? -1 : drawn(x, o, key, row));
    ++row;
  });
  return tokens;
}

template <auto Along, class A>
auto sampled(A const& a, options const& o, std::uint64_t key) {
  return os::sample<Along>(a, os::top_p(o.top_p), os::temperature(o.temperature), os::seed(key), os::top_k(o.top_k),
                           os::min_p(o.min_p));
}

std::vector<options> usual_options(std::int64_t elements) {
  return {{},
          {0},
          {0.5},
          {3, 2},
          {1, 1},
          {1, 3},
          {1, elements},
          {1, elements + 5},
          {2, 0, 0.5},
          {1, 0, 0},
          {1, 0, 0.999},
          {1, 4, 0.7},
          {5, 0, 1, 0.3},
          {1, 0, 1, 1},
          {4, 6, 0.8, 0.2},
          {1e-300, 5, 0.9},
          {1e300}};
}

template <class A, auto Along>
void check_tokens(t::test_mesh const& m, t::global_tensor<typename A::value_type> const& g, std::uint64_t key) {
  auto const a = t::placed<A>(m, g);
  for (options const& o : usual_options(g.extents.at('J'))) {
    INFO("temperature ", o.temperature, ", top_k ", o.top_k, ", top_p ", o.top_p, ", min_p ", o.min_p);
    CHECK(t::disagreements(m, sampled<Along>(a, o, key), drawn_of_all(g, o, key)) == 0);
    os::operation::sample<os::detail::type_of<Along>> operation;
    operation.how = {o.temperature, o.top_k, o.top_p, o.min_p};
    std::int64_t const moved = t::traffic_of([&] { return sampled<Along>(a, o, key); }).bytes, ranks = t::ranks();
    CHECK(os::bytes_of(operation, a) == (moved + ranks - 1) / ranks);
  }
}

// Numbers between −8 and 8, no two of them alike.
template <class T>
t::global_tensor<T> unlike_numbers(std::string const& labels, t::extents_by_letter const& e, std::uint64_t seed) {
  t::global_tensor<T> g{labels, e, {}};
  t::draws draw(seed);
  for (std::int64_t i = t::number_of_elements(labels, e); i > 0; --i)
    g.values.push_back(static_cast<T>(static_cast<double>(draw(1 << 30)) / (1 << 26) - 8));
  return g;
}

}  // namespace

TEST_CASE("the tokens of rows that are divided, of random extents") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      t::draws draw(seed);
      t::extents_by_letter const e{{'I', draw(9)}, {'J', draw(3) == 0 ? 60 + draw(200) : draw(14)}, {'K', 1 + draw(5)}};
      INFO(m.text(), t::text_of(e), "seed ", seed);
      check_tokens<os::tensor<double, I/X, J/Y>, J/Y>(m, unlike_numbers<double>("IJ", e, seed), seed);
      check_tokens<os::tensor<float, J/X/Y, I>, J/X/Y>(m, t::whole_numbers<float>("JI", e, seed), seed << 40);
      check_tokens<os::tensor<os::float16, I/Y, J/X, K>, J/X>(m, t::whole_numbers<os::float16>("IJK", e, seed),
                                                                    seed);
      check_tokens<os::tensor<os::bfloat16, K/Y, I, J>, J>(m, t::whole_numbers<os::bfloat16>("KIJ", e, seed), seed);
    }
  });
}

TEST_CASE("without equal logits, what the loops keep is what the warpers of transformers keep") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    std::int64_t const n = 1 + static_cast<std::int64_t>(seed * 7 % 50);
    auto const g = unlike_numbers<double>("J", {{'J', n}}, seed);
    for (options const& o : usual_options(n)) {
      if (o.temperature < 1e-200) continue;  // where the warpers divide by 0, or overflow
      std::vector<bool> kept;
      for (long double const w : weights_of(g.values, o)) kept.push_back(w > 0);
      INFO("seed ", seed, ", temperature ", o.temperature, ", top_k ", o.top_k, ", top_p ", o.top_p, ", min_p ",
           o.min_p);
      CHECK(kept == kept_by_warpers(g.values, o));
    }
  }
}

TEST_CASE("the tokens of all small extents") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 4; ++j) {
        t::extents_by_letter const e{{'I', i}, {'J', j}};
        INFO(m.text(), t::text_of(e));
        check_tokens<os::tensor<float, I/X, J/Y>, J/Y>(m, t::whole_numbers<float>("IJ", e, 5), 17);
      }
  });
}

TEST_CASE("rows longer than the runs of a kernel") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 2}, {'J', 9001}};
    INFO(m.text());
    auto const g = unlike_numbers<float>("IJ", e, 3);
    auto const a = t::placed<os::tensor<float, I, J/Y>>(m, g);
    for (options const& o : {options{}, options{1, 700}, options{1, 0, 0.3}, options{2, 5000, 0.9, 0.001}})
      CHECK(t::disagreements(m, sampled<J/Y>(a, o, 8), drawn_of_all(g, o, 8)) == 0);
  });
}

TEST_CASE("NaN, infinities, -0, and logits far from 0") {
  t::on_every_mesh([](t::test_mesh const& m) {
    double const nan = std::numeric_limits<double>::quiet_NaN(), most = std::numeric_limits<double>::max();
    t::global_tensor<double> const g{
        "IJ", {{'I', 9}, {'J', 5}}, {1,         2,         nan,       4,         5,          //
                                     -infinity, -infinity, -infinity, -infinity, -infinity,  //
                                     1,         infinity,  2,         infinity,  3,          //
                                     -infinity, 3,         -infinity, 2.5,       -infinity,  //
                                     -0.0,      0.0,       -0.0,      0.0,       -0.0,       //
                                     most,      -most,     most,      -infinity, 0,          //
                                     1e15,      1e15 + 1,  1e15 - 1,  1e15 + 2,  1e15,       //
                                     -nan,      infinity,  1,         2,         3,          //
                                     -1e300,    -1e300,    -infinity, -1.1e300,  -1e300}};
    INFO(m.text());
    for (std::uint64_t key = 0; key < 20; ++key) {
      check_tokens<os::tensor<double, I/X, J/Y>, J/Y>(m, g, key);
      t::global_tensor<float> narrow{g.labels, g.extents, {}};
      for (double v : g.values) narrow.values.push_back(static_cast<float>(v));
      check_tokens<os::tensor<float, J/X, I/Y>, J/X>(m, {"JI", {{'I', 5}, {'J', 9}}, narrow.values}, key);
    }
  });
}

TEST_CASE("tokens come as often as their probabilities say") {
  // Pearson's statistic of c kinds has c − 1 degrees of freedom; the seed is fixed.
  t::test_mesh const m({"XYZ", {t::ranks(), 1, 1}});
  constexpr std::int64_t rows = 5000, elements = 11;
  std::vector<double> x;
  for (std::int64_t j = 0; j < elements; ++j) x.push_back(static_cast<double>(j * 7 % elements) / 4);
  t::global_tensor<float> g{"IJ", {{'I', rows}, {'J', elements}}, {}};
  for (std::int64_t i = 0; i < rows; ++i)
    for (double const v : x) g.values.push_back(static_cast<float>(v));
  auto const a = t::placed<os::tensor<float, I, J/X>>(m, g);
  for (options const& o : {options{}, options{0.7}, options{1, 4}, options{1.5, 0, 0.8}, options{1, 0, 1, 0.25},
                           options{2, 8, 0.9, 0.1}}) {
    INFO("temperature ", o.temperature, ", top_k ", o.top_k, ", top_p ", o.top_p, ", min_p ", o.min_p);
    std::vector<long double> const w = weights_of(x, o);
    long double all = 0;
    for (long double const v : w) all += v;
    auto const tokens = sampled<J/X>(a, o, 2);
    std::vector<std::int64_t> found(x.size());
    for (std::int64_t const v : t::read_elements(tokens.local().data(), tokens.local().size()))
      ++found.at(static_cast<std::size_t>(v));
    double squares = 0;
    int kinds = 0;
    for (std::size_t v = 0; v < x.size(); ++v) {
      auto const expected = static_cast<double>(rows * (w[v] / all));
      CHECK((found[v] > 0) == (expected > 0));
      if (expected == 0) continue;
      double const off = static_cast<double>(found[v]) - expected;
      squares += off * off / expected;
      ++kinds;
    }
    // One sample of a thousand is beyond the bound (Wilson and Hilferty's approximation).
    double const freedom = kinds - 1, part = 2 / (9 * freedom);
    CHECK(kinds > 2);
    CHECK(squares < freedom * std::pow(1 - part + 3.09 * std::sqrt(part), 3));
  }
}

TEST_CASE("in a body, blocks along which logits vary draw differently, and replicas alike") {
  t::on_every_mesh([](t::test_mesh const& m) {
    if (m.size("Z") > 1) return;
    auto const x = t::placed<os::tensor<float, I/X, J>>(
        m,
        {"IJ", {{'I', 50 * m.size("X")}, {'J', 90}}, std::vector<float>(static_cast<std::size_t>(4500 * m.size("X")))});
    auto const y = os::shard_map<I/X>([](auto const& a) { return os::sample<J>(a, os::seed(1)); }, x);
    auto const own = t::read_elements(y.local().data(), y.local().size());
    std::vector<char> bytes;
    for (std::int64_t const v : own) bytes.push_back(static_cast<char>(v));
    auto const all = t::bytes_of_ranks(bytes);
    for (int r = 0; r < t::ranks(); ++r)
      CHECK((all[static_cast<std::size_t>(r)] == bytes) == (m.coordinate("X", r) == m.coordinate("X", t::rank())));
  });
}

TEST_CASE("options that are out of range, on all ranks before anything is sent") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const a =
        t::placed<os::tensor<float, I/X, J/Y>>(m, t::whole_numbers<float>("IJ", {{'I', 5}, {'J', 4}}, 3));
    auto const refuses = [&](auto const& option, char const* why) {
      std::string said;
      auto const traffic = t::traffic_of(
          [&] { said = t::said_alike([&] { static_cast<void>(os::sample<J/Y>(a, os::seed(1), option)); }); });
      CHECK(said.find(std::string("sample: ") + why) == 0);
      CHECK(traffic.bytes == 0);
    };
    double const nan = std::numeric_limits<double>::quiet_NaN();
    for (double const wrong : {-0.5, nan, infinity})
      refuses(os::temperature(wrong), "os::temperature is finite and not negative, but ");
    refuses(os::top_k(-1), "os::top_k is a number of tokens and not negative, but -1 was given");
    for (double const wrong : {-0.5, 1.01, nan}) refuses(os::top_p(wrong), "os::top_p is a sum of probabilities");
    for (double const wrong : {-0.5, 1.01, nan}) refuses(os::min_p(wrong), "os::min_p is a share");
  });
}
