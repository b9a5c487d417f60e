// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::split and os::merge: the same elements in the same memory, or an error on all devices, on every mesh; the oracle
/// re-reads the whole row-major tensor. os::transpose and os::broadcast, against plain loops.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;

// The whole tensor under other labels.
template <class T>
t::global_tensor<T> read_as(t::global_tensor<T> g, std::string const& labels) {
  g.labels = labels;
  return g;
}

bool refuses(auto const& f, std::string const& of) {
  try {
    f();
  } catch (os::error const& e) {
    return std::string(e.what()).find(of) != std::string::npos;
  }
  return false;
}

// True if the bounds of blocks of k·l indices over n devices fall on those of blocks of k. By the definition.
bool is_legal(std::int64_t k, std::int64_t l, std::int64_t n) {
  for (std::int64_t d = 0; d <= n; ++d)
    if (d * k * l / n != d * k / n * l) return false;
  return true;
}

// Splits A[dims] and merges it again, wherever that is legal; `n` devices divide I.
template <auto... Split, class Tensor>
void check(t::test_mesh const& m, t::global_tensor<double> const& g, std::string const& labels, Tensor const& a,
           std::int64_t n) {
  std::int64_t const k = g.extents.at('K'), l = g.extents.at('L');
  if (!is_legal(k, l, n)) {
    CHECK(refuses([&] { return os::split<I, K, L>(a, K = k, L = l); }, "split: blocks of I hold whole indices of K"));
    return;
  }
  auto const apart = os::split<I, K, L>(a, K = k, L = l);
  static_assert(std::is_same_v<decltype(apart), tensor<Split...> const>);
  CHECK(apart.local().data() == a.local().data());
  CHECK(apart.local().use_count() == a.local().use_count());
  CHECK(t::disagreements(m, apart, read_as(g, labels)) == 0);
  auto const again = os::merge<K, L, I>(apart);
  static_assert(std::is_same_v<decltype(again), Tensor const>);
  CHECK(again.local().data() == a.local().data());
  CHECK(t::disagreements(m, again, g) == 0);
  if (l > 0) CHECK(os::split<I, K, L>(a, L = l).extents() == apart.extents());
  if (k > 0) CHECK(os::split<I, K, L>(a, K = k).extents() == apart.extents());
}

}  // namespace

TEST_CASE("an axis as two, and back") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (auto const& [k, l] : {std::pair{24, 3}, {6, 2}, {4, 1}, {5, 1}, {3, 4}, {1, 6}, {0, 3}, {7, 2}, {8, 0}}) {
      INFO(m.text(), " K = ", k, " L = ", l);
      t::extents_by_letter const e{{'B', 2}, {'I', k * l}, {'J', 5}, {'K', k}, {'L', l}};
      auto const traffic = t::traffic_of([&] {
        auto const g = t::whole_numbers<double>("BIJ", e, 3);
        check<B, K, L, J>(m, g, "BKLJ", t::placed<tensor<B, I, J>>(m, g), 1);
        check<B, K/X, L, J>(m, g, "BKLJ", t::placed<tensor<B, I/X, J>>(m, g), m.size("X"));
        check<B, K/X/Y, L, J>(m, g, "BKLJ", t::placed<tensor<B, I/X/Y, J>>(m, g), m.size("X") * m.size("Y"));
        check<B/Y, K/X, L, J, os::partial(Z)>(
            m, g, "BKLJ", t::placed<tensor<B/Y, I/X, J, os::partial(Z)>>(m, g), m.size("X"));
        auto const flat = t::whole_numbers<double>("I", e, 4);
        check<K/Y, L>(m, flat, "KL", t::placed<tensor<I/Y>>(m, flat), m.size("Y"));
      });
      CHECK(traffic.bytes == 0);
    }
  });
}

TEST_CASE("a merge of what was divided unevenly is refused on all devices") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (auto const& [k, l] : {std::pair{24, 3}, {5, 1}, {5, 2}, {3, 4}, {0, 3}}) {
      INFO(m.text(), " K = ", k, " L = ", l);
      t::extents_by_letter const e{{'I', k * l}, {'K', k}, {'L', l}};
      auto const g = t::whole_numbers<double>("KL", e, 3);
      auto const a = t::placed<tensor<K/X, L>>(m, g);
      if (is_legal(k, l, m.size("X")))
        CHECK(t::disagreements(m, os::merge<K, L, I>(a), read_as(g, "I")) == 0);
      else
        CHECK(refuses([&] { return os::merge<K, L, I>(a); }, "merge: blocks of I hold whole indices of K"));
    }
  });
}

TEST_CASE("extents that are no product, or not known") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 12}};
    auto const a = t::placed<tensor<I>>(m, t::whole_numbers<double>("I", e, 3));
    CHECK(refuses([&] { return os::split<I, K, L>(a, K = 5); }, "split: the extent of the merged axis"));
    CHECK(refuses([&] { return os::split<I, K, L>(a, K = 3, L = 3); },
                  "I = 12, and K = 3 and L = 3 do not multiply to it"));
    CHECK(refuses([&] { return os::split<I, K, L>(a, L = 0); }, "I = 12, and L = 0 does not divide it"));
    CHECK(refuses([&] { return os::split<I, K, L>(a, L = -3); }, "not negative"));
  });
}

namespace {
OSTRAKA_AXIS(HD, 24);
OSTRAKA_AXIS(H, 4);
OSTRAKA_AXIS(D, 6);
OSTRAKA_AXIS(One, 1);
OSTRAKA_AXIS(One_D, 6);
}  // namespace

TEST_CASE("static extents need not be given; an axis of one index by its type is no obstacle") {
  t::on_every_mesh([](t::test_mesh const& m) {
    os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
    auto const a = os::full<float, HD>(mesh, 1);
    auto const b = os::split<HD, H, D>(a);
    static_assert(std::is_same_v<decltype(b), os::tensor<float, H, D> const>);
    CHECK(b.extent(H) == 4);
    CHECK(os::merge<H, D, HD>(b).extent(HD) == 24);
    CHECK(os::split<HD, K, D>(a).extent(K) == 4);
    CHECK(refuses([&] { return os::split<HD, H, D>(a, H = 8); }, "static extent 4"));
    auto const c = os::generate<std::int64_t, One, L/X>(mesh, L = 7, [](std::int64_t, std::int64_t l) { return l; });
    auto const one = os::merge<One, L, K>(c);
    static_assert(std::is_same_v<decltype(one), os::tensor<std::int64_t, K/X> const>);
    CHECK(one.extent(K) == 7);
    CHECK(one.local().data() == c.local().data());
    os::tensor<std::int64_t const, One, L/X> const constant = c;
    CHECK(os::merge<One, L, K>(constant).local().data() == c.local().data());
  });
}

TEST_CASE("the memory lives as long as the last of them") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 12}, {'K', 4}, {'L', 3}};
    auto const g = t::whole_numbers<double>("I", e, 3);
    auto const a = os::split<I, K, L>(t::placed<tensor<I>>(m, g), K = 4);
    CHECK(a.local().use_count() == 1);
    CHECK(t::disagreements(m, a, read_as(g, "KL")) == 0);
  });
}

TEST_CASE("blocks in a body: an axis of a block is whole") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    t::extents_by_letter const e{{'I', 6 * n}, {'J', 5}, {'K', 2 * n}, {'L', 3}};
    INFO(m.text());
    auto const g = t::whole_numbers<double>("JI", e, 3);
    auto const a = t::placed<tensor<J, I/X>>(m, g);
    auto const apart = os::shard_map<J, K/X, L>([](auto block) { return os::split<I, K, L>(block, L = 3); }, a);
    CHECK(t::disagreements(m, apart, read_as(g, "JKL")) == 0);
    auto const again = os::shard_map<J, I/X>([](auto block) { return os::merge<K, L, I>(block); }, apart);
    CHECK(t::disagreements(m, again, g) == 0);
    auto const round = os::shard_map<J, I/X>(
        [](auto block) {
          auto const two = os::split<I, K, L>(block, K = 2);
          return os::merge<K, L, I>(os::add(two, two));
        },
        a);
    CHECK(t::disagreements(m, round, [&] {
            auto twice = g;
            for (double& v : twice.values) v *= 2;
            return twice;
          }()) == 0);
    // all devices know that uneven blocks have no whole indices, whatever their own extents
    t::extents_by_letter const odd{{'I', 6 * n + 3}, {'J', 2}};
    auto const uneven = t::placed<tensor<J, I/X>>(m, t::whole_numbers<double>("JI", odd, 3));
    auto const body = [&] {
      return os::shard_map<J, K/X, L>([](auto block) { return os::split<I, K, L>(block, L = 3); }, uneven);
    };
    if (n > 1 && (6 * n + 3) % n != 0) CHECK(refuses(body, "split: extents are the same on all devices"));
    auto const ones = os::shard_map<J, K/X, L>([](auto block) { return os::split<I, K, L>(block, L = 1); }, uneven);
    CHECK(ones.extent(K) == 6 * n + 3);
  });
}

namespace {

// The whole tensor with its axes in another order, and repeated along those that it lacks.
template <class T>
t::global_tensor<T> laid_out(t::global_tensor<T> const& g, std::string const& labels) {
  t::global_tensor<T> r{labels, g.extents, {}};
  t::for_each_index(labels, g.extents,
                    [&](t::extents_by_letter const& at) { r.values.push_back(g.values[g.position(at)]); });
  return r;
}

}  // namespace

TEST_CASE("axes in another order") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (auto const& [i, j, k] : {std::tuple{13, 5, 3}, {70, 41, 1}, {2, 3, 0}}) {
      t::extents_by_letter const e{{'I', i}, {'J', j}, {'K', k}};
      INFO(m.text(), t::text_of(e));
      auto const g = t::whole_numbers<float>("IJK", e, 3);
      auto const a = t::placed<os::tensor<float, I/X, J, K>>(m, g);
      auto const traffic = t::traffic_of([&] {
        auto const b = os::transpose<K, J, I>(a);
        static_assert(std::is_same_v<decltype(b), os::tensor<float, K, J, I/X> const>);
        CHECK(t::disagreements(m, b, laid_out(g, "KJI")) == 0);
        CHECK(t::disagreements(m, os::transpose<J, I, K>(a), laid_out(g, "JIK")) == 0);
        CHECK(t::disagreements(m, os::transpose<I, J, K>(a), g) == 0);
        CHECK(t::disagreements(m, os::transpose<I, J, K>(os::transpose<J, K, I>(a)), g) == 0);
        auto const p = t::placed<os::tensor<float, I/Y, J, K, os::partial_max(X)>>(m, g);
        CHECK(t::disagreements(m, os::transpose<K, I, J>(p), laid_out(g, "KIJ")) == 0);
      });
      CHECK(traffic.bytes == 0);
      auto const body = os::shard_map<J, K, I/X>([](auto x) { return os::transpose<J, K, I>(x); }, a);
      CHECK(t::disagreements(m, body, laid_out(g, "JKI")) == 0);
    }
  });
}

TEST_CASE("repeated along further axes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
    for (auto const& [i, j, k] : {std::tuple{13, 5, 3}, {4, 41, 1}, {2, 3, 0}}) {
      t::extents_by_letter const e{{'I', i}, {'J', j}, {'K', k}};
      INFO(m.text(), t::text_of(e));
      auto const g = t::whole_numbers<double>("J", e, 3);
      auto const a = t::placed<tensor<J/X>>(m, g);
      auto const traffic = t::traffic_of([&] {
        auto const b = os::broadcast<I/Y, J/X, K>(a, I = i, K = k);
        static_assert(std::is_same_v<decltype(b), tensor<I/Y, J/X, K> const>);
        CHECK(t::disagreements(m, b, laid_out(g, "IJK")) == 0);
        CHECK(t::disagreements(m, os::broadcast<J/X, I>(a, os::sizes(I = i, K = k)), laid_out(g, "JI")) == 0);
        CHECK(t::disagreements(m, os::broadcast<J/X>(a), g) == 0);
        auto const p = t::placed<tensor<J, os::partial(X)>>(m, g);
        CHECK(t::disagreements(m, os::broadcast<K/Y, J, os::partial(X)>(p, K = k), laid_out(g, "KJ")) == 0);
        auto const one = os::full<std::int64_t>(mesh, 7);
        auto const sevens = os::broadcast<I/X>(one, I = i);
        CHECK(t::disagreements(m, sevens, t::global_tensor<std::int64_t>{
                                              "I", e, std::vector<std::int64_t>(static_cast<std::size_t>(i), 7)}) == 0);
      });
      CHECK(traffic.bytes == 0);
      CHECK(refuses([&] { return os::broadcast<J/X, I>(a, I = -1); }, "not negative"));
      auto const body = os::shard_map<K, J/X>([width = k](auto x) { return os::broadcast<K, J>(x, K = width); }, a);
      CHECK(t::disagreements(m, body, laid_out(g, "KJ")) == 0);
      auto const other = t::placed<tensor<I/X>>(m, t::whole_numbers<double>("I", e, 4));
      auto const as_other = os::shard_map<I/X, K>(
          [width = k](auto x, auto y) {
            auto const few = os::sum<>(x);
            return os::multiply(os::broadcast<I, K>(os::scale(few, 0), I = y.extent(I), K = width), y);
          },
          a, other);
      CHECK(as_other.extent(I) == i);
    }
  });
}
