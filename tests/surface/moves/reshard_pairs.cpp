// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// timeout: 300

/// @file
/// os::reshard between all shardings of two axes over two mesh axes, partial ones too: I_XY and I_YX are two of the
/// eighteen. The elements are compared with the whole tensor, the bytes with the elements that devices lack, counted
/// here, and with the plan's.
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "support/on_meshes.hpp"
#include "support/transport_limits.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

using all_shardings =
    std::tuple<dims<I, J>, dims<I/X, J>, dims<I/Y, J>, dims<I, J/X>, dims<I, J/Y>, dims<I/X, J/Y>, dims<I/Y, J/X>,
               dims<I/X/Y, J>, dims<I/Y/X, J>, dims<I, J/X/Y>, dims<I, J/Y/X>, dims<I, J, partial(X)>,
               dims<I, J, partial(Y)>, dims<I, J, partial(X, Y)>, dims<I/X, J, partial(Y)>, dims<I/Y, J, partial(X)>,
               dims<I, J/X, partial(Y)>, dims<I, J/Y, partial(X)>>;

// Elements that ranks hold under `To` and not under `From`, all ranks together.
template <class From, class To>
std::int64_t elements_lacking(t::test_mesh const& m, t::extents_by_letter const& e) {
  std::int64_t lacking = 0;
  for (int r = 0; r < t::ranks(); ++r) {
    auto const from = t::block_on<From>(m, e, r);
    auto const to = t::block_on<To>(m, e, r);
    std::int64_t needed = 1;
    std::int64_t there = 1;
    for (std::size_t d = 0; d < to.size(); ++d) {
      needed *= to[d].end - to[d].begin;
      there *= std::max<std::int64_t>(0, std::min(to[d].end, from[d].end) - std::max(to[d].begin, from[d].begin));
    }
    lacking += needed - there;
  }
  return lacking;
}

int pairs = 0;

template <class T, auto... DimsFrom, auto... DimsTo>
void check_pair(t::test_mesh const& m, t::extents_by_letter const& e, dims<DimsFrom...>, dims<DimsTo...>) {
  using from = os::tensor<T, DimsFrom...>;
  using to = os::tensor<T, DimsTo...>;
  auto const whole = t::whole_numbers<T>("IJ", e, 8);
  auto const source = t::placed<from>(m, whole);
  to target;
  t::traffic const moved = t::traffic_of([&] { target = os::reshard<DimsTo...>(source); });
  INFO(m.text(), t::text_of(e), os::describe(source), " to ", os::describe(target));
  CHECK(t::disagreements(m, target, whole) == 0);
  CHECK(t::disagreements(m, source, whole) == 0);
  CHECK(moved.bytes == os::reshard_plan<DimsTo...>(source).total_bytes(t::named(e), m.sizes()));
  if constexpr (os::sharding_traits<os::sharding_in<from>>::partials::size == 0 &&
                os::sharding_traits<os::sharding_in<to>>::partials::size == 0)
    CHECK(moved.bytes == elements_lacking<from, to>(m, e) * static_cast<std::int64_t>(sizeof(T)));
  if (std::is_same_v<from, to>)
    CHECK(static_cast<void const*>(source.local().data()) == static_cast<void const*>(target.local().data()));
  ++pairs;
}

template <class T, class From>
void to_all(t::test_mesh const& m, t::extents_by_letter const& e, From from) {
  std::apply([&](auto... to) { (check_pair<T>(m, e, from, to), ...); }, all_shardings());
}

template <class T>
void from_all_to_all(t::test_mesh const& m, t::extents_by_letter const& e) {
  std::apply([&](auto... from) { (to_all<T>(m, e, from), ...); }, all_shardings());
}

}  // namespace

TEST_CASE("every pair, with blocks that MPI takes from where they lie") {
  t::blocks_in_place const limits;
  int const before = pairs;
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : {t::usual_extents()[0], t::usual_extents()[1]}) from_all_to_all<double>(m, e);
  });
  pairs = before;
}

TEST_CASE("every pair, in rounds of one to three elements to each") {
  int const before = pairs;
  for (std::int64_t elements : {1, 3}) {
    t::short_rounds const limits(elements * static_cast<std::int64_t>(sizeof(double)));
    t::on_every_mesh([](t::test_mesh const& m) { from_all_to_all<double>(m, t::usual_extents()[1]); });
  }
  pairs = before;
}

TEST_CASE("every pair") {
  int expected = 0;
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : {t::usual_extents()[0], t::usual_extents()[1], t::usual_extents()[2]}) {
      from_all_to_all<double>(m, e);
      expected += 18 * 18;
    }
  });
  CHECK(pairs == expected);
}
