// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of the collectives of a body by differences of the plain program, along one mesh axis and two, even and
/// uneven; ties; and the bytes that they move.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

TEST_CASE("reductions, gathers and exchanges") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X"), k = m.size("Y");
    for (bool const even : {true, false}) {
      t::extents_by_letter const e{{'I', even ? 2 * n : 2 * n + 1}, {'J', even ? (k > 1 ? k * k : 2) : 2 * k - 1}};
      INFO(m.text(), t::text_of(e));
      t::check_body<I, J/Y>(m, e, [](auto a) { return os::all_gather<I/X>(os::multiply(a, a)); });
      t::check_body<I, J/Y>(m, e, [](auto a) {  // invariant afterwards
        std::conditional_t<os::is_variable<decltype(a)>, os::variable<os::tensor<double, I, J, os::varying(Y)>>,
                           os::tensor<double, I, J, os::varying(Y)>> const whole = os::all_gather<I/X>(a);
        return os::multiply(whole, whole);
      });
      t::check_body<I, J/Y>(m, e, [](auto a) { return os::all_gather_invariant<I/X>(os::multiply(a, a)); });
      t::check_body<I, J>(m, e, [](auto a) {  // both uses are right, and only one is cheap
        auto const whole = os::all_gather_invariant<I/X>(os::all_gather<J/Y>(a));
        return os::psum<X, Y>(os::multiply(os::multiply(whole, whole), os::pvary<X, Y>(whole)));
      });
      t::check_body<I/X, J/Y>(m, e, [](auto a) {
        return os::einsum<I, J>(a, os::rename<I, K>(os::all_gather<I/X>(a)), os::sum_over(K));
      });
      t::check_body<I, J/X>(m, e, [](auto a) { return os::all_to_all<I/X, J/X>(os::all_gather<J/Y>(a)); });
      t::check_body<I/X, J>(m, e, [](auto a) {
        return os::psum_scatter<I/X>(os::pvary<X>(os::all_gather<I/X>(os::all_gather<J/Y>(os::multiply(a, a)))));
      });
      if (!even) continue;
      t::check_body<K, I, J>(
          m, e, [](auto a) { return os::all_gather_invariant<K/X/Y>(os::multiply(a, a), os::untiled); });
      t::check_body<J/Y>(m, e, [](auto a) { return os::psum<X>(os::sum<J>(os::multiply(a, a))); });
      t::check_body<I, J>(m, e, [](auto a) { return os::psum<X, Y>(os::multiply(a, a)); });
      t::check_body<I, J>(m, e, [](auto a) { return os::pmean<Y, X>(os::multiply(a, a)); });
      t::check_body<I, J/Y>(m, e, [](auto a) { return os::multiply(os::pmax<X>(a), os::pmin<X>(a)); });
      t::check_body<I, J>(m, e, [](auto a) { return os::pprod<X, Y>(os::add(a, 0.25)); });
      t::check_body<I/X, J/Y>(m, e, [](auto a) { return os::multiply(os::psum<X>(a), a); });  // pvary, unwritten
      t::check_body<I/X, J/Y>(m, e, [](auto a) {
        return os::multiply(os::pvary<X>(os::psum<X>(a)), os::pbroadcast<X, Y>(a, 0));
      });
      t::check_body<I/X, J/Y>(m, e, [](auto a) { return os::all_to_all<I/Y, J/Y>(os::multiply(a, a)); });
      t::check_body<I/X, J/Y>(m, e, [](auto a) { return os::all_to_all<J/Y, J/Y>(os::multiply(a, a)); });
      t::check_body<K/X, I, J/Y>(m, e, [](auto a) {
        return os::psum_scatter<K/X>(os::pvary<X>(os::all_gather<K/X>(os::multiply(a, a))));
      });
    }
  });
}

TEST_CASE("what all devices have as their largest is shared by them") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', m.size("X")}};
    t::global_tensor<double> same = t::whole_numbers<double>("I", e, 1), share = same;
    for (double& v : same.values) v = 3;
    for (double& v : share.values) v = 1.0 / static_cast<double>(m.size("X"));
    auto const r = os::value_and_grad([](auto const& p) {
      return os::shard_map<>([](auto a) { return os::sum<>(os::pmax<X>(a)); }, p);
    })(t::placed<os::tensor<double, I/X>>(m, same));
    CHECK(t::disagreements(m, r.gradient, share, [](double a, double b) { return std::abs(a - b) < 1e-15; }) == 0);
  });
}

TEST_CASE("an all-gather goes back as one reduce-scatter, a psum as nothing, a door as one all-reduce") {
  t::on_every_mesh([](t::test_mesh const& m) {
    if (m.size("X") < 2 || t::ranks() != m.size("X")) return;
    auto const n = static_cast<std::int64_t>(t::ranks());
    t::extents_by_letter const e{{'I', 4 * n}, {'J', 6 * n}};
    auto const w = t::placed<os::tensor<double, I/X, J>>(m, t::whole_numbers<double>("IJ", e, 1));
    auto const row = t::placed<os::tensor<double, J>>(m, t::whole_numbers<double>("J", e, 1));
    std::int64_t const whole = e.at('I') * e.at('J') * 8, whole_row = e.at('J') * 8;
    auto const backward = [](auto const& loss, auto const& p) {
      auto const forward = t::traffic_of([&] { (void)loss(p); });
      auto const both = t::traffic_of([&] { (void)os::value_and_grad(loss)(p); });
      return both.bytes - forward.bytes;
    };
    auto const gathered = [](auto const& p) {
      return os::shard_map<>(
          [](auto a) {
            auto const all = os::all_gather<I/X>(a);
            auto const twice = os::multiply(os::pvary<X>(all), os::axis_size<X>(a) * 1.0);
            return os::psum<X>(os::sum<>(os::add(os::multiply(twice, all), twice)));
          },
          p);
    };
    CHECK(backward(gathered, w) == (n - 1) * whole);
    auto const invariant = [](auto const& p) {
      return os::shard_map<>(
          [](auto a) {
            auto const all = os::all_gather_invariant<I/X>(a);
            return os::sum<>(os::multiply(all, all));
          },
          p);
    };
    CHECK(backward(invariant, w) == 0);
    auto const summed = [](auto const& p) {
      return os::shard_map<>([](auto a) { return os::psum<X>(os::sum<>(os::multiply(a, a))); }, p);
    };
    CHECK(backward(summed, w) == 0);
    auto const used_thrice = [&](auto const& p) {
      return os::shard_map<>(
          [](auto v, auto a) {
            auto const y = os::multiply(os::multiply(a, v), v);
            return os::psum<X>(os::sum<>(os::add(y, os::multiply(a, v))));
          },
          p, w);
    };
    CHECK(backward(used_thrice, row) == 2 * (n - 1) * whole_row);
    auto const deferred = os::value_and_grad<os::deferred_over<X>>(used_thrice);  // its summands leave unchanged
    auto const later = t::traffic_of([&] { (void)deferred(row); });
    CHECK(later.bytes == t::traffic_of([&] { (void)used_thrice(row); }).bytes);
  });
}
