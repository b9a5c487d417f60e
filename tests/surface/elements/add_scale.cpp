// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::add and os::scale: the rules of os::map, and partial tensors to partial ones, for nothing. A[I] {U_X} + B[I]
/// {U_X} → [I] {U_X}
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <type_traits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

template <class T, auto... Out, auto... DimsA, auto... DimsB>
void check_add(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, dims<DimsA...>, dims<DimsB...>) {
  using left = os::tensor<T, DimsA...>;
  using right = os::tensor<T, DimsB...>;
  using result = os::tensor<T, Out...>;
  auto const a = t::whole_numbers<T>(t::letters_in<left>(), e, 15);
  auto const b = t::whole_numbers<T>(t::letters_in<right>(), e, 16);
  t::global_tensor<T> wanted{t::letters_in<result>(), e, {}};
  t::for_each_index(wanted.labels, e, [&](t::extents_by_letter const& at) {
    wanted.values.push_back(static_cast<T>(a.values[a.position(at)] + b.values[b.position(at)]));
  });
  auto const placed_a = t::placed<left>(m, a);
  auto const placed_b = t::placed<right>(m, b);
  static_assert(std::is_same_v<decltype(os::add(placed_a, placed_b)), result>);
  result c;
  INFO(m.text(), t::text_of(e), os::describe(placed_a), " + ", os::describe(placed_b));
  CHECK(t::traffic_of([&] { c = os::add(placed_a, placed_b); }).calls == 0);
  CHECK(t::disagreements(m, c, wanted) == 0);
}

template <class T, auto... Dims>
void check_scale(t::test_mesh const& m, t::extents_by_letter const& e, dims<Dims...>, T factor) {
  using operand = os::tensor<T, Dims...>;
  auto wanted = t::whole_numbers<T>(t::letters_in<operand>(), e, 17);
  auto const a = t::placed<operand>(m, wanted);
  for (T& v : wanted.values) v = static_cast<T>(factor * v);
  static_assert(std::is_same_v<decltype(os::scale(factor, a)), operand>);
  operand c;
  INFO(m.text(), t::text_of(e), os::describe(a));
  CHECK(t::traffic_of([&] { c = os::scale(factor, a); }).calls == 0);
  CHECK(t::disagreements(m, c, wanted) == 0);
}

template <class T>
void check_all(T factor) {
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check_add<T>(m, e, dims<I/X, J/Y>{}, dims<I/X, J/Y>{}, dims<I/X, J/Y>{});
      check_add<T>(m, e, dims<I/X, J>{}, dims<I/X, J>{}, dims<J>{});
      check_add<T>(m, e, dims<I/X, J/Y>{}, dims<I, J>{}, dims<J/Y, I/X>{});
      check_add<T>(m, e, dims<I, J, partial(X)>{}, dims<I, J, partial(X)>{}, dims<I, J, partial(X)>{});
      check_add<T>(m, e, dims<I/Z, J, partial(X, Y)>{}, dims<I/Z, J, partial(X, Y)>{}, dims<I, J, partial(Y, X)>{});
      check_add<T>(m, e, dims<I, J, partial(X)>{}, dims<I, partial(X)>{}, dims<J, partial(X)>{});
      check_scale<T>(m, e, dims<I/X, J>{}, factor);
      check_scale<T>(m, e, dims<I/Y, J, partial(X)>{}, factor);
      check_scale<T>(m, e, dims<>{}, factor);
    }
  });
}

}  // namespace

TEST_CASE("double") { check_all<double>(-3); }
TEST_CASE("int64") { check_all<std::int64_t>(5); }
TEST_CASE("complex<float>") { check_all<Kokkos::complex<float>>({2, -1}); }
