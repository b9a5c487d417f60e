// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Numerics: products whose labels repeat, are apart in the result, or are those of a batch, and a bias beside
/// summands.

// page: Numerics
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cstdint>
#include <vector>

#include "field/field_case.hpp"
#include "support/on_meshes.hpp"

using namespace field;

namespace {

std::vector<double> each_so_often(std::size_t often, std::initializer_list<double> values) {
  std::vector<double> all;
  for (double const v : values) all.insert(all.end(), often, v);
  return all;
}

}  // namespace

FIELD_CASE("N3", "Wenyueh/MinivLLM#80, huggingface/text-generation-inference#1036, awslabs/slapo#10",
           "The bias of a row-parallel layer was added to every rank's summand before the all-reduce: p times.") {
  auto const x = numbers("BK", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  auto const W = numbers("KJ", {4, 3}, {1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12});
  auto const bias = numbers("J", {3}, {100, 200, 300});
  auto const b = place<os::tensor<double, J>>(bias);
  under<few_matrices<double, B, K>,
        list<os::tensor<double, K, J>, os::tensor<double, K/X, J>, os::tensor<double, K, J/Y>>>(
      x, W, [&](auto const& in, auto const& w) {
        gives(os::einsum<B, J>(in, w) + b, {130, 270, 410, 170, 374, 578});
      });
  under<summands<double, B, K>, few_matrices<double, K, J>>(x, W, [&](auto const& in, auto const& w) {
    gives(os::einsum<B, J>(in, w) + b, {130, 270, 410, 170, 374, 578});
  });
  auto const in = place<os::tensor<double, B, K/X>>(x);
  auto const w = place<os::tensor<double, K/X, J>>(W);
  auto const summands = os::einsum<B, J, os::partial(X)>(in, w);
  gives(os::all_reduce<X>(summands) + b, {130, 270, 410, 170, 374, 578});
  // does not compile: partial_plus_replicated.field_n3
}

FIELD_CASE(
    "N7", "tinygrad/tinygrad#18229, tinygrad/tinygrad#18207",
    "A label that repeats and is not the last one gave the sum over other elements: [12, 14, 16, 18] for [6, 54].") {
  auto const A = count_up("IKJ", {2, 2, 4});
  auto const weights = numbers("J", {4}, {1, 10, 100, 1000});
  using places = list<os::tensor<double, I, K, J>, os::tensor<double, I, K, J/X>, os::tensor<double, I, K, J/X/Y>>;
  under<places, few_vectors<double, J>>(A, weights, [](auto const& a, auto const& w) {
    gives(os::einsum<I, J>(os::relabel<I, I, J>(a)), {0, 1, 2, 3, 12, 13, 14, 15});
    gives(os::einsum<I>(os::relabel<I, I, J>(a)), {6, 54});
    gives(os::einsum<I, J>(os::relabel<I, I, J>(a), w), {0, 10, 200, 3000, 12, 130, 1400, 15000});
  });
}

FIELD_CASE(
    "N9", "Einsums/Einsums#283",
    "An outer product was wrong where the labels of one operand are apart in the result: right for ab,c and bc,a.") {
  auto const A = numbers("IK", {2, 3}, {1, 2, 3, 4, 5, 6});
  auto const b = numbers("J", {2}, {10, 100});
  under<few_matrices<double, I, K>, few_vectors<double, J>>(A, b, [](auto const& a, auto const& v) {
    gives(os::einsum<I, J, K>(a, v), {10, 20, 30, 100, 200, 300, 40, 50, 60, 400, 500, 600});
    auto const c = os::ones<double, I/X, J, K>(mesh(), I = 2, J = 2, K = 3);
    os::einsum_into(c, a, v, os::beta = 1);
    gives(c, {11, 21, 31, 101, 201, 301, 41, 51, 61, 401, 501, 601});
  });
  auto const first_two = numbers("IJ", {2, 3}, {1, 2, 3, 4, 5, 6});
  auto const last = numbers("K", {2}, {10, 100});
  under<few_matrices<double>, few_vectors<double, K>>(first_two, last, [](auto const& a, auto const& v) {
    gives(os::einsum<I, J, K>(a, v), {10, 100, 20, 200, 30, 300, 40, 400, 50, 500, 60, 600});
  });
  auto const last_two = numbers("JK", {2, 3}, {1, 2, 3, 4, 5, 6});
  auto const first = numbers("I", {2}, {10, 100});
  under<few_matrices<double, J, K>, few_vectors<double>>(last_two, first, [](auto const& a, auto const& v) {
    gives(os::einsum<I, J, K>(a, v), {10, 20, 30, 40, 50, 60, 100, 200, 300, 400, 500, 600});
  });
}

FIELD_CASE("N10", "ValeevGroup/tiledarray#330, ValeevGroup/tiledarray#358, ValeevGroup/tiledarray#568",
           "Batch labels beside summed ones gave wrong blocks where the batch is divided.") {
  auto const T = count_up("BIJK", {2, 2, 2, 2});
  auto const G = count_up("BJKL", {2, 2, 2, 1});
  using of_batch =
      list<os::tensor<double, B, I, J, K>, os::tensor<double, B/X, I, J, K>, os::tensor<double, B, I/Y, J/X, K>>;
  using of_rest =
      list<os::tensor<double, B, J, K, L>, os::tensor<double, B/X, J, K, L>, os::tensor<double, B, J/X, K, L>>;
  under<of_batch, of_rest>(T, G, [](auto const& left, auto const& right) {
    gives(os::einsum<B, I, L>(left, right), {14, 38, 214, 302});
  });
  auto const R = count_up("BIJ", {3, 2, 2});
  auto const ones = numbers("BJKL", {3, 2, 4, 4}, std::vector<double>(96, 1));
  auto const planes = each_so_often(16, {1, 5, 9, 13, 17, 21});
  under<list<os::tensor<double, B/X, I, J>, os::tensor<double, B, I, J/X>>, of_rest>(
      R, ones, [&](auto const& left, auto const& right) {
        gives(os::einsum<B, I, K, L>(left, right), planes);
        gives(os::einsum<B/X, I, K, L/Y>(left, right), planes);
        gives(os::sum<>(os::einsum<B, I, K, L>(left, right)), 1056);
      });
  auto const A = count_up("BK", {3, 2});
  auto const b = numbers("B", {3}, {1, 10, 100});
  under<few_matrices<double, B, K>, few_vectors<double, B>>(A, b, [](auto const& a, auto const& v) {
    gives(os::einsum<B, K>(a, v), {0, 1, 20, 30, 400, 500});
  });
}

FIELD_CASE(
    "O28", "numpy/numpy#11548",
    "An axis of extent 1 in one operand and 3 in the other was summed in each on its own: a times the sum of b.") {
  auto const a = place<os::tensor<double, I/X, K>>(count_up("IK", {4, 1}));
  auto const b = place<os::tensor<double, J, K>>(count_up("JK", {1, 3}));
  refuses([&] { static_cast<void>(os::einsum<I/X, J>(a, b)); },
          "einsum: all operands agree on the extent of an axis, but K is 1 in one and 3 in another");
  // does not compile: unshared_axis_would_be_summed
}

FIELD_CASE("O5", "NVIDIA/physicsnemo#1943",
           "Two tensors of equal extents whose blocks begin at other rows were added block by block.") {
  auto const A = count_up("IJ", {3, 2});
  auto const ones = numbers("IJ", {3, 2}, {1, 1, 1, 1, 1, 1});
  under<matrices<double>, list<os::tensor<double, I, J>>>(A, ones, [](auto const& a, auto const& b) {
    gives(a + b, {1, 2, 3, 4, 5, 6});
  });
  under<summands<double>>(A, [](auto const& a) { gives(a + a, {0, 2, 4, 6, 8, 10}); });
  // does not compile: axis_split_differently.operator
}

FIELD_CASE("O6", "pytorch/pytorch#177474",
           "With complex numbers, einsum multiplied by b instead of by its conjugate.") {
  using complex = Kokkos::complex<double>;
  auto const z = numbers<complex>("I", {3}, {{1, 1}, {2, 0}, {0, 3}});
  under<vectors<complex>>(z, [](auto const& a) {
    gives(os::einsum<>(a, os::conj(a)), {{15, 0}});
    gives(os::einsum<>(a, a), {{-5, 2}});
  });
}

FIELD_CASE("O7", "huggingface/candle#3718, pytorch/executorch#20090, ml-explore/mlx#3909",
           "Sums of 16-bit numbers stop once a number is smaller than half of the last digit: 512 ones gave 256.") {
  auto const ones = numbers<os::bfloat16>("I", {512}, std::vector<os::bfloat16>(512, os::bfloat16(1.0f)));
  under<vectors<os::bfloat16>>(ones, [](auto const& a) {
    gives(os::sum<>(a), 512);
    gives(os::mean<>(a), 1);
    gives(os::einsum<>(a, a), 512);
    gives(os::norm<>(a), 22.625);
  });
  auto const halves = numbers<os::float16>("I", {4097}, std::vector<os::float16>(4097, os::float16(0.5f)));
  under<vectors<os::float16>>(halves, [](auto const& a) { gives(os::sum<>(a), 2048); });
}
