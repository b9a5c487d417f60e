// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// One einsum against plain loops: the elements of every block, and the bytes against the plan's.

#include <doctest/doctest.h>

#include <ostraka/ostraka.hpp>

#include <cstdint>
#include <string>

#include "support/on_meshes.hpp"

namespace ostraka::testing {

inline std::int64_t cases_checked = 0;

/// Checks C = A · B under a policy, with the dims of C, A and B.
template <class T, auto... Out, auto... DimsA, auto... DimsB, class Policy = policy<planner::admit::any>>
void check_einsum(test_mesh const& m, extents_by_letter const& e, dims<Out...>, dims<DimsA...>, dims<DimsB...>,
                  Policy how = {}) {
  using result = tensor<T, Out...>;
  using left = tensor<T, DimsA...>;
  using right = tensor<T, DimsB...>;
  constexpr auto plan = plan_of<dims<Out...>, left, right, Policy>;
  auto const whole_a = whole_numbers<typename left::value_type>(letters_in<left>(), e, 1);
  auto const whole_b = whole_numbers<typename left::value_type>(letters_in<right>(), e, 2);
  auto const a = placed<left>(m, whole_a);
  auto const b = placed<right>(m, whole_b);
  result c;
  traffic const moved = traffic_of([&] { c = einsum<Out...>(a, b, how); });
  INFO(m.text(), text_of(e), "\n", describe(plan, named(e), m.sizes()));
  CHECK(disagreements(m, c, product_by_loops(letters_in<result>(), whole_a, whole_b)) == 0);
  CHECK(moved.bytes == plan.total_bytes(named(e), m.sizes()));
  ++cases_checked;
}

/// The same for one operand.
template <class T, auto... Out, auto... DimsA, class Policy = policy<planner::admit::any>>
void check_einsum(test_mesh const& m, extents_by_letter const& e, dims<Out...>, dims<DimsA...>, Policy how = {}) {
  using result = tensor<T, Out...>;
  using operand = tensor<T, DimsA...>;
  constexpr auto plan = plan_of<dims<Out...>, operand, Policy>;
  auto const whole = whole_numbers<typename operand::value_type>(letters_in<operand>(), e, 3);
  auto const a = placed<operand>(m, whole);
  result c;
  traffic const moved = traffic_of([&] { c = einsum<Out...>(a, how); });
  INFO(m.text(), text_of(e), "\n", describe(plan, named(e), m.sizes()));
  CHECK(disagreements(m, c, sum_by_loops(letters_in<result>(), whole)) == 0);
  CHECK(moved.bytes == plan.total_bytes(named(e), m.sizes()));
  ++cases_checked;
}

/// Runs f on every mesh with each of the usual extents.
template <class F>
void on_meshes_and_extents(F&& f) {
  on_every_mesh([&](test_mesh const& m) {
    for (extents_by_letter const& e : usual_extents()) f(m, e);
  });
}

}  // namespace ostraka::testing
