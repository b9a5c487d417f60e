// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of programs on whole tensors: losses that are reduced, look-ups and groups that some ranks have nothing
/// of, rows that a mask hides, layers that are divided.

// page: Derivatives
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

FIELD_CASE("A1", "jax-ml/jax#3970",
           "The gradient of a loss that is summed over the devices was 0 on one device and 4 on the other, for 2.") {
  auto const D = numbers("I", {2}, {0, 1});
  auto const w = place<os::tensor<double>>(numbers("", {}, {1}));
  under<vectors<double>>(D, [&](auto const& d) {
    auto const loss = [&](auto const& p) { return os::sum<>((p * p + 1) * d); };
    gives(os::value_and_grad(loss)(w).value, 2);
    gives(os::value_and_grad(loss)(w).gradient, 2);
    auto const mean = [&](auto const& p) { return os::mean<>((p * p + 1) * d); };
    gives(os::value_and_grad(mean)(w).value, 1);
    gives(os::value_and_grad(mean)(w).gradient, 1);
  });
}

FIELD_CASE(
    "A6", "openxla/xla#42481",
    "The gradient of a look-up in a divided table reached rows of other devices that have the same local number.") {
  auto const table = count_up("JK", {8, 1});
  auto const ids = numbers<std::int64_t>("I", {4}, {1, 1, 6, 2});
  using tables = list<os::tensor<double, J, K>, os::tensor<double, J/X, K>, os::tensor<double, J/X/Y, K>,
                      os::tensor<double, J, K/Y>>;
  under<tables, list<os::tensor<std::int64_t, I>, os::tensor<std::int64_t, I/Y>>>(
      table, ids, [](auto const& rows, auto const& i) {
        gives(gradient([&](auto const& p) { return os::sum<>(os::take<J, I/Y, K>(p, i)); }, rows),
              {0, 2, 1, 0, 0, 0, 1, 0});
      });
}

FIELD_CASE("A7", "jax-ml/jax#8634, jax-ml/jax#5760, jax-ml/jax#9839",
           "For an index out of range, the value and the gradient followed different rules.") {
  auto const data = numbers("I", {2}, {5, 7});
  auto const ids = place<os::tensor<std::int64_t, I>>(numbers<std::int64_t>("I", {2}, {2, 3}));
  under<vectors<double>>(data, [&](auto const& a) {
    refuses([&] { static_cast<void>(os::segment_sum<I, K, K>(a, ids, K = 2)); },
            "an index is one of 0 … 1 along K, but it is 2 at I = 0");
    gives(os::segment_sum<I, K, K>(a, ids, K = 2, os::in_range), {0, 0});
    gives(gradient([&](auto const& p) { return os::sum<>(os::segment_sum<I, K, K>(p, ids, K = 2, os::in_range)); }, a),
          {0, 0});
  });
  auto const table = count_up("IJ", {8, 2});
  auto const eight = place<os::tensor<std::int64_t, K>>(numbers<std::int64_t>("K", {1}, {8}));
  under<matrices<double>>(table, [&](auto const& a) {
    refuses([&] { static_cast<void>(os::take<I, K, J>(a, eight)); },
            "take: an index is one of 0 … 7 along I, but it is 8 at K = 0");
    gives(os::take<I, K, J>(a, eight, os::in_range), {0, 0});
    gives(gradient([&](auto const& p) { return os::sum<>(os::take<I, K, J>(p, eight, os::in_range)); }, a),
          std::vector<double>(16, 0));
  });
}

FIELD_CASE("A8", "openxla/tokamax#887", "Experts without tokens got gradients from uninitialised memory.") {
  auto const X_ = numbers("IJ", {3, 2}, {1, 2, 3, 4, 5, 6});
  auto const W = numbers("BJK", {4, 2, 1}, {1, 1, 1, 1, 1, 1, 1, 1});
  auto const groups = place<os::tensor<std::int64_t, B>>(numbers<std::int64_t>("B", {4}, {2, 0, 1, 0}));
  auto const no_rows = place<os::tensor<std::int64_t, B>>(numbers<std::int64_t>("B", {4}, {0, 0, 0, 0}));
  auto const x = place<os::tensor<double, I, J>>(X_);
  under<list<os::tensor<double, B, J, K>, os::tensor<double, B, J, K/X>>>(W, [&](auto const& w) {
    gives(gradient([&](auto const& p) { return os::sum<>(os::ragged_dot<I, B>(x, p, groups)); }, w),
          {4, 6, 0, 0, 5, 6, 0, 0});
    gives(gradient([&](auto const& p) { return os::sum<>(os::ragged_dot<I, B>(x, p, no_rows)); }, w),
          {0, 0, 0, 0, 0, 0, 0, 0});
  });
}

FIELD_CASE("A9", "pytorch/pytorch#41508", "A row that the mask hides whole made all gradients NaN (open since 2020).") {
  auto const scores = numbers("IJ", {2, 2}, {0, 0, 1, 2});
  auto const hidden = numbers("IJ", {2, 2}, {not_a_number, infinite, 1, 2});
  auto const mask = place<os::tensor<std::int32_t, I, J>>(numbers<std::int32_t>("IJ", {2, 2}, {0, 0, 1, 1}));
  auto const weights = place<os::tensor<double, I, J>>(numbers("IJ", {2, 2}, {5, 7, 1, 0}));
  auto const whole = [&](auto const& s) { return os::sum<>(os::softmax<J>(s, mask) * weights); };
  auto const divided = [&](auto const& s) {
    return os::sum<>(os::softmax<J/X>(s, os::slice<J/X>(mask)) * os::slice<J/X>(weights));
  };
  for (auto const& of : {scores, hidden}) {
    auto const s = place<os::tensor<double, I, J>>(of);
    gives(whole(s), 0.2689414214);
    gives(gradient(whole, s), {0, 0, 0.1966119332, -0.1966119332});
    auto const s_x = place<os::tensor<double, I, J/X>>(of);
    gives(divided(s_x), 0.2689414214);
    gives(gradient(divided, s_x), {0, 0, 0.1966119332, -0.1966119332});
  }
  auto const q = place<os::tensor<double, I, M>>(numbers("IM", {2, 1}, {9, 1}));
  auto const k = place<os::tensor<double, J, M>>(numbers("JM", {2, 1}, {1, 2}));
  auto const v = place<os::tensor<double, J, M>>(numbers("JM", {2, 1}, {1, 0}));
  gives(os::attention<I, J, M>(q, k, v, mask), {0, 0.2689414214});
  gives(gradient([&](auto const& p) { return os::sum<>(os::attention<I, J, M>(p, k, v, mask)); }, q),
        {0, -0.1966119332});
  gives(gradient([&](auto const& p) { return os::sum<>(os::attention<I, J, M>(q, p, v, mask)); }, k),
        {0.1966119332, -0.1966119332});
  gives(gradient([&](auto const& p) { return os::sum<>(os::attention<I, J, M>(q, k, p, mask)); }, v),
        {0.2689414214, 0.7310585786});
}

FIELD_CASE("A10", "HIPS/autograd#115", "The derivative of a trace failed, or was that of the sum.") {
  auto const A = count_up("IJ", {3, 3});
  auto const eye = os::generate<double, I, J>(mesh(), I = 3, J = 3, [](auto i, auto j) { return i == j ? 1.0 : 0.0; });
  under<matrices<double>>(A, [&](auto const& a) {
    gives(os::einsum<>(a, eye), 12);
    gives(gradient([&](auto const& p) { return os::einsum<>(p, eye); }, a), {1, 0, 0, 0, 1, 0, 0, 0, 1});
  });
  // does not compile: diagonal_has_no_derivative
}

FIELD_CASE("A11", "pytorch/torchtitan#4332, pytorch/torchtitan#2106",
           "The gradient of the bias of a divided layer was divided, or multiplied, by the number of devices.") {
  auto const x = place<os::tensor<double, B, K/X>>(numbers("BK", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  auto const w = place<os::tensor<double, K/X, J>>(numbers("KJ", {4, 3}, {1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12}));
  auto const b = place<os::tensor<double, J>>(numbers("J", {3}, {100, 200, 300}));
  gives(gradient([&](auto const& p) { return os::sum<>(os::einsum<B, J>(x, w) + p); }, b), {2, 2, 2});
  gives(gradient([&](auto const& p) { return os::sum<>(os::einsum<B, J>(x, p) + b); }, w),
        {6, 6, 6, 8, 8, 8, 10, 10, 10, 12, 12, 12});
  gives(gradient([&](auto const& p) { return os::sum<>(os::einsum<B, J>(p, w) + b); }, x),
        {15, 18, 21, 24, 15, 18, 21, 24});
}

FIELD_CASE("A12", "pytorch/pytorch#160285, pytorch/torchtitan#1805",
           "Expert parallelism made the gradients of the experts twice as large.") {
  auto const x = place<os::tensor<double, B/X, I, M>>(numbers("BIM", {4, 1, 1}, {1, 2, 3, 4}));
  auto const experts =
      place<os::tensor<std::int64_t, B/X, I, K>>(numbers<std::int64_t>("BIK", {4, 1, 1}, {0, 1, 0, 1}));
  auto const gates = place<os::tensor<double, B/X, I, K>>(numbers("BIK", {4, 1, 1}, {1, 1, 1, 1}));
  auto const w = place<os::tensor<double, E/X, M, J>>(numbers("EMJ", {2, 1, 1}, {7, 9}));
  auto const slots = os::assign_slots<E, C>(experts, E = 2, C = 4);
  auto const product = [](auto const& rows, auto const& dot, auto const& p) { return os::rename<J, M>(dot(rows, p)); };
  gives(gradient([&](auto const& p) { return os::sum<>(os::dropless<R, E/X>(product, x, experts, gates, p)); }, w),
        {4, 6});
  gives(gradient([&](auto const& p) { return os::sum<>(os::with_capacity<E/X>(product, x, slots, gates, p)); }, w),
        {4, 6});
}
