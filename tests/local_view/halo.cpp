// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Halos against plain loops over the whole tensor, on every mesh, with uneven, narrow and empty blocks: wide halos,
/// corners, rings and ends, in place and into blocks, begun and waited for; stencils, also of stride 2, and
/// convolutions.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;

template <class F>
void on_all(F&& f) {
  std::vector<t::extents_by_letter> all = t::usual_extents();
  all.push_back({{'B', 5}, {'I', 17}, {'J', 11}, {'K', 1}, {'L', 1}});
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : all) {
      INFO(m.text(), t::text_of(e));
      f(m, e);
    }
  });
}

template <class A>
t::global_tensor<double> numbers(t::extents_by_letter const& e, int seed) {
  return t::whole_numbers<double>(t::letters_in<A>(), e, static_cast<std::uint64_t>(seed));
}

struct padding {
  int width = 0;
  bool ring = false;
};

// The element at these global indices, some of which are beyond the ends.
double element(t::global_tensor<double> const& g, std::vector<std::int64_t> at, std::vector<padding> const& p,
               double beyond) {
  t::extents_by_letter index;
  for (std::size_t d = 0; d < at.size(); ++d) {
    std::int64_t const n = g.extents.at(g.labels[d]);
    if (p[d].ring) at[d] = (at[d] % n + n) % n;
    if (at[d] < 0 || at[d] >= n) return beyond;
    index[g.labels[d]] = at[d];
  }
  return g.values[g.position(index)];
}

// Calls f(number of the element in this rank's padded block, its global indices, in how many margins it is).
template <class A, class F>
void for_each_padded(t::test_mesh const& m, t::extents_by_letter const& e, std::vector<padding> const& p, F const& f) {
  auto const block = t::block_on<A>(m, e, t::rank());
  std::int64_t count = 1;
  for (std::size_t d = 0; d < p.size(); ++d) count *= block[d].end - block[d].begin + 2 * p[d].width;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<std::int64_t> at(p.size());
    int margins = 0;
    std::int64_t rest = i;
    for (std::size_t d = p.size(); d-- > 0;) {
      std::int64_t const n = block[d].end - block[d].begin + 2 * p[d].width;
      at[d] = block[d].begin - p[d].width + rest % n;
      margins += at[d] < block[d].begin || at[d] >= block[d].end ? 1 : 0;
      rest /= n;
    }
    f(static_cast<std::size_t>(i), at, margins);
  }
}

// The number of wrong elements of a padded block; −1 for another size.
template <class A, class Padded>
std::int64_t wrong(t::test_mesh const& m, Padded const& padded, t::global_tensor<double> const& g,
                   std::vector<padding> const& p, double beyond) {
  auto const got = t::read_elements<double>(padded.local().data(), padded.local().size());
  std::int64_t bad = 0;
  std::size_t seen = 0;
  for_each_padded<A>(m, g.extents, p, [&](std::size_t i, std::vector<std::int64_t> const& at, int) {
    ++seen;
    bad += i < got.size() && got[i] == element(g, at, p, beyond) ? 0 : 1;
  });
  return seen == got.size() ? bad : -1;
}

bool fits(t::extents_by_letter const& e, std::string const& labels, std::vector<padding> const& p) {
  bool fit = true;
  for (std::size_t d = 0; d < labels.size(); ++d) fit = fit && p[d].width <= e.at(labels[d]);
  return fit;
}

// One exchange, checked inside the body.
template <class A, auto... Halos, class... Options>
void check_exchange(t::test_mesh const& m, t::extents_by_letter const& e, std::vector<padding> const& p, double beyond,
                    Options const&... options) {
  auto const g = numbers<A>(e, 7);
  auto const a = t::placed<A>(m, g);
  auto const body = [&](auto b) {
    auto const padded = os::exchange_halo<Halos...>(b, options...);
    CHECK(wrong<A>(m, padded, g, p, beyond) == 0);
    auto const own = os::own(padded);
    static_assert(std::is_same_v<decltype(own), decltype(b) const>);
    // In place, with twice the elements; elements beyond the ends do not change.
    auto twice = g;
    for (double& x : twice.values) x *= 2;
    auto const doubled = os::stencil([](auto, double x) { return 2 * x; }, padded, own);
    auto into = os::copy(padded);
    os::exchange_halo_into<Halos...>(into, doubled, options...);
    CHECK(wrong<A>(m, into, twice, p, beyond) == 0);
    auto pending = os::start_exchange_halo_into<Halos...>(padded, doubled, options...);
    pending.test();
    auto const waited = std::move(pending).wait();
    os::exchange_halo_into<Halos...>(waited, options...);
    CHECK(waited.local().data() == padded.local().data());
    CHECK(wrong<A>(m, waited, twice, p, beyond) == 0);
    return own;
  };
  auto const run = [&] {
    return [&]<class... Es>(os::sharding<Es...>) { return os::shard_map<Es{}...>(body, a); }(os::sharding_in<A>{});
  };
  if (fits(e, g.labels, p))
    CHECK(t::disagreements(m, run(), g) == 0);
  else
    CHECK_THROWS_AS(run(), os::error);
}

}  // namespace

TEST_CASE("the type of a padded block") {
  using padded = tensor<os::halo<I, 1>, J, os::varying(X)>;
  static_assert(
      std::is_same_v<os::sharding_in<padded>, os::sharding<os::halo_axis<I_axis, 1>, J_axis, os::varying<X_mesh>>>);
  static_assert(os::halo_axis<I_axis, 1>::name == "I(1)");
  static_assert(os::halo_axis<I_axis, 12>::name == "I(12)");
  static_assert(
      std::is_same_v<os::sharding_without_halos<os::sharding_in<padded>>, os::sharding_of<I, J, os::varying(X)>>);
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const a = t::placed<tensor<I/X, J>>(m, numbers<tensor<I/X, J>>(e, 1));
    os::shard_map<I/X, J>(
        [](auto b) {
          auto const p = os::exchange_halo<os::halo<I, 1>/X>(b);
          static_assert(std::is_same_v<decltype(p), padded const>);
          CHECK(p.extent(I) == b.extent(I));
          CHECK(p.extent(os::halo<I, 1>) == b.extent(I) + 2);
          CHECK(static_cast<std::int64_t>(p.local().extent(0)) == b.extent(I) + 2);
          CHECK(os::describe(p).find("double[I(1), J] {V_X}") == 0);
          return b;
        },
        a);
  });
}

TEST_CASE("one axis, any width") {
  using A = tensor<I/X, J>;
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_exchange<A, os::halo<I, 1>/X>(m, e, {{1}, {}}, 0);
    check_exchange<A, os::halo<I, 3>/X>(m, e, {{3}, {}}, 0);
    check_exchange<A, os::halo<I, 7>/X>(m, e, {{7, true}, {}}, 0, os::periodic);
    check_exchange<A, os::halo<I, 3>/X>(m, e, {{3}, {}}, 2.5, os::boundary = 2.5);
    check_exchange<A, os::halo<J, 2>>(m, e, {{}, {2, true}}, 0, os::periodic);
  });
}

TEST_CASE("two axes, with corners") {
  using A = tensor<I/X, J/Y>;
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    using os::engine::emulated_gpu;
    for (auto const gpu : {emulated_gpu::direct, emulated_gpu::staged}) {
      os::engine::emulated = gpu;
      check_exchange<A, os::halo<I, 1>/X, os::halo<J, 3>/Y>(m, e, {{1, true}, {3, true}}, 0, os::periodic);
    }
    os::engine::emulated = emulated_gpu::none;
    auto const limit = std::exchange(os::engine::chunk_limit, 2);  // messages of two elements
    check_exchange<A, os::halo<I, 1>/X, os::halo<J, 3>/Y>(m, e, {{1, true}, {3, true}}, 0, os::periodic);
    os::engine::chunk_limit = limit;
    check_exchange<A, os::halo<I, 1>/X, os::halo<J, 1>/Y>(m, e, {{1}, {1}}, 0);
    check_exchange<A, os::halo<I, 1>/X, os::halo<J, 3>/Y>(m, e, {{1, true}, {3, true}}, 0, os::periodic);
    check_exchange<A, os::halo<J, 2>/Y, os::halo<I, 1>/X>(m, e, {{1}, {2, true}}, -1, os::boundary = -1,
                                                          os::periodic(J));
    check_exchange<A, os::halo<J, 2>/Y>(m, e, {{}, {2}}, 0);
  });
}

TEST_CASE("three axes, and several mesh axes on one") {
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_exchange<tensor<B/Z, I/X, J/Y>, os::halo<B, 1>/Z, os::halo<I, 1>/X, os::halo<J, 1>/Y>(
        m, e, {{1, true}, {1}, {1, true}}, 4, os::boundary = 4, os::periodic(J, B));
    check_exchange<tensor<I/Y/X, B, J/Z>, os::halo<I, 2>/Y/X, os::halo<J, 1>/Z>(m, e, {{2}, {}, {1, true}}, 0,
                                                                                os::periodic(J));
  });
}

TEST_CASE("axis by axis, and without corners") {
  using A = tensor<I/X, J/Y>;
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const g = numbers<A>(e, 3);
    if (e.at('J') == 0) return;
    os::shard_map<I/X, J/Y>(
        [&](auto b) {
          auto const rows = os::exchange_halo<os::halo<I, 1>/X>(b, os::periodic);
          auto const both = os::exchange_halo<os::halo<J, 1>/Y>(rows, os::periodic);
          CHECK(wrong<A>(m, both, g, {{1, true}, {1, true}}, 0) == 0);
          auto const cross =
              os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(b, os::periodic, os::faces, os::boundary = 7);
          auto const got = t::read_elements<double>(cross.local().data(), cross.local().size());
          std::int64_t bad = 0;
          for_each_padded<A>(m, e, {{1, true}, {1, true}},
                             [&](std::size_t i, std::vector<std::int64_t> const& at, int margins) {
                               bad += got[i] == (margins < 2 ? element(g, at, {{1, true}, {1, true}}, 0) : 7) ? 0 : 1;
                             });
          CHECK(bad == 0);
          return b;
        },
        t::placed<A>(m, g));
  });
}

TEST_CASE("a convolution over divided rows, of stride 1 and 2") {
  using A = tensor<I/X, J/Y>;
  on_all([](t::test_mesh const& m, t::extents_by_letter const& e) {
    if (e.at('J') == 0) return;
    auto const g = numbers<A>(e, 5), c = numbers<A>(e, 6);
    auto const convolve = [](auto const& x) {
      double sum = 0;
      for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j) sum += (3 * i + j + 5) * x(i, j);
      return sum;
    };
    auto const by_loops = [&](std::int64_t step) {
      t::global_tensor<double> w{
          "IJ", {{'I', (e.at('I') + step - 1) / step}, {'J', (e.at('J') + step - 1) / step}}, {}};
      for (std::int64_t i = 0; i < e.at('I'); i += step)
        for (std::int64_t j = 0; j < e.at('J'); j += step)
          w.values.push_back(convolve([&](int di, int dj) { return element(g, {i + di, j + dj}, {{}, {}}, 0); }));
      return w;
    };
    auto const wanted = by_loops(1);
    auto const a = t::placed<A>(m, g);
    auto const b = t::placed<A>(m, c);
    auto const waited = os::shard_map<I/X, J/Y>(
        [&](auto x) { return os::stencil(convolve, os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(x)); }, a);
    CHECK(t::disagreements(m, waited, wanted) == 0);
    auto const overlapped = os::shard_map<I/X, J/Y>(
        [&](auto x) {
          return os::stencil(convolve, os::start_exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(x));
        },
        a);
    CHECK(t::disagreements(m, overlapped, wanted) == 0);
    auto sums = wanted;
    for (std::size_t i = 0; i < sums.values.size(); ++i) sums.values[i] += 2 * c.values[i];
    auto const into = os::shard_map<I / X, J / Y>(
        [&](auto x, auto y) {
          auto const f = [convolve](auto const& u, double v) { return convolve(u) + 2 * v; };
          auto const target = os::copy(y);
          os::stencil_into(target, f, os::start_exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(x), target);
          auto const padded = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(y);
          os::stencil_into(padded, f, os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(x), y);
          CHECK(wrong<A>(m, padded, sums, {{}, {}}, 0) != 0);  // it has a halo, which was not written
          CHECK(t::read_elements<double>(os::own(padded).local().data(), target.local().size()) ==
                t::read_elements<double>(target.local().data(), target.local().size()));
          CHECK_THROWS_AS(os::stencil_into(padded, convolve, padded), os::error);
          return target;
        },
        a, b);
    CHECK(t::disagreements(m, into, sums) == 0);
    // Every second index is a block of the result if the blocks begin evenly, or each is a block of the distribution.
    bool divides = true, is_distribution = true;
    for (auto const& [label, axis] : {std::pair{'I', "X"}, std::pair{'J', "Y"}}) {
      std::int64_t const n = e.at(label), p = m.size(axis), all = (n + 1) / 2;
      divides = divides && (p == 1 || n % p != 0 || (n / p) % 2 == 0);
      for (std::int64_t k = 0; k < p; ++k) {
        std::int64_t const begin = k * n / p, end = (k + 1) * n / p;
        is_distribution = is_distribution && (end + 1) / 2 - (begin + 1) / 2 == (k + 1) * all / p - k * all / p;
      }
    }
    auto const strided = [&] {
      return os::shard_map<I/X, J/Y>(
          [&](auto x) {
            return os::stencil(convolve, os::every(I = 2, J = 2),
                               os::start_exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(x));
          },
          a);
    };
    // A strided result may be padded again.
    if (divides && is_distribution)
      os::shard_map<I/X, J/Y>(
          [&](auto x) {
            auto const half = os::stencil(convolve, os::every(I = 2, J = 2),
                                          os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(x));
            auto const again = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(half);
            CHECK(wrong<A>(m, again, by_loops(2), {{1}, {1}}, 0) == 0);
            return os::own(again);
          },
          a);
    if (divides && is_distribution)
      CHECK(t::disagreements(m, strided(), by_loops(2)) == 0);
    else
      CHECK_THROWS_AS(strided(), os::error);
  });
}
