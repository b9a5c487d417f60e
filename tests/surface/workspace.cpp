// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A plan's workspace against what the pool of scratch memory holds after the operation, having been empty before. That is what was in use
/// at once where every block is as long as was asked for; plans of several moves of one tensor take longer blocks than they ask for and are
/// left out. Reduce-scatters add what arrives in pieces beside the workspace: two for each other device, none longer than a block.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

using pool = os::engine::workspace<Kokkos::DefaultExecutionSpace::memory_space>;

int cases = 0;
int with_scratch = 0;

std::int64_t pieces(os::planner::einsum_plan const& plan, os::planner::extents const& e) {
  std::int64_t most = 0;
  for (os::planner::planned_step const& s : plan.steps)
    if (s.kind == os::step::reduce_scatter) most = std::max(most, 2 * (e.ways(s.axes) - 1) * os::planner::largest_block(s.to, e));
  return most;
}

template <auto... Out, auto... DimsA, auto... DimsB>
void check(t::mesh_at_hand const& m, dims<Out...>, dims<DimsA...>, dims<DimsB...>) {
  using left = os::tensor<double, DimsA...>;
  using right = os::tensor<double, DimsB...>;
  constexpr auto plan = os::plan_of<dims<Out...>, left, right>;
  for (t::extents_by_letter const& e : {t::extents_by_letter{{'B', 4}, {'I', 48}, {'J', 24}, {'K', 72}, {'L', 1}}, {{'B', 3}, {'I', 31}, {'J', 50}, {'K', 17}, {'L', 1}}}) {
    auto const a = t::placed<left>(m, t::whole_numbers<double>(t::letters_in<left>(), e, 24));
    auto const b = t::placed<right>(m, t::whole_numbers<double>(t::letters_in<right>(), e, 25));
    pool::instance().release();
    std::size_t const before = pool::instance().held_bytes();
    auto const c = os::einsum<Out...>(a, b);
    auto const held = static_cast<std::int64_t>(pool::instance().held_bytes() - before);
    INFO(m.text(), t::text_of(e), "\n", os::describe(plan, t::named(e), m.sizes()));
    CHECK(held <= plan.workspace(t::named(e), m.sizes()) + 8 * pieces(plan, plan.extents_of(t::named(e), m.sizes())));
    ++cases;
    with_scratch += held > 0 ? 1 : 0;
  }
}

}  // namespace

TEST_CASE("einsum") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    check(m, dims<I, K>{}, dims<I, J>{}, dims<J, K>{});
    check(m, dims<I/X, K>{}, dims<I/X, J>{}, dims<J, K/X>{});
    check(m, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/X, K/Y>{});
    check(m, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check(m, dims<I/X, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check(m, dims<I, K/X>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check(m, dims<B/X, I, K>{}, dims<B/X, I, J>{}, dims<B, J/X, K>{});
    check(m, dims<I/X/Y, K>{}, dims<I/Y/X, J>{}, dims<J, K>{});
    check(m, dims<I, K>{}, dims<I, J, partial(X)>{}, dims<J, K, partial(X)>{});
    check(m, dims<I, K, partial(X)>{}, dims<I, J/X>{}, dims<J, K>{});
  });
  CHECK(cases == 20 * static_cast<int>(t::mesh_shapes().size()));
  CHECK(with_scratch > 0);
}
