// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::einsum, the whole table on one mesh axis: C[b, i, k] = A[b, i, j] · B[b, j, k] with every state of A
/// (replicated, divided on b, i or j, partial), of B (… b, j or k …) and of the result (… b, i or k …): 5 · 5 · 5
/// cells, the eleven free ones and all others.
// sham:

#include <doctest/doctest.h>

#include <cstddef>
#include <utility>

#include "support/einsum_case.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// State s of a tensor along X: 0 replicated, 1 … 3 divided on its axis of that number, 4 partial.
template <int State, int Position, class A>
consteval auto dimension(A axis) {
  if constexpr (State == Position)
    return axis / X;
  else
    return axis;
}

template <int State>
consteval auto summands() {
  if constexpr (State == 4)
    return os::partial(X);
  else
    return os::sharding<>{};
}

template <int S>
using left = os::dims<dimension<S, 1>(B), dimension<S, 2>(I), dimension<S, 3>(J), summands<S>()>;
template <int S>
using right = os::dims<dimension<S, 1>(B), dimension<S, 2>(J), dimension<S, 3>(K), summands<S>()>;
template <int S>
using result = os::dims<dimension<S, 1>(B), dimension<S, 2>(I), dimension<S, 3>(K), summands<S>()>;

template <int A, class T, int... Cells>
void row(t::test_mesh const& m, t::extents_by_letter const& e, std::integer_sequence<int, Cells...>) {
  (t::check_einsum<T>(m, e, result<Cells % 5>{}, left<A>{}, right<Cells / 5>{}), ...);
}

// Two element types take turns; einsum_elements.cpp has the others.
template <int A, class T>
void row() {
  t::cases_checked = 0;
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    row<A, T>(m, e, std::make_integer_sequence<int, 25>{});
  });
  CHECK(t::cases_checked == 25 * static_cast<std::int64_t>(t::mesh_shapes().size() * t::usual_extents().size()));
}

}  // namespace

TEST_CASE("A replicated") { row<0, std::int64_t>(); }
TEST_CASE("A divided on the batch axis") { row<1, std::int64_t>(); }
TEST_CASE("A divided on the outer axis") { row<2, double>(); }
TEST_CASE("A divided on the contracted axis") { row<3, std::int64_t>(); }
TEST_CASE("A partial") { row<4, double>(); }
