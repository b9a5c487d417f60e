// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Shapes: what is cut, joined, moved and renamed where blocks are uneven or empty.

// page: Shapes
// sham:

#include <doctest/doctest.h>

#include <ostraka/experts.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "field/field_case.hpp"
#include "support/on_meshes.hpp"
#include "support/program_array.hpp"

OSTRAKA_AXIS(E);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(R);

using namespace field;

FIELD_CASE("S1", "pytorch/pytorch#103306", "Gathering 5 rows that four ranks held gave 8 rows.") {
  auto const A = count_up("IJ", {5, 10});
  under<list<os::tensor<double, I/X, J>>>(A, [&](auto const& a) {
    gives(os::all_gather<X>(a), A.values, {5, 10});
    gives(os::slice<J/X>(os::all_gather<X>(a)), A.values, {5, 10});
    gives(os::reshard<I, J/X>(a), A.values, {5, 10});
    gives(os::reshard<I/X, J>(os::reshard<I, J/X>(a)), A.values, {5, 10});
  });
}

FIELD_CASE("S7", "jax-ml/jax#39309", "A reshape forgot a mesh axis of size one, and the next operation did not fit.") {
  auto const A = count_up("BK", {1, 24});
  auto const a = place<os::tensor<double, B/Y, K/X>>(A);
  auto const heads = os::split<K, I, J>(a, I = 12);
  static_assert(std::is_same_v<std::remove_const_t<decltype(heads)>, os::tensor<double, B/Y, I/X, J>>);
  gives(heads, A.values, {1, 12, 2});
  auto const empty_tail = place<os::tensor<double, B/Y, I/X, J>>(numbers("BIJ", {1, 12, 0}, {}));
  gives(os::concatenate<J>(heads, empty_tail), A.values, {1, 12, 2});
  gives(os::merge<I, J, K>(heads), A.values, {1, 24});
}

FIELD_CASE("S8", "tinygrad/tinygrad#5131, tinygrad/tinygrad#3098",
           "Padding or shrinking an axis that the devices do not divide evenly failed, or changed its blocks.") {
  auto const two = numbers("I", {2}, {1, 2});
  auto const a = place<os::tensor<double, I/X>>(two);
  gives(os::pad<I/X>(a, 1, 2), {0, 1, 2, 0, 0});
  auto const three = numbers("I", {3}, {1, 2, 3});
  auto const b = place<os::tensor<double, I/X>>(three);
  gives(os::window<I/X>(b, 1, 2), {2});
  gives(os::window<I/X>(b, 2, 2), std::vector<double>());
  gives(os::roll<I/X>(b, 1), {3, 1, 2});
  gives(os::roll<I/X>(b, -5), {3, 1, 2});
  gives(os::flip<I/X>(b), {3, 2, 1});
  gives(os::concatenate<I/X>(a, b), {1, 2, 1, 2, 3});
}

FIELD_CASE("S10", "sgl-project/sgl-kernel-npu#69, pytorch/pytorch#150928",
           "Ranks that receive nothing left the exchange of tokens early, and the others waited for them.") {
  auto const x = numbers("BIM", {4, 1, 1}, {1, 2, 3, 4});
  auto const to_first = numbers<std::int64_t>("BIK", {4, 1, 1}, {0, 0, 0, 0});
  auto const gates = numbers("BIK", {4, 1, 1}, {1, 1, 1, 1});
  auto const W = numbers("EMJ", {4, 1, 1}, {10, 20, 30, 40});
  auto const expert = [](auto const& rows, auto const& dot, auto const& w) {
    return os::rename<J, M>(os::relu(dot(rows, w)));
  };
  auto const tokens = place<os::tensor<double, B/X, I, M>>(x);
  auto const experts = place<os::tensor<std::int64_t, B/X, I, K>>(to_first);
  auto const weights = place<os::tensor<double, B/X, I, K>>(gates);
  auto const w = place<os::tensor<double, E/X, M, J>>(W);
  gives(os::dropless<R, E/X>(expert, tokens, experts, weights, w), {10, 20, 30, 40});
  auto const two = numbers("BIM", {2, 1, 1}, {1, 2});
  auto const few = place<os::tensor<double, B/X, I, M>>(two);
  auto const to_last = place<os::tensor<std::int64_t, B/X, I, K>>(numbers<std::int64_t>("BIK", {2, 1, 1}, {3, 3}));
  auto const their = place<os::tensor<double, B/X, I, K>>(numbers("BIK", {2, 1, 1}, {1, 1}));
  gives(os::dropless<R, E/X>(expert, few, to_last, their, w), {40, 80});
}

FIELD_CASE("O9", "helmholtz-analytics/heat#233", "Gathering columns gave them in the order of the ranks' memory.") {
  auto const A = numbers("IJ", {4, 4}, {3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5});
  under<matrices<double>>(A, [&](auto const& a) {
    gives(os::reshard<I, J>(a), A.values);
    gives(os::transpose<J, I>(a), {3, 3, 4, 4, 3, 3, 4, 4, 3, 3, 4, 4, 3, 3, 4, 5});
    gives(os::reshard<I/Y, J/X>(a), A.values);
  });
  under<summands<double>>(A, [&](auto const& a) {
    gives(os::reshard<I, J>(a), A.values);
    gives(os::reshard<I/X, J/Y>(a), A.values);
    gives(os::transpose<J, I>(a), {3, 3, 4, 4, 3, 3, 4, 4, 3, 3, 4, 4, 3, 3, 4, 5});
  });
}

FIELD_CASE("O10", "pytorch/pytorch#110762",
           "A tensor made of uneven blocks had the extent of the first block times the ranks.") {
  std::int64_t const n = current_mesh->size("X"), x = current_mesh->coordinate("X", t::rank());
  std::int64_t const first = x * 10 / n, end = (x + 1) * 10 / n;
  t::program_array<double> const array(static_cast<std::size_t>(end - first));
  for (std::int64_t i = first; i < end; ++i) array[static_cast<std::size_t>(i - first)] = static_cast<double>(i);
  array.send();
  Kokkos::View<double*> const block = array.view();
  gives(os::from_local<double, I/X>(mesh(), I = 10, block), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10});
}
