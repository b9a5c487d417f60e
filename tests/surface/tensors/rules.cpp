// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// One program under many rules: wherever dimensions are written, rules act as the dimensions written out, and the
/// program gives the results of plain loops. C[B, K] = Σ_J f(A[B, J]) · W[J, K]
// sham:

#include <doctest/doctest.h>

#include <type_traits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;
using std::is_same_v;

namespace {

struct twice {
  KOKKOS_FUNCTION double operator()(double v) const { return 2 * v; }
};

struct index_sum {
  KOKKOS_FUNCTION double operator()(std::int64_t b, std::int64_t j) const {
    return static_cast<double>((3 * b + j) % 7);
  }
};

template <auto R>
void check(t::test_mesh const& m, t::extents_by_letter const& e) {
  INFO(m.text(), t::text_of(e));
  auto const whole_a = t::whole_numbers<double>("BJ", e, 21);
  auto const whole_w = t::whole_numbers<double>("JK", e, 22);
  auto const a = t::placed<os::tensor_under<R, double, B, J>>(m, whole_a);
  auto const w = t::placed<os::tensor_under<R, double, J, K>>(m, whole_w);
  auto wanted = t::product_by_loops("BK", whole_a, whole_w);
  for (double& v : wanted.values) v *= 2;

  auto const doubled = os::map(twice{}, a);
  auto const c = os::einsum<R(B, K)>(doubled, w);
  static_assert(is_same_v<decltype(c), os::tensor_under<R, double, B, K> const>);
  CHECK(t::disagreements(m, c, wanted) == 0);

  // Moved to other places and back, reduced, made anew.
  CHECK(t::disagreements(m, os::reshard<R(B, K)>(os::reshard<B, K/Z>(c)), wanted) == 0);
  CHECK(t::disagreements(m, os::sum<R(K)>(c), t::sum_by_loops("K", wanted)) == 0);
  CHECK(t::disagreements(m, os::sum<R()>(c), t::sum_by_loops("", wanted)) == 0);
  os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
  auto const made = os::generate<double, R(B, J)>(mesh, t::named(e), index_sum{});
  t::global_tensor<double> whole_made{"BJ", e, {}};
  t::for_each_index("BJ", e, [&](t::extents_by_letter const& at) {
    whole_made.values.push_back(index_sum{}(at.at('B'), at.at('J')));
  });
  CHECK(t::disagreements(m, made, whole_made) == 0);
  auto const zeros = os::zeros<double, R(B, J)>(mesh, a);
  static_assert(is_same_v<decltype(zeros), decltype(os::random<double, R(B, J)>(mesh, a)) const>);
}

}  // namespace

TEST_CASE("one program under many rules") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<os::rules<>{}>(m, e);
      check<os::rules<B/X/Y>{}>(m, e);
      check<os::rules<J/Y>{}>(m, e);
      check<os::rules<B/Y, K/X>{}>(m, e);
      check<os::rules<B/X, J/Z, K/Y>{}>(m, e);
    }
  });
}

TEST_CASE("verbs take what rules say of one axis, and partials stand behind") {
  constexpr os::rules<B/X, K/Y> R;
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const g = t::whole_numbers<double>("BK", e, 23);
      auto const a = t::placed<os::tensor<double, B, K>>(m, g);
      auto const sliced = os::slice<R(K)>(os::slice<R(B)>(a));
      static_assert(is_same_v<decltype(sliced), os::tensor<double, B/X, K/Y> const>);
      CHECK(t::disagreements(m, sliced, g) == 0);
      auto const p = os::sum<R(K), os::partial(X)>(sliced);
      static_assert(is_same_v<decltype(p), os::tensor<double, K/Y, os::partial(X)> const>);
      CHECK(t::disagreements(m, os::all_reduce<X>(p), t::sum_by_loops("K", g)) == 0);
      auto const q = t::placed<os::tensor<double, R(K), B, os::partial(X)>>(m, t::whole_numbers<double>("KB", e, 24));
      CHECK(t::disagreements(m, os::reduce_scatter<R(B)>(q), t::whole_numbers<double>("KB", e, 24)) == 0);
    }
  });
}
