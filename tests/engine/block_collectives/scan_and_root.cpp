// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Scans, broadcasts, gathers to a root and scatters from it, along all groups of all meshes, against plain loops over
/// the members: every kind of reduction, every element type, uneven and empty blocks of any strides, with memory that
/// MPI takes and memory that it does not.
// ranks: 1 2 3 4 6 8
// sham:

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include <ostraka/engine/block_collectives/root_of_group.hpp>
#include <ostraka/engine/block_collectives/scan_block.hpp>

#include "engine/block_collectives/blocks_on_a_group.hpp"

namespace t = ostraka::testing;
using namespace ostraka::engine;
using t::lies;

namespace {

constexpr ostraka::planner::spec no_spec{};

std::int64_t length_of(int d) { return (5 * d + 2) % 4; }

std::vector<std::int64_t> lengths_of(int n) {
  std::vector<std::int64_t> lengths;
  for (int d = 0; d < n; ++d) lengths.push_back(length_of(d));
  return lengths;
}

// Small, so that products are exact in every type.
template <class T>
T factor_of(int d, std::int64_t i, std::int64_t j) {
  return T(static_cast<float>((d + i + j) % 3 - 1));
}

template <class T>
void check_scan(t::test_group const& g, reduction how, scan_kind kind, lies how_from) {
  int const me = g.members().rank();
  t::test_block<T> from(3, 5, how_from), to(3, 5, lies::dense);
  auto const value = [&](int d, auto i, auto j) {
    return how == reduction::prod ? factor_of<T>(d, i, j) : t::element_of<T>(d, i, j);
  };
  from.fill([&](auto i, auto j) { return value(me, i, j); });
  scan_block(t::exec_space(), g.w, no_spec, g.axes, readable(from.block), to.block, how, kind);
  CHECK(to.wrong([&](auto i, auto j) {
    using wide = ostraka::accumulator_of_t<T>;
    wide sum = identity<wide>(how);
    for (int d = 0; d < me + (kind == scan_kind::inclusive ? 1 : 0); ++d) {
      wide const x = wide(value(d, i, j));
      if (how == reduction::sum) sum += x;
      if (how == reduction::prod) sum *= x;
      if constexpr (is_ordered<wide>) {
        if (how == reduction::max && x > sum) sum = x;
        if (how == reduction::min && x < sum) sum = x;
      }
    }
    return T(sum);
  }) == 0);
}

template <class T>
void check_broadcast(t::test_group const& g, int root, lies how_from) {
  t::test_block<T> from(4, 3, how_from), to(4, 3, lies::dense);
  from.fill([&](auto i, auto j) { return t::element_of<T>(g.members().rank(), i, j); });
  begin_broadcast(t::exec_space(), g.w, no_spec, g.axes, root, readable(from.block), to.block).wait();
  CHECK(to.wrong([&](auto i, auto j) { return t::element_of<T>(root, i, j); }) == 0);
}

template <class T>
void check_root(t::test_group const& g, int root, int along, lies how_own, lies how_whole) {
  int const n = g.members().size(), me = g.members().rank();
  std::vector<std::int64_t> const lengths = lengths_of(n);
  std::int64_t total = 0;
  for (std::int64_t l : lengths) total += l;
  auto const block = [&](std::int64_t length, lies how) {
    return t::test_block<T>(along == 0 ? length : 3, along == 0 ? 3 : length, how);
  };
  auto const in_whole = [&](std::int64_t i, std::int64_t j) {
    std::int64_t& k = along == 0 ? i : j;
    int d = 0;
    for (; k >= length_of(d); ++d) k -= length_of(d);
    return t::element_of<T>(d, i, j);
  };
  t::test_block<T> own = block(length_of(me), how_own), whole = block(total, how_whole);
  own.fill([&](auto i, auto j) { return t::element_of<T>(me, i, j); });
  begin_gather_to(t::exec_space(), g.w, no_spec, g.axes, root, along, lengths, readable(own.block), whole.block)
      .wait();
  if (me == root)
    CHECK(whole.wrong(in_whole) == 0);
  else
    CHECK(whole.wrong([](auto, auto) { return T(-77); }) == 0);
  t::test_block<T> part = block(length_of(me), how_own);
  run_in_flight scattered = begin_scatter_from(t::exec_space(), g.w, no_spec, g.axes, root, along, lengths,
                                               readable(whole.block), part.block);
  progress();
  scattered.wait();
  CHECK(part.wrong([&](auto i, auto j) { return t::element_of<T>(me, i, j); }) == 0);
}

}  // namespace

TEST_CASE_TEMPLATE("scans", T, float, double, Kokkos::complex<float>, Kokkos::complex<double>, std::int32_t,
                   std::int64_t, ostraka::float16, ostraka::bfloat16) {
  t::on_every_group([](t::test_group const& g) {
    INFO("mesh ", g.mesh.describe(), ", device ", g.mesh.device());
    t::as_if_everything([&] {
      for (reduction how : {reduction::sum, reduction::max, reduction::min, reduction::prod}) {
        if (!is_reducible<T>(how)) continue;
        for (scan_kind kind : {scan_kind::inclusive, scan_kind::exclusive})
          for (lies from : {lies::dense, lies::transposed}) check_scan<T>(g, how, kind, from);
      }
    });
  });
}

TEST_CASE("16 bits are rounded once") {
  t::on_every_group([](t::test_group const& g) {
    ostraka::bfloat16 x(g.members().rank() == 0 ? 256.f : 0.5f);
    float sum = 256.f + 0.5f * static_cast<float>(g.members().rank());
    scan(g.members(), &x, 1, reduction::sum);
    CHECK(float(x) == float(ostraka::bfloat16(sum)));
  });
}

TEST_CASE_TEMPLATE("from and to a root", T, float, Kokkos::complex<double>, std::int64_t, ostraka::bfloat16) {
  t::on_every_group([](t::test_group const& g) {
    INFO("mesh ", g.mesh.describe(), ", device ", g.mesh.device());
    t::as_if_everything([&] {
      for (int root = 0; root < g.members().size(); ++root) {
        check_broadcast<T>(g, root, lies::dense);
        check_broadcast<T>(g, root, lies::with_gaps);
        for (int along : {0, 1}) {
          check_root<T>(g, root, along, lies::dense, lies::dense);
          check_root<T>(g, root, along, lies::transposed, lies::with_gaps);
        }
      }
    });
  });
}

TEST_CASE("barriers") {
  t::on_every_group([](t::test_group const& g) {
    for (int k = 0; k < 3; ++k) barrier(g.w, g.axes);
    CHECK(in_flight::first() == nullptr);
  });
}
