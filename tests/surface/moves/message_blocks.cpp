// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensors that lie in memory as the messages in which they arrived, or will leave, against plain loops: with parts
/// that are long enough for it, beside some that are not or that are not equal. Tensors that are gathered for a
/// product, or scattered after it, are then not copied.
// ranks: 1 2 3 4 8
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

int never_copied = 0;
int as_messages = 0;

// True if a tensor of the plan lies as a message here.
bool has_messages(os::planner::einsum_plan const& plan, os::planner::extents const& e) {
  for (int i = 0; i < plan.steps.size(); ++i) {
    if (plan.steps[i].kind != os::step::contract) continue;
    os::planner::contracted_messages const m = os::planner::messages_at(plan.steps, i, e);
    if (m.left || m.right || m.result) return true;
  }
  return false;
}

// C <- 2 A · B + C, and C <- A · B
template <auto... Out, auto... DimsA, auto... DimsB>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, dims<DimsA...>, dims<DimsB...>) {
  using left = os::tensor<double, DimsA...>;
  using right = os::tensor<double, DimsB...>;
  using result = os::tensor<double, Out...>;
  constexpr auto plan = os::plan_of<dims<Out...>, left, right>;
  auto const whole_a = t::whole_numbers<double>(t::letters_in<left>(), e, 31);
  auto const whole_b = t::whole_numbers<double>(t::letters_in<right>(), e, 32);
  auto const before = t::whole_numbers<double>(t::letters_in<result>(), e, 33);
  auto wanted = t::product_by_loops(t::letters_in<result>(), whole_a, whole_b);
  auto const a = t::placed<left>(m, whole_a);
  auto const b = t::placed<right>(m, whole_b);
  auto const sum = t::placed<result>(m, before);
  std::int64_t const copied_before = os::engine::copied_bytes;
  auto const c = os::einsum<Out...>(a, b);
  std::int64_t const copied = os::engine::copied_bytes - copied_before;
  INFO(m.text(), t::text_of(e), "\n", os::describe(plan, t::named(e), m.sizes()));
  CHECK(t::disagreements(m, c, wanted) == 0);
  os::planner::extents const sizes = plan.extents_of(t::named(e), m.sizes());
  CHECK(copied <= 8 * os::planner::copied_elements(plan, sizes));
  if (has_messages(plan, sizes)) {
    ++as_messages;
    never_copied += copied == 0 ? 1 : 0;
  }
  os::einsum_into(sum, a, b, os::alpha = 2.0, os::beta = 1.0);
  for (std::size_t i = 0; i < wanted.values.size(); ++i) wanted.values[i] = 2 * wanted.values[i] + before.values[i];
  CHECK(t::disagreements(m, sum, wanted) == 0);
}

template <auto... Out, auto... DimsA, auto... DimsB, auto... DimsC>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, dims<DimsA...>, dims<DimsB...>,
           dims<DimsC...>) {
  using first = os::tensor<double, DimsA...>;
  using second = os::tensor<double, DimsB...>;
  using third = os::tensor<double, DimsC...>;
  auto const a = t::whole_numbers<double>(t::letters_in<first>(), e, 34);
  auto const b = t::whole_numbers<double>(t::letters_in<second>(), e, 35);
  auto const c = t::whole_numbers<double>(t::letters_in<third>(), e, 36);
  auto const inner = t::product_by_loops(t::labels_of_both(t::letters_in<first>(), t::letters_in<second>()), a, b);
  INFO(m.text(), t::text_of(e));
  CHECK(t::disagreements(m, os::einsum<Out...>(t::placed<first>(m, a), t::placed<second>(m, b), t::placed<third>(m, c)),
                         t::product_by_loops(t::letters_in<os::tensor<double, Out...>>(), inner, c)) == 0);
}

}  // namespace

TEST_CASE("blocks that lie as messages") {
  std::vector<t::extents_by_letter> const extents = {
      {{'B', 2}, {'I', 3}, {'J', 768}, {'K', 2}, {'L', 1}},    // a long sum
      {{'B', 2}, {'I', 384}, {'J', 4}, {'K', 8}, {'L', 1}},    // long rows
      {{'B', 2}, {'I', 5}, {'J', 3}, {'K', 384}, {'L', 1}},
      {{'B', 1}, {'I', 2}, {'J', 767}, {'K', 96}, {'L', 1}}};  // uneven
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents) {
      check(m, e, dims<I, K, partial(Y)>{}, dims<I, J/X, partial(Y)>{}, dims<K, J>{});      // gathered along the sum
      check(m, e, dims<I/Y, K/X>{}, dims<I/Y, J/X>{}, dims<J, K/X>{});
      check(m, e, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<K/Y, J/X>{});                    // both, by two mesh axes
      check(m, e, dims<I, K/X>{}, dims<J, I/X>{}, dims<J, K/X>{});                          // gathered along rows
      check(m, e, dims<K/X, I>{}, dims<J, I/X/Y>{}, dims<J, K/X>{});
      check(m, e, dims<K/X, I>{}, dims<J, I/Y/X>{}, dims<J, K/X>{});
      check(m, e, dims<I, K/X>{}, dims<I, J/X>{}, dims<J/X, K>{});                          // scattered
      check(m, e, dims<K, I/X>{}, dims<I, J/X>{}, dims<J/X, K>{});
      check(m, e, dims<B, K/Y, I/X>{}, dims<B, I, J/X/Y>{}, dims<J/X/Y, K>{});
      check(m, e, dims<B, I, K/X>{}, dims<B, I/X, J>{}, dims<J, K>{});                      // all-to-all of the product
      check(m, e, dims<I/X, K>{}, dims<I, J/X>{}, dims<J, K>{});                            // all-to-all of an operand
    }
  });
  if (t::ranks() > 1) CHECK(as_messages > 10);
  if (t::ranks() > 1) CHECK(never_copied > 3);
}

TEST_CASE("intermediates that lie as messages") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 2}, {'I', 2}, {'J', 768}, {'K', 3}, {'L', 2}};
    check(m, e, dims<I, K/X>{}, dims<I, L/X>{}, dims<L, J/X>{}, dims<J, K/X>{});
    check(m, e, dims<I/X, K>{}, dims<I, L/X>{}, dims<L/X, J>{}, dims<J, K>{});
    check(m, e, dims<I, K>{}, dims<I, L>{}, dims<L, J/X>{}, dims<J, K/X>{});
  });
}
