// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::sum_over against plain loops: axes that only one operand has are summed on their own, under every kind of
/// sharding, with each of the policies, into existing tensors, begun and waited for, and in bodies.
// sham:

#include <doctest/doctest.h>

#include <cstdint>

#include "support/einsum_case.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;
using whole = std::int64_t;

TEST_CASE("axes of one operand alone, divided or not") {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const apart = os::sum_over(J, L);
    t::check_einsum<whole>(m, e, dims<I, K>{}, dims<I, J>{}, dims<L, K>{}, apart);
    t::check_einsum<whole>(m, e, dims<I/X, K/Y>{}, dims<I/X, J>{}, dims<L, K/Y>{}, apart);
    t::check_einsum<whole>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<L/X, K>{}, apart);
    t::check_einsum<whole>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<L/Y, K>{}, apart);
    t::check_einsum<whole>(m, e, dims<K/X, I>{}, dims<I, J/X/Y>{}, dims<L, K>{}, apart);
    t::check_einsum<whole>(m, e, dims<I, K, partial(X)>{}, dims<I, J/X>{}, dims<L, K>{}, apart);
    t::check_einsum<whole>(m, e, dims<I/X>{}, dims<I/X, J, B>{}, dims<L, J/Y>{}, os::sum_over(B, L));
    t::check_einsum<whole>(m, e, dims<>{}, dims<I/X>{}, dims<K/Y>{}, os::sum_over(I, K));
    t::check_einsum<whole>(m, e, dims<I, K/X>{}, dims<I, J>{}, dims<L/X, J, K>{}, os::sum_over(L));
    t::check_einsum<whole>(m, e, dims<I, K/X>{}, dims<I, J>{}, dims<J/X, K>{}, os::sum_over(L));  // no operand has it
    t::check_einsum<whole>(m, e, dims<I>{}, dims<I, J/X>{}, os::sum_over(J));
  });
}

TEST_CASE("with another policy") {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    auto const alone = os::sum_over(L);
    auto const check = [&](auto how) {
      t::check_einsum<whole>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<L, J, K>{}, how);
    };
    check(os::at_most<1 << 30>(alone));
    check(alone(os::reduce_result));
    check(alone(os::gather_left));
    check(os::least_time<64>(alone));
    check(os::within(1 << 30, alone));
    check(alone(os::within(1 << 30)));
    check(os::overlapped(alone));
    check(alone(os::idle(Y)));
  });
}

TEST_CASE("for the actual sizes, into a tensor, begun, of three tensors") {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    INFO(m.text(), t::text_of(e));
    auto const a = t::whole_numbers<whole>("IJ", e, 1);
    auto const b = t::whole_numbers<whole>("LK", e, 2);
    auto const wanted = t::product_by_loops("IK", a, b);
    auto const left = t::placed<os::tensor<whole, I/X, J>>(m, a);
    auto const right = t::placed<os::tensor<whole, L/Y, K>>(m, b);
    auto const apart = os::sum_over(J, L);
    CHECK(t::disagreements(m, os::einsum<I, K/X>(left, right, os::for_these_sizes(apart)), wanted) == 0);
    CHECK(t::disagreements(m, os::start_einsum<I, K/X>(left, right, apart).wait(), wanted) == 0);
    auto const c = t::placed<os::tensor<whole, I/X, K>>(m, t::whole_numbers<whole>("IK", e, 3));
    os::einsum_into(c, left, right, os::alpha = 1, apart);
    CHECK(t::disagreements(m, c, wanted) == 0);
    // (Σ_J a) (Σ_L b) (Σ_B d), times a matrix that shares K.
    auto const d = t::whole_numbers<whole>("BK", e, 4);
    auto const third = t::placed<os::tensor<whole, B/X, K>>(m, d);
    auto const all = os::einsum<I>(left, right, third, os::sum_over(J, L, B));
    CHECK(t::disagreements(m, all, t::product_by_loops("I", wanted, t::sum_by_loops("K", d))) == 0);
  });
}

TEST_CASE("in bodies") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'I', 5}, {'J', 3}, {'K', 4}, {'L', 2 * m.size("Y")}};
    auto const a = t::whole_numbers<whole>("IJ", e, 1);
    auto const b = t::whole_numbers<whole>("LK", e, 2);
    auto const left = t::placed<os::tensor<whole, I/X, J>>(m, a);
    auto const right = t::placed<os::tensor<whole, L/Y, K>>(m, b);
    auto const c = os::shard_map<I/X, K>(
        [](auto x, auto y) { return os::psum<Y>(os::einsum<I, K>(x, y, os::sum_over(J, L))); }, left, right);
    CHECK(t::disagreements(m, c, t::product_by_loops("IK", a, b)) == 0);
  });
}
