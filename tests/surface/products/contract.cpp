// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::contract: the inferred sharding of the result, the elements, and that nothing is communicated. [I_X, J] · [J,
/// K_Y] → [I_X, K_Y]
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <type_traits>

#include "support/einsum_case.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

template <class T, auto... Js, auto... Out, auto... DimsA, auto... DimsB>
void check_contract(t::test_mesh const& m, t::extents_by_letter const& e, dims<Js...>, dims<DimsA...>, dims<DimsB...>,
                    dims<Out...>) {
  using left = os::tensor<T, DimsA...>;
  using right = os::tensor<T, DimsB...>;
  using result = decltype(os::contract<Js...>(left(), right()));
  static_assert(std::is_same_v<result, os::tensor<T, Out...>>);
  static_assert(os::can_contract<dims<Js...>, left, right>);
  auto const a = t::whole_numbers<T>(t::letters_in<left>(), e, 6);
  auto const b = t::whole_numbers<T>(t::letters_in<right>(), e, 7);
  auto const placed_a = t::placed<left>(m, a);
  auto const placed_b = t::placed<right>(m, b);
  result c;
  t::traffic const moved = t::traffic_of([&] { c = os::contract<Js...>(placed_a, placed_b); });
  INFO(m.text(), t::text_of(e), os::describe(c));
  CHECK(t::disagreements(m, c, t::product_by_loops(t::letters_in<result>(), a, b)) == 0);
  CHECK(moved.calls == 0);
}

template <class T>
void check_all() {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    check_contract<T>(m, e, dims<J>{}, dims<I, J>{}, dims<J, K>{}, dims<I, K>{});
    check_contract<T>(m, e, dims<J>{}, dims<I/X, J>{}, dims<J, K>{}, dims<I/X, K>{});
    check_contract<T>(m, e, dims<J>{}, dims<I/X, J>{}, dims<J, K/Y>{}, dims<I/X, K/Y>{});
    check_contract<T>(m, e, dims<J>{}, dims<I/X/Y, J>{}, dims<J, K/Z>{}, dims<I/X/Y, K/Z>{});
    check_contract<T>(m, e, dims<J>{}, dims<B/X, I, J>{}, dims<B, J, K>{},
                      dims<B/X, I, K>{});  // the batch axis is sliced
    check_contract<T>(m, e, dims<J>{}, dims<B/X, I, J>{}, dims<B/X/Y, J, K>{}, dims<B/X/Y, I, K>{});
    check_contract<T>(m, e, dims<J>{}, dims<B/X, I/Y, J>{}, dims<B/X, J, K/Z>{}, dims<B/X, I/Y, K/Z>{});
    check_contract<T>(m, e, dims<J, L>{}, dims<I/X, J, L>{}, dims<L, K, J>{}, dims<I/X, K>{});           // two axes
    check_contract<T>(m, e, dims<>{}, dims<I/X, J>{}, dims<J, K/Y>{}, dims<I/X, J, K/Y>{});              // none
    check_contract<T>(m, e, dims<J, I>{}, dims<I, J>{}, dims<J, I>{}, dims<>{});
    check_contract<T>(m, e, dims<J>{}, dims<J>{}, dims<K/X, J>{}, dims<K/X>{});
  });
}

}  // namespace

TEST_CASE("float") { check_all<float>(); }
TEST_CASE("int32") { check_all<std::int32_t>(); }

TEST_CASE("what needs communication is refused before") {
  using ix_j = os::tensor<double, I/X, J>;
  using i_jx = os::tensor<double, I, J/X>;
  using j_kx = os::tensor<double, J, K/X>;
  using jx_k = os::tensor<double, J/X, K>;
  using partial = os::tensor<double, J, K, os::partial(X)>;
  CHECK_FALSE(os::can_contract<dims<J>, ix_j, j_kx>);
  CHECK_FALSE(os::can_contract<dims<J>, i_jx, jx_k>);
  CHECK_FALSE(os::can_contract<dims<J>, i_jx, os::tensor<double, J/Y, K>>);
  CHECK_FALSE(os::can_contract<dims<J>, ix_j, partial>);
  CHECK_FALSE(os::can_contract<dims<J>, os::tensor<double, I, J>, partial>);
  CHECK_FALSE(os::can_contract<dims<K>, ix_j, os::tensor<double, J, B>>);
  CHECK_FALSE(os::can_contract<dims<L>, os::tensor<double, I, L>, os::tensor<double, K>>);  // in one operand only
  CHECK_FALSE(os::can_contract<dims<L>, os::tensor<double, K>, os::tensor<double, I, L>>);
  CHECK(os::can_einsum<dims<I/X, K>, ix_j, j_kx>);
}
