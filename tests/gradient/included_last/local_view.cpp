// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of templates that stand before ostraka/gradient.hpp is included (against_loops.hpp): collectives of
/// bodies, and blocks that are exchanged.
// sham:

#include <doctest/doctest.h>

#include <ostraka/local_view.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// The tests differentiate Σ of the elements of each result by x[I, J].

// x[I, J] · Σ_I x², of which devices sum their parts.
template <class A>
auto by_a_body(A const& x) {
  return os::shard_map<I/X, J>(
      [](auto const& block) { return block * os::psum<X>(os::einsum<J>(block, block)); }, x);
}

struct doubled {
  template <class U>
  KOKKOS_INLINE_FUNCTION double operator()(U const& u) const {
    return 2 * u(0);
  }
  template <class U>
  KOKKOS_INLINE_FUNCTION double derivative(os::neighbour<1> n, U const&) const {
    return n[0] == 0 ? 2.0 : 0.0;
  }
};

// In a body: x² + 5x, and sums that cancel.
struct by_exchanges {
  template <class A>
  auto operator()(A const& x) const {
    return os::shard_map<I/X, J>(
        [](auto const& block) {
          auto begun = os::start_shift<X>(block, 1);
          auto const square = block * block;
          auto const there_and_back = os::shift<X>(std::move(begun).wait(), -1);
          auto const own = os::own(os::exchange_halo<os::halo<J, 1>>(block));
          auto const twice = os::stencil(doubled{}, os::start_exchange_halo<os::halo<J, 1>>(block));
          auto const whole = os::einsum<I, J>(os::part<J>(block, 0, 1));
          auto const sums = os::einsum<J>(block);
          std::vector<os::hop> const hops;
          auto const none = os::ppermute<X>(sums, hops) - os::start_ppermute<X>(sums, hops).wait();
          auto const reduced = os::preduce<X>([](auto const& a, auto const& b) { return a + b; }, sums);
          return square + there_and_back + own + twice + whole + (none + os::pvary<X>(reduced - os::psum<X>(sums)));
        },
        x);
  }
  static double of(double x) { return x * x + 5 * x; }
  static double derivative(double x) { return 2 * x + 5; }
};

}  // namespace

#include "gradient/included_last/against_loops.hpp"

using namespace t::loops;

TEST_CASE("collectives of bodies") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::int64_t const rows : {0, 1, 2, 3, 7}) {
      auto derivatives = numbers(rows);
      auto const x = t::placed<os::tensor<double, I/X, J>>(m, derivatives);
      double sum = 0;
      for (std::int64_t j = 0; j < columns; ++j) {
        double squares = 0, all = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
          squares += element(i, j) * element(i, j);
          all += element(i, j);
        }
        for (std::int64_t i = 0; i < rows; ++i)
          derivatives.values[static_cast<std::size_t>(i * columns + j)] = squares + 2 * element(i, j) * all;
        sum += squares * all;
      }
      auto const [value, gradient] = os::value_and_grad([](auto const& v) { return os::sum<>(by_a_body(v)); })(x);
      CHECK(agree(os::value(value), sum));
      CHECK(t::disagreements(m, gradient, derivatives, agree) == 0);
    }
  });
}

TEST_CASE("blocks that are exchanged") { check(by_exchanges{}); }
