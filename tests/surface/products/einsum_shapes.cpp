// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::einsum beyond one mesh axis: several mesh axes on one label or on several, transposed and outer and scalar
/// results, one operand, policies and idle mesh axes. The feed-forward layer's [B_X, J_Y] · [J_X, K_Y] → [B_X, K_Y] is
/// among them.
// labels: essential
// gpu: 4

#include <doctest/doctest.h>

#include <cstdint>

#include "support/einsum_case.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;
using t::check_einsum;

namespace {

using number = std::int64_t;

}  // namespace

TEST_CASE("two and three mesh axes") {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_einsum<number>(m, e, dims<I/X, K/Y>{}, dims<I/X, J>{}, dims<J, K/Y>{});
    check_einsum<number>(m, e, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/X, K/Y>{});
    check_einsum<number>(m, e, dims<B/X, I, K/Y>{}, dims<B/X, I, J/Y>{}, dims<J/X, K/Y>{});
    check_einsum<number>(m, e, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/Y, K/X>{});
    check_einsum<number>(m, e, dims<I/X/Y, K>{}, dims<I, J/X/Y>{}, dims<J/X/Y, K>{});
    check_einsum<number>(m, e, dims<I/X/Y, K>{}, dims<I/Y/X, J>{}, dims<J, K>{});
    check_einsum<number>(m, e, dims<I, K>{}, dims<I, J/X/Y>{}, dims<J/Y/X, K>{});
    check_einsum<number>(m, e, dims<I, K/Y/X>{}, dims<I/X, J/Y>{}, dims<J, K>{});
    check_einsum<number>(m, e, dims<B/X/Y, I, K>{}, dims<B/X, I, J>{}, dims<B/X/Y, J, K>{});
    check_einsum<number>(m, e, dims<I/X, K, partial(Y)>{}, dims<I/X, J/Y>{}, dims<J/Y, K>{});
    check_einsum<number>(m, e, dims<I, K, partial(X, Y)>{}, dims<I, J/X/Y>{}, dims<J/X/Y, K>{});
    check_einsum<number>(m, e, dims<I/Y, K, partial(X)>{}, dims<I, J, partial(X)>{}, dims<J, K, partial(Y)>{});
    check_einsum<number>(m, e, dims<I/X/Y/Z, K>{}, dims<I/X/Y, J/Z>{}, dims<J/Z, K/X>{});
    check_einsum<number>(m, e, dims<B/Z, I/X, K/Y>{}, dims<B/Z, I/X, J/Y>{}, dims<B, J/Y, K/X>{});
    check_einsum<number>(m, e, dims<I/X, K/Y>{}, dims<I/X, J/Y/Z>{}, dims<J/X/Z, K/Y>{});
  });
}

TEST_CASE("transposed, outer and scalar results") {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_einsum<number>(m, e, dims<K, I/X>{}, dims<I/X, J>{}, dims<J, K>{});
    check_einsum<number>(m, e, dims<K/Y, I/X, B>{}, dims<B, I/X, J>{}, dims<B, J/X, K/Y>{});
    check_einsum<number>(m, e, dims<I/X, K/Y>{}, dims<I/X>{}, dims<K/Y>{});      // outer
    check_einsum<number>(m, e, dims<K/X, I/Y>{}, dims<I/X>{}, dims<K/Y>{});
    check_einsum<number>(m, e, dims<I/X, K/Y, L>{}, dims<I, L/X>{}, dims<K/X>{});
    check_einsum<number>(m, e, dims<>{}, dims<I/X, J>{}, dims<I/X, J>{});        // scalar
    check_einsum<number>(m, e, dims<>{}, dims<J/X>{}, dims<J/Y>{});
    check_einsum<number>(m, e, dims<partial(X)>{}, dims<J/X>{}, dims<J>{});
    check_einsum<number>(m, e, dims<I/X, J/Y>{}, dims<I/X, J>{}, dims<I, J/Y>{});  // elementwise
    check_einsum<number>(m, e, dims<I, J>{}, dims<>{}, dims<I/X, J/Y>{});          // a scalar times
    check_einsum<number>(m, e, dims<I/X>{}, dims<I/X, J, L>{}, dims<K/Y, J>{},
                         os::sum_over(K, L));  // labels of one operand each
    check_einsum<number>(m, e, dims<L/Y, B, I/X>{}, dims<I, J, B/X>{}, dims<L, B, J/Y>{});
  });
}

TEST_CASE("one operand") {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_einsum<number>(m, e, dims<I/X, J/Y>{}, dims<I/X, J/Y>{});
    check_einsum<number>(m, e, dims<J/Y, I/X>{}, dims<I/X, J/Y>{});  // a transpose, nothing moves
    check_einsum<number>(m, e, dims<J/X, I/Y>{}, dims<I/X, J/Y>{});
    check_einsum<number>(m, e, dims<I/X>{}, dims<I/X, J/Y>{});
    check_einsum<number>(m, e, dims<I/X, partial(Y)>{}, dims<I/X, J/Y>{});
    check_einsum<number>(m, e, dims<J/X>{}, dims<I/X, J>{});
    check_einsum<number>(m, e, dims<>{}, dims<I/X, J/Y, B/Z>{});
    check_einsum<number>(m, e, dims<B/X/Y>{}, dims<I, B, partial(X, Y)>{});
    check_einsum<number>(m, e, dims<B, partial(X)>{}, dims<I, B, partial(X)>{});
    check_einsum<number>(m, e, dims<J, I, partial(X)>{}, dims<I/X, J>{});
  });
}

TEST_CASE("policies") {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_einsum<number>(m, e, dims<I, K/X>{}, dims<I/X, J>{}, dims<J, K/X>{}, os::gather_left);
    check_einsum<number>(m, e, dims<I/X, K>{}, dims<I/X, J>{}, dims<J, K/X>{}, os::gather_right);
    check_einsum<number>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J, K>{}, os::gather_left);
    check_einsum<number>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J, K>{}, os::reduce_result);
    check_einsum<number>(m, e, dims<I/X, K>{}, dims<I, J/X>{}, dims<J/X, K>{}, os::reduce_result);
    check_einsum<number>(m, e, dims<I, K, partial(X)>{}, dims<I, J/X>{}, dims<J, K>{}, os::no_communication);
    check_einsum<number>(m, e, dims<I/X, K/Y>{}, dims<I, J>{}, dims<J, K>{}, os::no_communication);
    check_einsum<number>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{}, os::cheapest);
    check_einsum<number>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J, K>{}, os::least_time<64>);
    check_einsum<number>(m, e, dims<I, K>{}, dims<I/X, J>{}, dims<J, K>{},
                         os::at_most<1 << 30>(os::least_time<64>(os::idle(Z))));
    check_einsum<number>(m, e, dims<I, K>{}, dims<I/X, J>{}, dims<J, K/X>{}, os::idle(Z));
    check_einsum<number>(m, e, dims<I, K>{}, dims<I, J>{}, dims<J, K>{}, os::idle(X, Y, Z));
    check_einsum<number>(m, e, dims<I>{}, dims<I, J, partial(X)>{}, os::idle(Y));
  });
}

TEST_CASE("a policy changes the plan") {
  using a = os::sharding_of<I, J/X>;
  using b = os::sharding_of<J, K>;
  using gather_left = os::policy<os::planner::admit::gather_left>;
  using reduce_result = os::policy<os::planner::admit::reduce_result>;
  CHECK(os::plan_of<dims<I, K>, a, b, gather_left>.count(os::step::all_gather) == 1);
  CHECK(os::plan_of<dims<I, K>, a, b, gather_left>.communications() == 1);
  CHECK(os::plan_of<dims<I, K>, a, b, reduce_result>.count(os::step::all_gather) == 0);
  CHECK(os::plan_of<dims<I, K>, a, b, reduce_result>.count(os::step::all_reduce) == 1);
  constexpr auto work = [](auto const& plan) { return plan.flops(I = 64, J = 64, K = 64, X = 4); };
  CHECK(work(os::plan_of<dims<I, K>, a, b, decltype(os::least_time<64>)>) ==
        work(os::plan_of<dims<I, K>, a, b, reduce_result>));
  CHECK(work(os::plan_of<dims<I, K>, a, b, decltype(os::least_time<100000>)>) ==
        work(os::plan_of<dims<I, K>, a, b, gather_left>));
}
