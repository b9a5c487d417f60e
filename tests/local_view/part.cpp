// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::part: parts of blocks as operands and as targets, in the rings of an all-gather–matmul and a
/// matmul–reduce-scatter, on every mesh, with uneven blocks; against plain loops.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <utility>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <auto... Dims>
using tensor = os::tensor<double, Dims...>;

}  // namespace

TEST_CASE("a gather and a product as a ring") {
  t::on_every_mesh([](t::test_mesh const& m) {
    os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
    for (t::extents_by_letter const& e : t::usual_extents()) {
      INFO(m.text(), t::text_of(e));
      auto const a = t::whole_numbers<double>("IJ", e, 1), b = t::whole_numbers<double>("JK", e, 2);
      auto const left = t::placed<tensor<I/X, J>>(m, a);
      auto const right = t::placed<tensor<J/X, K>>(m, b);
      auto const C = os::shard_map<I/X, K>(
          [&](auto l, auto r) {
            int const n = os::axis_size<X>(l);
            auto const i = os::axis_index<X>(l);
            auto out = os::zeros<double, I, K, os::varying(X)>(mesh, I = l.extent(I), K = r.extent(K));
            for (int s = 0; s + 1 < n; ++s) {
              auto next = os::start_shift<X>(r, +1);
              os::einsum_into(out, os::part<J>(l, (i - s) % n, n), r, os::beta = s > 0 ? 1 : 0);
              r = std::move(next).wait();
            }
            os::einsum_into(out, os::part<J>(l, (i - (n - 1)) % n, n), r, os::beta = n > 1 ? 1 : 0);
            return out;
          },
          left, right);
      CHECK(t::disagreements(m, C, t::product_by_loops("IK", a, b)) == 0);
    }
  });
}

TEST_CASE("a product and a reduce-scatter as a ring") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 3 * m.size("X")}, {'J', 7}, {'K', 5}};
    INFO(m.text());
    auto const a = t::whole_numbers<double>("IJ", e, 1), b = t::whole_numbers<double>("JK", e, 2);
    auto const left = t::placed<tensor<I, J/X>>(m, a);
    auto const right = t::placed<tensor<J/X, K>>(m, b);
    auto const C = os::shard_map<I/X, K>(
        [](auto l, auto r) {
          int const n = os::axis_size<X>(l);
          auto const i = os::axis_index<X>(l);
          auto sum = os::einsum<I, K>(os::part<I>(l, (i - 1) % n, n), r);
          for (int s = 2; s <= n; ++s) {
            auto next = os::start_shift<X>(sum, +1);
            auto own = os::einsum<I, K>(os::part<I>(l, (i - s) % n, n), r);
            sum = os::add(own, std::move(next).wait());
          }
          return sum;
        },
        left, right);
    CHECK(t::disagreements(m, C, t::product_by_loops("IK", a, b)) == 0);
  });
}

TEST_CASE("a part along the first axis is written to") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      INFO(m.text(), t::text_of(e));
      auto const a = t::whole_numbers<double>("IJ", e, 1), b = t::whole_numbers<double>("JK", e, 2);
      auto const left = t::placed<tensor<I, J>>(m, a);
      auto const right = t::placed<tensor<J, K>>(m, b);
      auto const C = t::placed<tensor<I, K>>(m, t::whole_numbers<double>("IK", e, 3));
      for (int i = 0; i < 3; ++i) os::einsum_into(os::part<I>(C, i, 3), os::part<I>(left, i, 3), right);
      CHECK(t::disagreements(m, C, t::product_by_loops("IK", a, b)) == 0);
      CHECK_THROWS_AS(static_cast<void>(os::part<I>(C, 3, 3)), os::error);
      CHECK_THROWS_AS(static_cast<void>(os::part<I>(C, -1, 3)), os::error);
      for (int i = 0; i < 2; ++i) os::einsum_into(C, os::part<J>(left, i, 2), os::part<J>(right, i, 2), os::beta = i);
      CHECK(t::disagreements(m, C, t::product_by_loops("IK", a, b)) == 0);
    }
  });
}
