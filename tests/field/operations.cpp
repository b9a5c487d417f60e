// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Numerics: operations along a divided axis, what a mask hides, and random numbers.

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

// All elements of a tensor of a mesh of this process alone.
template <class Tensor>
std::vector<double> elements(Tensor const& a) {
  return t::read_elements<double>(a.local().data(), a.local().size());
}

}  // namespace

FIELD_CASE("N6", "NVIDIA/Megatron-LM#7452",
           "The loss of logits that had been gathered was taken as that of divided ones: right plus ln p.") {
  auto const logits = numbers("IJ", {1, 2}, {0.6931471805599453, 1.0986122886681098});
  auto const label = numbers<std::int64_t>("I", {1}, {0});
  auto const l = place<os::tensor<std::int64_t, I>>(label);
  auto const whole = place<os::tensor<double, I, J>>(logits);
  gives(os::cross_entropy<J>(whole, l), {0.9162907319});
  gives(os::cross_entropy<J/X>(os::slice<J/X>(whole), l), {0.9162907319});
  // does not compile: axis_sharding_mismatch.field_n6
}

FIELD_CASE("N14", "pytorch/pytorch#168058, pytorch/pytorch#146190, tenstorrent/tt-metal#55947",
           "Random numbers depended on the sharding: equal on all ranks, or others on two ranks than on one.") {
  auto const alone = os::make_mesh(os::this_device, X = 1, Y = 1);
  auto const on_one_device = elements(os::normal<double, I, J>(alone, I = 5, J = 7, os::seed(7)));
  gives(os::normal<double, I/X, J>(mesh(), I = 5, J = 7, os::seed(7)), on_one_device);
  gives(os::normal<double, I, J/X>(mesh(), I = 5, J = 7, os::seed(7)), on_one_device);
  gives(os::normal<double, I/X/Y, J>(mesh(), I = 5, J = 7, os::seed(7)), on_one_device);
  gives(os::normal<double, I, J>(mesh(), I = 5, J = 7, os::seed(7)), on_one_device);
  auto const ones = numbers("IJ", {5, 7}, std::vector<double>(35, 1));
  auto const masked = elements(os::dropout(os::ones<double, I, J>(alone, I = 5, J = 7), 0.5, os::seed(7)));
  under<matrices<double>>(ones, [&](auto const& a) { gives(os::dropout(a, 0.5, os::seed(7)), masked); });
  auto const next =
      elements(os::dropout(os::ones<double, I, J>(alone, I = 5, J = 7), 0.5, os::fold_in(os::seed(7), 1)));
  CHECK(next != masked);
}

FIELD_CASE("N16", "pytorch/pytorch#101967",
           "A NaN in a key or a value that the mask hides reached every row of the result.") {
  auto const A = numbers("IJ", {2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  auto const keys = numbers("KJ", {2, 4}, {0, 1, 2, 3, not_a_number, 5, 6, 7});
  auto const values = numbers("KJ", {2, 4}, {0, 1, 2, 3, 4, 5, not_a_number, infinite});
  auto const mask = place<os::tensor<std::int32_t, I, K>>(numbers<std::int32_t>("IK", {2, 2}, {1, 0, 1, 0}));
  auto const q = place<os::tensor<double, I, J>>(A);
  auto const k = place<os::tensor<double, K, J>>(keys);
  auto const v = place<os::tensor<double, K, J>>(values);
  gives(os::attention<I, K, J>(q, k, v, mask), {0, 1, 2, 3, 0, 1, 2, 3});
  auto const k_x = os::slice<K/X>(k);
  auto const v_x = os::slice<K/X>(v);
  gives(os::attention<I, K/X, J>(q, k_x, v_x, mask), {0, 1, 2, 3, 0, 1, 2, 3});
  auto const q_x = os::slice<I/X>(q);
  auto const sees_none = place<os::tensor<double, I/X>>(numbers("I", {2}, {1, 0}));
  auto const kept = sees_none > 0;  // the second row sees the second key
  gives(os::where(kept, os::attention<I, K, J>(q_x, k, v, os::causal), 0.0), {0, 1, 2, 3, 0, 0, 0, 0});
  gives(os::where(kept, os::attention<I, K/X, J>(q_x, k_x, v_x, os::ring, os::causal), 0.0), {0, 1, 2, 3, 0, 0, 0, 0});
}

FIELD_CASE("S4", "pytorch/pytorch#118043",
           "Products of tensors without elements were left uninitialised, or refused, by the size of the pieces.") {
  auto const A = numbers("IK", {4, 0}, {});
  auto const C = numbers("KJ", {0, 3}, {});
  under<few_matrices<double, I, K>,
        list<os::tensor<double, K, J>, os::tensor<double, K/X, J>, os::tensor<double, K, J/Y>>>(
      A, C, [](auto const& a, auto const& c) {
        gives(os::einsum<I, J>(a, c), std::vector<double>(12, 0), {4, 3});
        auto const out = os::ones<double, I/X, J>(mesh(), I = 4, J = 3);
        os::einsum_into(out, a, c, os::beta = 1);
        gives(out, std::vector<double>(12, 1));
      });
  auto const none = numbers("IJ", {2, 0}, {});
  under<matrices<double>>(none, [](auto const& a) {
    gives(os::sum<I>(a), {0, 0});
    gives(os::max<I>(a), {-infinite, -infinite});
    gives(os::mean<I>(a), {not_a_number, not_a_number});
    gives(os::softmax<J>(os::reshard<I/X, J>(a)), std::vector<double>(), {2, 0});
    gives(os::softmax<J/X>(os::reshard<I, J/X>(a)), std::vector<double>(), {2, 0});
    gives(os::log_sum_exp<J/X>(os::reshard<I, J/X>(a)), {-infinite, -infinite});
    refuses([&] { static_cast<void>(os::argmax<I>(a)); }, "argmax: the result is one of the elements");
  });
}

FIELD_CASE("O8", "pytorch/pytorch#162692", "N1 in norms, softmax and scans: ranks that hold no part of a row.") {
  auto const row = numbers("IJ", {1, 2}, {3, 5});
  under<matrices<double>>(row, [](auto const& a) {
    gives(os::layer_norm<J/X>(os::reshard<I, J/X>(a), os::epsilon(0)), {-1, 1});
    gives(os::rms_norm<J/X>(os::reshard<I, J/X>(a), os::epsilon(0)), {0.7276068751089989, 1.212678125181665});
    gives(os::softmax<J/X>(os::reshard<I, J/X>(a)), {0.1192029220221175, 0.8807970779778823});
    gives(os::variance<>(a), 1);
    gives(os::cumsum<J/X>(os::reshard<I, J/X>(a)), {3, 8});
    gives(os::cumprod<J/X>(os::reshard<I, J/X>(a), os::reversed), {15, 5});
  });
}
