// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Softmax and norms that one function records for all shardings, and those that it does not record: gradients by
/// differences of the plain program, with respect to each operand and to all of one tree, where slots want another
/// sharding than the operation gives, in regions too.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>
#include <vector>

#include "gradient/beside.hpp"
#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class T>
using of = os::variable<T>;

template <auto Along, class... Given>
inline constexpr bool shares_rms_norm =
    os::detail::check_shared_norm<os::operation::rms_norm<os::detail::type_of<Along>>, Given...>();
template <auto Along, class... Given>
inline constexpr bool shares_layer_norm =
    os::detail::check_shared_norm<os::operation::layer_norm<os::detail::type_of<Along>>, Given...>();
template <auto Along, class A>
inline constexpr bool shares_softmax =
    os::detail::check_shared_softmax<os::operation::softmax<os::detail::type_of<Along>>, A>();

template <class T>
using matrix_of = os::tensor<T, I / X, J / Y>;
template <class T>
using vector_of = os::tensor<T, J>;
using matrix = matrix_of<double>;
using vector = vector_of<double>;

static_assert(shares_softmax<J / Y, of<matrix>> && shares_softmax<I / X, of<matrix>>);
static_assert(shares_rms_norm<J / Y, of<matrix>> && shares_rms_norm<I / X, of<matrix>>);
static_assert(shares_rms_norm<J / Y, of<matrix>, of<vector>>);
static_assert(shares_layer_norm<J / Y, of<matrix>, of<os::tensor<double, J / Y>>, of<vector>>);
static_assert(
    shares_rms_norm<J, of<os::tensor<float, I / X / Y, J>>, os::variable<vector_of<float>, os::tensor<float, J / X>>>);
// The gain is a constant, the rows are no runs, sums are wider than elements, or another derivative is taken.
static_assert(!shares_rms_norm<J / Y, of<matrix>, vector> && !shares_rms_norm<J / Y, matrix, of<vector>>);
static_assert(!shares_rms_norm<I / X, of<matrix>, of<os::tensor<double, I / X>>>);
static_assert(!shares_rms_norm<J / Y, of<matrix_of<os::bfloat16>>, of<vector_of<os::bfloat16>>>);
static_assert(!shares_rms_norm<J / Y, of<matrix>, of<vector_of<float>>>);
static_assert(!shares_rms_norm<J / Y, of<of<matrix>>, of<of<vector>>> && !shares_softmax<J / Y, of<of<matrix>>>);
// The call is refused: the operation gives the reason.
static_assert(!shares_rms_norm<J, of<matrix>, of<vector>> && !shares_softmax<J / X, of<matrix>>);

// Some extents are uneven, some below the number of devices, and one is empty.
std::vector<t::extents_by_letter> extents() {
  return {{{'I', 3}, {'J', 5}}, {{'I', 4}, {'J', 1}}, {{'I', 1}, {'J', 2}}, {{'I', 0}, {'J', 3}}};
}

/// The gradient of Σ w f(x, gain, bias)² by each of the three, with `beside(p, x)` for the others.
template <class X = matrix, class Vector = vector, class F, class Beside = decltype(t::beside_variables)>
void check(F const& f, Beside const& beside = t::beside_variables) {
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents()) {
      INFO(m.text(), t::text_of(e));
      auto const w = t::fractions<matrix>(m, e, "IJ", 2);
      auto const x = t::fractions<X>(m, e, "IJ", 3);
      auto const gain = t::fractions<Vector>(m, e, "J", 4), bias = t::fractions<Vector>(m, e, "J", 5);
      auto const loss = [&](auto const& a, auto const& b, auto const& c) {
        auto const y = f(a, b, c);
        return os::sum<>(os::multiply(os::multiply(y, y), w));
      };
      t::check_by_differences<X>(m, e, "IJ", [&](auto const& p) { return loss(p, beside(p, gain), beside(p, bias)); });
      t::check_by_differences<Vector>(m, e, "J", [&](auto const& p) { return loss(beside(p, x), p, beside(p, bias)); });
      t::check_by_differences<Vector>(m, e, "J", [&](auto const& p) { return loss(beside(p, x), beside(p, gain), p); });
    }
  });
}

constexpr auto both_norms = [](auto const& x, auto const& gain, auto const& bias) {
  return os::add(os::layer_norm<J / Y>(x, gain, bias), os::rms_norm<J / Y>(x, gain, os::epsilon(0.1)));
};

}  // namespace

TEST_CASE("norms of operands that lie as they are stored") {
  check(both_norms);
  check(both_norms, [](auto const& p, auto const& a) { return t::constant_beside(p, a); });
  check([](auto const& x, auto const& gain, auto const& bias) {
    return os::add(os::multiply(os::layer_norm<I / X>(x), gain), os::multiply(os::rms_norm<J / Y>(x), bias));
  });
}

TEST_CASE("slots that want another sharding: stored divided, gathered, sliced, or summed later") {
  check<os::tensor<double, I, J / Y>, os::tensor<double, J / X>>([](auto const& x, auto const& gain, auto const& bias) {
    return both_norms(os::reshard<I / X, J / Y>(x), os::reshard<J>(gain), os::reshard<J / Y>(bias));
  });
  check<os::tensor<double, I / Y, J / X>>([](auto const& x, auto const& gain, auto const& bias) {
    return both_norms(os::reshard<I / X, J / Y>(x), os::defer_over<X>(gain), os::defer_over<X>(bias));
  });
}

TEST_CASE("in regions that gather operands again, or save a result by name") {
  check<os::tensor<double, I, J / Y>, os::tensor<double, J / X>>([](auto const& x, auto const& gain, auto const& bias) {
    auto const f = [](auto const& a, auto const& b, auto const& c) {
      auto const y = os::softmax<J>(os::reshard<I / X, J>(a));
      auto const gathered = os::layer_norm<J>(y, os::reshard<J>(b), os::reshard<J>(c));
      return os::reshard<I / X, J / Y>(os::add(gathered, os::rms_norm<J>(os::reshard<I / X, J>(a), os::reshard<J>(b))));
    };
    return os::checkpoint(f, os::save_all_but_gathers)(x, gain, bias);
  });
  check([](auto const& x, auto const& gain, auto const& bias) {
    auto const f = [](auto const& a, auto const& b, auto const& c) {
      auto const y = os::checkpoint_name(os::layer_norm<J / Y>(a, b, c), "kept");
      return os::multiply(os::checkpoint_name(os::softmax<J / Y>(y), "kept"), os::log_softmax<J / Y>(a));
    };
    return os::checkpoint(f, os::save_names("kept"))(x, gain, bias);
  });
}

TEST_CASE("softmax and its logarithm of an operand that is used again, or stored otherwise") {
  check<os::tensor<double, I / Y, J / X>>([](auto const& x, auto const&, auto const& bias) {
    auto const y = os::add(os::reshard<I / X, J / Y>(x), bias);
    return os::add(os::multiply(os::softmax<J / Y>(y), os::log_softmax<I / X>(y)),
                   os::softmax<I / X>(os::reshard<I / X, J / Y>(x)));
  });
}
