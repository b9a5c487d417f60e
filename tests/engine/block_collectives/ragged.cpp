// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Moves whose parts are known only to their senders, along all groups of all meshes, against the formula of every
/// element: gathers of blocks of any lengths, the ragged all-to-all with its refusals, and exchanges whose parts have
/// any strides. In flight, with memory that MPI takes and memory that it does not.
// ranks: 1 2 3 4 6 8
// sham:

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/engine/block_collectives/gather_rows.hpp>
#include <ostraka/engine/block_collectives/ragged_moves.hpp>

#include "engine/block_collectives/blocks_on_a_group.hpp"

namespace t = ostraka::testing;
using namespace ostraka::engine;
using t::lies;

namespace {

std::int64_t length_of(int d, int seed) { return (5 * d + 3 * seed) % 7; }

// Rows that member d sends to member e.
std::int64_t rows_between(int d, int e, int seed) { return (3 * d + 5 * e + seed) % 4; }

struct offsets {
  std::vector<std::int64_t> from, rows, to;

  // The parts that member `me` of n sends: from row 0 on, with a row between; at the receiver in the order of the
  // members, with a row between.
  offsets(int me, int n, int seed) {
    std::int64_t next = 0;
    for (int e = 0; e < n; ++e) {
      from.push_back(next);
      rows.push_back(rows_between(me, e, seed));
      next += rows.back() + 1;
      to.push_back(begin_at(me, e, seed));
    }
  }
  static std::int64_t begin_at(int d, int e, int seed) {
    std::int64_t begin = 1;
    for (int k = 0; k < d; ++k) begin += rows_between(k, e, seed) + 1;
    return begin;
  }
  static std::int64_t rows_in(int me, int n, int seed) {
    std::int64_t sum = 0;
    for (int e = 0; e < n; ++e) sum += rows_between(me, e, seed) + 1;
    return sum;
  }
  [[nodiscard]] ragged_rows view() const { return {from.data(), rows.data(), to.data()}; }
};

template <class T>
void check_gather(t::test_group const& g, int along, int seed, lies from, lies to) {
  int const n = g.members().size(), me = g.members().rank();
  std::int64_t const mine = length_of(me, seed);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
  gather_counts(g.members(), &mine, rows.data());
  std::int64_t total = 0;
  for (int d = 0; d < n; ++d) {
    CHECK(rows[static_cast<std::size_t>(d)] == length_of(d, seed));
    total += length_of(d, seed);
  }
  t::test_block<T> own(along == 0 ? mine : 3, along == 0 ? 3 : mine, from);
  t::test_block<T> whole(along == 0 ? total : 3, along == 0 ? 3 : total, to);
  own.fill([&](auto i, auto j) { return t::element_of<T>(me, i, j); });
  run_in_flight run = begin_gather_rows(t::exec_space(), g.w, ostraka::planner::spec{}, g.axes, along, rows,
                                        readable(own.block), whole.block);
  progress();
  run.wait();
  CHECK(whole.wrong([&](std::int64_t i, std::int64_t j) {
    std::int64_t& k = along == 0 ? i : j;
    int d = 0;
    for (; k >= length_of(d, seed); ++d) k -= length_of(d, seed);
    return t::element_of<T>(d, i, j);
  }) == 0);
}

template <class T>
void check_ragged(t::test_group const& g, int along, int seed, lies how_from, lies how_to) {
  int const n = g.members().size(), me = g.members().rank();
  offsets const mine(me, n, seed);
  std::int64_t const sends = offsets::rows_in(me, n, seed), gets = offsets::begin_at(n, me, seed);
  t::test_block<T> from(along == 0 ? sends : 3, along == 0 ? 3 : sends, how_from);
  t::test_block<T> to(along == 0 ? gets : 3, along == 0 ? 3 : gets, how_to);
  from.fill([&](auto i, auto j) { return t::element_of<T>(me, i, j); });
  to.fill([](auto, auto) { return T(55); });
  run_in_flight run = begin_ragged(t::exec_space(), g.w, ostraka::planner::spec{}, g.axes, along, readable(from.block),
                                   to.block, mine.view());
  progress();
  run.wait();
  CHECK(to.wrong([&](std::int64_t i, std::int64_t j) {
    std::int64_t& k = along == 0 ? i : j;
    for (int d = 0; d < n; ++d) {
      offsets const theirs(d, n, seed);
      std::size_t const m = static_cast<std::size_t>(me);
      if (k < theirs.to[m] || k >= theirs.to[m] + theirs.rows[m]) continue;
      k += theirs.from[m] - theirs.to[m];
      return t::element_of<T>(d, i, j);
    }
    return T(55);
  }) == 0);
}

std::string refusal(t::test_group const& g, std::vector<std::int64_t> const& from,
                    std::vector<std::int64_t> const& rows, std::vector<std::int64_t> const& to) {
  t::test_block<double> a(4, 2, lies::dense), b(5, 2, lies::dense);
  try {
    begin_ragged(t::exec_space(), g.w, ostraka::planner::spec{}, g.axes, 0, readable(a.block), b.block,
                 {from.data(), rows.data(), to.data()})
        .wait();
  } catch (ostraka::error const& e) {
    CHECK(b.wrong([](auto, auto) { return -77.0; }) == 0);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE_TEMPLATE("gathers and ragged exchanges", T, float, double, Kokkos::complex<float>, std::int32_t,
                   ostraka::float16) {
  t::on_every_group([](t::test_group const& g) {
    INFO("mesh ", g.mesh.describe(), ", device ", g.mesh.device());
    t::as_if_everything([&] {
      for (int seed : {0, 3})
        for (int along : {0, 1}) {
          check_gather<T>(g, along, seed, lies::dense, lies::dense);
          check_gather<T>(g, along, seed, lies::transposed, lies::with_gaps);
          check_ragged<T>(g, along, seed, lies::dense, lies::dense);
          check_ragged<T>(g, along, seed, lies::with_gaps, lies::transposed);
        }
    });
  });
}

TEST_CASE("blocks of length 0") {
  t::on_every_group([](t::test_group const& g) {
    std::vector<std::int64_t> const none(static_cast<std::size_t>(g.members().size()), 0);
    t::test_block<double> own(0, 3, lies::dense), whole(0, 3, lies::dense);
    begin_gather_rows(t::exec_space(), g.w, ostraka::planner::spec{}, g.axes, 0, none, readable(own.block), whole.block)
        .wait();
    begin_ragged(t::exec_space(), g.w, ostraka::planner::spec{}, g.axes, 0, readable(own.block), whole.block,
                 {none.data(), none.data(), none.data()})
        .wait();
    CHECK(whole.wrong([](auto, auto) { return 0.0; }) == 0);
  });
}

TEST_CASE("a ragged exchange that cannot be is refused by all alike") {
  t::on_every_group([](t::test_group const& g) {
    std::size_t const n = static_cast<std::size_t>(g.members().size());
    int const last = g.members().size() - 1;
    bool const is_last = g.members().rank() == last;
    std::vector<std::int64_t> const zero(n, 0);
    std::vector<std::int64_t> rows = zero, from = zero, to = zero;
    std::string const who = "device " + std::to_string(last) + " of the group ";
    CHECK(refusal(g, zero, zero, zero) == "");
    if (is_last) rows[0] = 5;
    CHECK(refusal(g, from, rows, to).find(who + "sends rows outside its block") != std::string::npos);
    rows = zero;
    if (is_last) rows[0] = 1, from[0] = -1;
    CHECK(refusal(g, from, rows, to).find(who + "sends rows outside its block") != std::string::npos);
    rows = from = zero;
    if (g.members().rank() == 0) rows[n - 1] = 2, to[n - 1] = 4;
    CHECK(refusal(g, from, rows, to).find(who + "is sent rows outside it") != std::string::npos);
    rows = to = zero;
    rows[n - 1] = 3;
    CHECK(refusal(g, from, rows, to).find(n == 1 ? "" : who + "is sent rows that overlap") != std::string::npos);
  });
}
