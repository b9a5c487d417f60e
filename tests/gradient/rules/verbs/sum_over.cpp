// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of einsums that sum axes of one operand alone, by differences of the plain program: of that operand, of
/// the others, of both, in bodies, and second ones. Without os::sum_over no backward sums axes of one operand alone.
// sham:

#include <doctest/doctest.h>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>

#include <cstdint>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class Y>
constexpr auto squares(Y const& y) {
  return os::sum<>(os::multiply(y, y));
}

}  // namespace

TEST_CASE("of each operand, divided or not") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : {t::extents_by_letter{{'I', 3}, {'J', 2}, {'K', 2}, {'L', 4}},
                                          t::extents_by_letter{{'I', 5}, {'J', 1}, {'K', 3}, {'L', 1}}}) {
      INFO(m.text(), t::text_of(e));
      auto const a = t::placed<os::tensor<double, I, J/X>>(m, t::whole_numbers<double>("IJ", e, 1));
      auto const b = t::placed<os::tensor<double, L/X, K>>(m, t::whole_numbers<double>("LK", e, 2));
      t::check_by_differences<os::tensor<double, I/X, J/Y>>(
          m, e, "IJ", [&](auto const& p) { return squares(os::einsum<I/X, K>(p, b, os::sum_over(J, L))); });
      t::check_by_differences<os::tensor<double, L/Y, K>>(m, e, "LK", [&](auto const& p) {
        return squares(os::einsum<I/X, K>(a, p, os::sum_over(J)(os::sum_over(L))));
      });
      t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {  // both, and a third one
        return squares(os::einsum<J, K>(p, os::multiply(p, p), b, os::sum_over(L)));
      });
      t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {  // two sums of one tensor
        return squares(os::einsum<I, K>(p, os::rename<I, K>(os::rename<J, L>(p)), os::sum_over(J, L)));
      });
    }
  });
}

TEST_CASE("second derivatives") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3}, {'J', 2}, {'K', 2}, {'L', 2}};
    INFO(m.text());
    auto const b = t::placed<os::tensor<double, L/X, K>>(m, t::whole_numbers<double>("LK", e, 2));
    t::check_by_differences<os::tensor<double, I/X, J>>(m, e, "IJ", [&](auto const& p) {
      auto const inner = [&](auto const& q) {
        auto const y = os::einsum<I/X, K>(q, b, os::sum_over(J, L));
        return os::sum<>(os::multiply(os::multiply(y, y), y));
      };
      return squares(os::value_and_grad(inner)(p).gradient);
    });
  });
}

TEST_CASE("in bodies") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 2 * m.size("X")}, {'J', 2 * m.size("Y")}};
    INFO(m.text());
    t::check_body<I/X, K>(m, e, [](auto a) {
      return os::einsum<I, K>(os::psum<Y>(a), os::rename<I, K>(os::all_gather<I/X>(os::psum<Y>(a))));
    });
    t::check_body<I/X, K>(m, e, [](auto a) {
      auto const other = os::rename<J, L>(os::rename<I, K>(os::all_gather<I/X>(a)));
      return os::psum<Y>(os::einsum<I, K>(a, other, os::sum_over(J, L)));
    });
  });
}

// The predicted bytes: the forward has those of the einsum's plan, and the loss' all-reduce; the backward, where only b
// has L, those of the plan of the cotangent times b.
namespace {

using left = os::tensor<double, I/X, J>;
using right = os::tensor<double, L/X, K>;
constexpr auto predicted = os::gradient_plan<left, right>(
    [](auto const& a, auto const& b) { return squares(os::einsum<I/X, K>(a, b, os::sum_over(J, L))); });
constexpr auto there = os::plan_of<os::dims<I/X, K>, left, right, decltype(os::sum_over(J, L))>;
constexpr auto back = os::plan_of<os::dims<I/X>, os::tensor<double, I/X, K>, right, decltype(os::sum_over(L))>;

constexpr bool agree(os::step s) {
  return predicted.forward.count(s) == there.count(s) + (s == os::step::all_reduce ? 1 : 0) &&
         predicted.backward.count(s) == back.count(s);
}
static_assert(there.communications() > 0 && back.communications() > 0 && predicted.unpriced() == 0);
static_assert(agree(os::step::all_gather) && agree(os::step::reduce_scatter) && agree(os::step::all_reduce) &&
              agree(os::step::all_to_all));

}  // namespace
