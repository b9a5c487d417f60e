// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Permutes along all groups of all meshes against the formula of the block that has to arrive: shifts by any distance,
/// lists of hops with members that send or get nothing, blocks of any strides and of different lengths, several in
/// flight at once, with memory that MPI takes and memory that it does not.
// ranks: 1 2 3 4 6 8
// sham:

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include <ostraka/engine/block_collectives/permute_blocks.hpp>

#include "engine/block_collectives/blocks_on_a_group.hpp"

namespace t = ostraka::testing;
using namespace ostraka::engine;
using ostraka::hop;
using t::lies;

namespace {

// The hops of some permutations of n members: none, a full circle, a line, hops to oneself, and random ones.
std::vector<std::vector<hop>> some_hops(int n) {
  std::vector<std::vector<hop>> lists(4);
  for (int i = 0; i < n; ++i) {
    lists[1].push_back({i, (i + 1) % n});
    if (i + 1 < n) lists[2].push_back({i, i + 1});
    lists[3].push_back({i, i});
  }
  std::mt19937 random(17);
  for (int k = 0; k < 6; ++k) {
    std::vector<int> from, to;
    for (int i = 0; i < n; ++i) from.push_back(i), to.push_back(i);
    for (int i = n - 1; i > 0; --i) {
      std::swap(from[static_cast<std::size_t>(i)], from[random() % static_cast<unsigned>(i + 1)]);
      std::swap(to[static_cast<std::size_t>(i)], to[random() % static_cast<unsigned>(i + 1)]);
    }
    std::vector<hop> hops;
    for (int i = 0; i < n - k % n; ++i)
      hops.push_back({from[static_cast<std::size_t>(i)], to[static_cast<std::size_t>(i)]});
    lists.push_back(hops);
  }
  return lists;
}

// Device d has rows_of(d) rows, or all have as many.
std::int64_t rows_of(int d, bool even) { return even ? 3 : (5 * d + 2) % 7; }

template <class T>
struct permuted {
  t::test_block<T> from, to;
  run_in_flight run;
  int source;

  permuted(t::test_group const& g, permutation_view const& p, bool even, lies how_from, lies how_to)
      : from(rows_of(g.members().rank(), even), 4, how_from),
        to(rows_of(p.of(g.members().rank(), g.members().size()).from < 0
                       ? g.members().rank()
                       : p.of(g.members().rank(), g.members().size()).from,
                   even),
           4, how_to),
        source(p.of(g.members().rank(), g.members().size()).from) {
    int const me = g.members().rank();
    from.fill([&](auto i, auto j) { return t::element_of<T>(me, i, j); });
    run = begin_permute(t::exec_space(), g.w, ostraka::planner::spec{}, g.axes, p, readable(from.block), to.block);
  }
  std::int64_t wrong() {
    return to.wrong([&](auto i, auto j) { return source < 0 ? T(0) : t::element_of<T>(source, i, j); });
  }
};

template <class T>
void check(t::test_group const& g, permutation_view const& p, bool even, lies from, lies to) {
  INFO(p.describe(), even ? ", even" : ", uneven", ", mesh ", g.mesh.describe(), ", device ", g.mesh.device());
  permuted<T> one(g, p, even, from, to);
  one.run.wait();
  CHECK(one.wrong() == 0);
}

}  // namespace

TEST_CASE_TEMPLATE("permutes", T, float, double, Kokkos::complex<double>, std::int32_t, std::int64_t,
                   ostraka::bfloat16) {
  t::on_every_group([](t::test_group const& g) {
    int const n = g.members().size();
    t::as_if_everything([&] {
      for (bool even : {true, false}) {
        for (int k = -n - 1; k <= n + 1; ++k) check<T>(g, permutation_view::by(k), even, lies::dense, lies::dense);
        for (std::vector<hop> const& hops : some_hops(n)) {
          hop const none{};
          permutation_view const p{hops.empty() ? &none : hops.data(), static_cast<int>(hops.size())};
          check<T>(g, p, even, lies::dense, lies::with_gaps);
          check<T>(g, p, even, lies::transposed, lies::dense);
          check<T>(g, p, even, lies::with_gaps, lies::transposed);
        }
      }
    });
  });
}

TEST_CASE("several permutes in flight") {
  t::on_every_group([](t::test_group const& g) {
    permuted<double> one(g, permutation_view::by(1), false, lies::dense, lies::with_gaps);
    permuted<double> two(g, permutation_view::by(1), true, lies::dense, lies::dense);
    permuted<double> three(g, permutation_view::by(-1), false, lies::transposed, lies::dense);
    progress();
    three.run.wait();
    permuted<double> four(g, permutation_view::by(2), true, lies::dense, lies::dense);
    static_cast<void>(one.run.test());
    one.run.wait();
    four.run = {};
    two.run.wait();
    CHECK(one.wrong() == 0);
    CHECK(two.wrong() == 0);
    CHECK(three.wrong() == 0);
    CHECK(four.wrong() == 0);
    CHECK(in_flight::first() == nullptr);
  });
}

TEST_CASE("what is wrong with hops") {
  constexpr hop good[] = {{0, 1}, {1, 2}, {2, 0}};
  constexpr hop sends_twice[] = {{0, 1}, {0, 2}};
  constexpr hop receives_twice[] = {{0, 1}, {1, 0}, {2, 1}};
  constexpr hop not_there[] = {{0, 1}, {1, 3}};
  constexpr hop negative[] = {{-1, 0}};
  static_assert(permutation_view{good, 3}.wrong_hop() == -1);
  static_assert(permutation_view{good, 3}.wrong_hop(3) == -1);
  static_assert(permutation_view{good, 3}.wrong_hop(2) == 1);
  static_assert(permutation_view{sends_twice, 2}.wrong_hop() == 1);
  static_assert(permutation_view{receives_twice, 3}.wrong_hop() == 2);
  static_assert(permutation_view{not_there, 2}.wrong_hop() == -1);
  static_assert(permutation_view{not_there, 2}.wrong_hop(3) == 1);
  static_assert(permutation_view{negative, 1}.wrong_hop() == 0);
  static_assert(permutation_view::by(-1).of(0, 4).to == 3);
  static_assert(permutation_view::by(5).of(0, 4).from == 3);
  CHECK(permutation_view{good, 2}.describe() == "0 → 1, 1 → 2");
  CHECK(permutation_view{good, 0}.describe() == "nowhere");
  CHECK(permutation_view::by(2).describe() == "by +2");
  CHECK(permutation_view::by(-3).describe() == "by -3");
}
