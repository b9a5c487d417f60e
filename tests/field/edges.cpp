// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Numerics at the edges: what is no number in memory that is written, among keys or in rows that are ignored, uneven
/// blocks in rings and in bodies.
// page: Numerics
// sham:

#include <doctest/doctest.h>

#include <ostraka/experts.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>
#include <vector>

#include "field/field_case.hpp"
#include "field/gradient.hpp"
#include "support/on_meshes.hpp"

OSTRAKA_AXIS(C);
OSTRAKA_AXIS(E);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(R);

using namespace field;

FIELD_CASE("O21", "icl-utk-edu/blaspp#39, ValeevGroup/tiledarray#104, ROCm/rocBLAS#125",
           "A product that should overwrite memory multiplied its contents by zero, and NaN stayed NaN.") {
  auto const A = count_up("IK", {3, 2});
  auto const W = count_up("KJ", {2, 3});
  under<few_matrices<double, I, K>, few_matrices<double, K, J>>(A, W, [](auto const& a, auto const& b) {
    auto const c = os::full<double, I/X, J>(mesh(), I = 3, J = 3, not_a_number);
    os::einsum_into(c, a, b);
    gives(c, {3, 4, 5, 9, 14, 19, 15, 24, 33});
    auto const d = os::full<double, I, J/Y>(mesh(), I = 3, J = 3, not_a_number);
    os::einsum_into(d, a, b, os::alpha = 2, os::beta = 0);
    gives(d, {6, 8, 10, 18, 28, 38, 30, 48, 66});
  });
  auto const none = place<os::tensor<double, I, K/X>>(numbers("IK", {2, 0}, {}));
  auto const of_none = place<os::tensor<double, K/X, J>>(numbers("KJ", {0, 2}, {}));
  auto const e = os::full<double, I, J>(mesh(), I = 2, J = 2, not_a_number);
  os::einsum_into(e, none, of_none);
  gives(e, {0, 0, 0, 0});
}

FIELD_CASE("O22", "pytorch/pytorch#16762, tensorflow/tensorflow#117287, numpy/numpy#24165",
           "Where a NaN stood, or which of two equal elements came first, depended on where they had stood before.") {
  auto const A = numbers("IJ", {2, 4}, {3, not_a_number, 1, 3, -infinite, 2, infinite, 2});
  under<list<os::tensor<double, I, J>, os::tensor<double, I/X, J>, os::tensor<double, I/Y/X, J>>>(
      A, [](auto const& a) {
        gives(os::sort<J>(a), {1, 3, 3, not_a_number, -infinite, 2, 2, infinite});
        gives(os::argsort<J>(a), {2, 0, 3, 1, 0, 1, 3, 2});
        gives(os::top_k<J, K>(a, K = 3).values, {not_a_number, 3, 3, infinite, 2, 2});
        gives(os::top_k<J, K>(a, K = 3).indices, {1, 0, 3, 2, 1, 3});
      });
}

FIELD_CASE("O23", "zhuzilin/ring-flash-attention#54, NVIDIA/TransformerEngine#1929, jzhang38/EasyContext#10",
           "A ring of keys was wrong, or stood still, where the devices do not divide the sequence.") {
  auto const q = place<os::tensor<double, I/X, J>>(numbers("IJ", {3, 1}, {1, 1, 1}));
  auto const k = place<os::tensor<double, K/X, J>>(numbers("KJ", {3, 1}, {0, 0, 0}));
  auto const v = place<os::tensor<double, K/X, J>>(numbers("KJ", {3, 1}, {6, 0, 3}));
  gives(os::attention<I, K/X, J>(q, k, v, os::ring), {3, 3, 3});
  gives(os::attention<I, K/X, J>(q, k, v, os::ring, os::causal), {6, 3, 3});
  gives(os::attention<I, K/X, J>(q, k, v, os::ring_both_ways, os::causal), {6, 3, 3});
  auto const loss = [&](auto const& p) { return os::sum<>(os::attention<I, K/X, J>(q, k, p, os::ring, os::causal)); };
  gives(gradient(loss, v), {11.0 / 6, 5.0 / 6, 2.0 / 6});
  auto const no_keys = place<os::tensor<double, K/X, J>>(numbers("KJ", {0, 1}, {}));
  gives(os::attention<I, K/X, J>(q, no_keys, no_keys, os::ring), {0, 0, 0});
}

FIELD_CASE("O24", "pytorch/pytorch#63004, OpenRLHF/OpenRLHF#583",
           "Rows whose label is ignored reached the loss, or the gradient, or made both NaN.") {
  auto const logits = numbers("IJ", {3, 2}, {0, 0, 5, 5, not_a_number, 1});
  auto const a = place<os::tensor<double, I/X, J>>(logits);
  auto const l = place<os::tensor<std::int32_t, I/X>>(numbers<std::int32_t>("I", {3}, {0, 1, -100}));
  gives(os::cross_entropy<J>(a, l, os::ignore(-100)), {0.6931471806, 0.6931471806, 0});
  auto const loss = [&](auto const& p) { return os::sum<>(os::cross_entropy<J>(p, l, os::ignore(-100))); };
  gives(gradient(loss, a), {-0.5, 0.5, 0.5, -0.5, 0, 0});
  auto const b = place<os::tensor<double, I, J/X>>(logits);
  auto const m = place<os::tensor<std::int32_t, I>>(numbers<std::int32_t>("I", {3}, {0, 1, -100}));
  gives(os::cross_entropy<J/X>(b, m, os::ignore(-100)), {0.6931471806, 0.6931471806, 0});
  auto const divided = [&](auto const& p) { return os::sum<>(os::cross_entropy<J/X>(p, m, os::ignore(-100))); };
  gives(gradient(divided, b), {-0.5, 0.5, 0.5, -0.5, 0, 0});
}

FIELD_CASE("O25", "pytorch/pytorch#47522",
           "Maxima of complex numbers over ranks were refused by some all-reduces and taken by others.") {
  using complex = Kokkos::complex<double>;
  auto const P = numbers<complex>("I", {2}, {{1, 2}, {3, -1}});
  using summands_of_one = list<os::tensor<complex, I, os::partial(X)>, os::tensor<complex, I/Y, os::partial(X)>>;
  under<summands_of_one>(P, [](auto const& p) {
    gives(os::reshard<I/X>(p), {{1, 2}, {3, -1}});
    gives(os::reshard<I>(os::conj(p)), {{1, -2}, {3, 1}});
    gives(os::sum<>(p), {{4, 1}});
  });
  // does not compile: elements_have_no_order
}

FIELD_CASE("O26", "pytorch/pytorch#172812",
           "A body gave wrong results where its devices have blocks of different extents.") {
  auto const a = place<os::tensor<double, I/X, J>>(count_up("IJ", {5, 2}));
  gives(os::shard_map<J>([](auto x) { return os::psum<X>(os::sum<J>(x)); }, a), {20, 25});
  gives(os::shard_map<J>([](auto x) { return os::pmax<X>(os::max<J>(x)); }, a), {8, 9});
  gives(os::shard_map<>([](auto x) { return os::psum<X>(os::einsum<>(x, x)); }, a), 285);
  gives(os::shard_map<I/X, J>([](auto x) { return os::cumsum<J>(x); }, a), {0, 1, 2, 5, 4, 9, 6, 13, 8, 17});
  gives(os::shard_map<J, I/X>([](auto x) { return os::transpose<J, I>(x); }, a), {0, 2, 4, 6, 8, 1, 3, 5, 7, 9});
  gives(os::shard_map<I, J>([](auto x) { return os::all_gather_invariant<I/X>(x + x); }, a),
        {0, 2, 4, 6, 8, 10, 12, 14, 16, 18});
  gives(os::shard_map<I/X, J>([](auto x) { return os::dropout(x, 0.0, os::seed(1)); }, a),
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

FIELD_CASE("O27", "pytorch/torchtitan#1805",
           "A12 with two experts a token, uneven blocks, and experts that are full.") {
  auto const x = place<os::tensor<double, B/X, I, M>>(numbers("BIM", {3, 2, 1}, {1, 2, 3, 4, 5, 6}));
  auto const experts = place<os::tensor<std::int64_t, B/X, I, K>>(
      numbers<std::int64_t>("BIK", {3, 2, 2}, {0, 1, 1, 2, 2, 0, 0, 1, 2, 1, 0, 2}));
  auto const gates =
      place<os::tensor<double, B/X, I, K>>(numbers("BIK", {3, 2, 2}, {1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10}));
  auto const w = place<os::tensor<double, E/X, M, J>>(numbers("EMJ", {3, 1, 1}, {1, 2, 3}));
  auto const product = [](auto const& rows, auto const& dot, auto const& p) { return os::rename<J, M>(dot(rows, p)); };
  gives(os::dropless<R, E/X>(product, x, experts, gates, w), {21, 64, 39, 84, 115, 186});
  auto const room_for_two = os::assign_slots<E, C>(experts, E = 3, C = 2);
  gives(os::with_capacity<E/X>(product, x, room_for_two, gates, w), {21, 64, 39, 84, 115, 186});
  auto const room_for_one = os::assign_slots<E, C>(experts, E = 3, C = 1);
  gives(os::with_capacity<E/X>(product, x, room_for_one, gates, w), {21, 60, 39, 80, 115, 6});
  auto const by_gates = [&](auto const& p) { return os::sum<>(os::dropless<R, E/X>(product, x, experts, p, w)); };
  gives(gradient(by_gates, gates), {1, 2, 4, 6, 9, 3, 4, 8, 15, 10, 6, 18});
  auto const by_tokens = [&](auto const& p) {
    return os::sum<>(os::dropless<R, E/X>(product, p, experts, gates, w));
  };
  gives(gradient(by_tokens, x), {21, 32, 13, 21, 23, 31});
}
