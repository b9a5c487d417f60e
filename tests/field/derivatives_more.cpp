// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives: of exchanges and in bodies, of complex parameters, of running sums, and second ones.

// page: Derivatives
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "field/field_case.hpp"
#include "field/gradient.hpp"
#include "support/on_meshes.hpp"

using namespace field;

namespace {

using complex = Kokkos::complex<double>;

}  // namespace

FIELD_CASE("A1 in a body", "jax-ml/jax#3970",
           "The same by psum in a body: a loss that all devices share counted once for each device.") {
  auto const D = numbers("I", {2}, {0, 1});
  auto const w = place<os::tensor<double>>(numbers("", {}, {1}));
  auto const d = place<os::tensor<double, I/X>>(D);
  auto const body = [](auto p, auto x) { return os::psum<X>(os::sum<>((p * p + 1) * x)); };
  gives(os::value_and_grad([&](auto const& p) { return os::shard_map<>(body, p, d); })(w).value, 2);
  gives(os::value_and_grad([&](auto const& p) { return os::shard_map<>(body, p, d); })(w).gradient, 2);
}

FIELD_CASE("A4", "jax-ml/jax#15982, jax-ml/jax#26915",
           "The derivative of an all-to-all, and of a ragged all-to-all, was missing or wrong.") {
  auto const A = count_up("IJ", {4, 4});
  auto const weights = numbers("IJ", {4, 4}, {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33});
  auto const a = place<os::tensor<double, I/X, J>>(A);
  auto const c = place<os::tensor<double, I, J/X>>(weights);
  gives(gradient([&](auto const& p) { return os::sum<>(os::all_to_all<J/X>(p) * c); }, a), weights.values);
  std::int64_t const n = current_mesh->size("X");
  if (n == 3) {  // 2, 1 and no rows go to the next device
    auto const rows = place<os::tensor<double, I/X>>(numbers("I", {6}, {1, 2, 3, 8, 8, 8}));
    auto const number = place<os::tensor<double, I/X>>(numbers("I", {6}, {1, 2, 3, 4, 5, 6}));
    auto const loss = [&](auto const& p) {
      return os::sum<>(number * os::shard_map<I/X>(
                                    [](auto own) {
                                      std::int64_t const d = os::axis_index<X>(own).value();
                                      std::vector<std::int64_t> const from(3, 0), to(3, 0);
                                      std::vector<std::int64_t> counts(3, 0);
                                      counts[static_cast<std::size_t>((d + 1) % 3)] = 2 - d;
                                      return os::ragged_all_to_all<I/X>(own, own * 0.0, from, counts, to);
                                    },
                                    p));
    };
    gives(gradient(loss, rows), {3, 4, 5, 0, 0, 0});
  }
}

FIELD_CASE("O11", "flatironinstitute/jax-finufft#226",
           "In a body, the gradient of an image that all devices share missed the other devices' parts.") {
  auto const image = place<os::tensor<double, J>>(numbers("J", {2}, {1, 2}));
  auto const points = numbers("IJ", {3, 2}, {1, 0, 0, 1, 1, 1});
  auto const e = place<os::tensor<double, I/X, J>>(points);
  auto const body = [](auto p, auto x) {
    auto const y = os::einsum<I>(x, p);
    return os::psum<X>(os::sum<>(y * y));
  };
  gives(gradient([&](auto const& p) { return os::shard_map<>(body, p, e); }, image), {8, 10});
}

FIELD_CASE("O12", "jax-ml/jax#1679",
           "A body within a body, which should return its operand, returned sums and zeros.") {
  auto const A = count_up("IJ", {4, 4});
  auto const a = place<os::tensor<double, I/X, J/Y>>(A);
  auto const inner = [](auto p) { return p; };
  auto const b = os::shard_map<os::manual(X), I/X, J/Y>(
      [&](auto p) { return os::shard_map<os::manual(Y), I, J/Y>(inner, p); }, a);
  gives(b, A.values, {4, 4});
}

FIELD_CASE("O13", "jax-ml/jax#753", "The derivative of a scan with respect to its operand was zero.") {
  auto const x = numbers("I", {5}, {9, 8, 7, 6, 5});
  auto const c = place<os::tensor<double, I>>(numbers("I", {5}, {1, 2, 3, 4, 5}));
  auto const whole = place<os::tensor<double, I>>(x);
  auto const divided = place<os::tensor<double, I/X>>(x);
  auto const c_x = os::slice<I/X>(c);
  gives(gradient([&](auto const& p) { return os::sum<>(os::cumsum<I>(p) * c); }, whole), {15, 14, 12, 9, 5});
  gives(gradient([&](auto const& p) { return os::sum<>(os::cumsum<I/X>(p) * c_x); }, divided), {15, 14, 12, 9, 5});
}

FIELD_CASE("O14", "pytorch/torchtitan#1373",
           "Keys that all heads share got the gradient of this device's heads alone.") {
  auto const keys = place<os::tensor<double, I/X, J>>(count_up("IJ", {4, 2}));
  auto const shared = place<os::tensor<double, J>>(numbers("J", {2}, {5, 6}));
  auto const w = place<os::tensor<double, I/X>>(numbers("I", {4}, {1, 10, 100, 1000}));
  gives(gradient([&](auto const& p) { return os::sum<>(w * (keys + p)); }, shared), {1111, 1111});
}

FIELD_CASE("O15", "pytorch/pytorch#158753",
           "With data parallelism, the gradient of complex parameters had no imaginary part.") {
  auto const x = numbers<complex>("I", {3}, {{1, 0}, {0, 1}, {2, 0}});
  auto const w = place<os::tensor<complex>>(numbers<complex>("", {}, {{1, 2}}));
  under<vectors<complex>>(x, [&](auto const& batch) {
    auto const loss = [&](auto const& p) { return os::sum<>(os::square(os::abs(p * batch))); };
    gives(os::value_and_grad(loss)(w).value, 30);
    gives(os::value_and_grad(loss)(w).gradient, {{12, -24}});
  });
}

FIELD_CASE("O16", "tensorflow/tensorflow#37307, tensor4all/tenferro-rs#556",
           "The gradient of a complex einsum was not that of the same product written otherwise.") {
  auto const P = numbers<complex>("IJ", {2, 2}, {{1, 1}, {0, 2}, {3, 0}, {1, -1}});
  auto const Q = numbers<complex>("JK", {2, 2}, {{0, 1}, {2, 0}, {1, 1}, {0, -3}});
  auto const q = place<os::tensor<complex, J, K>>(Q);
  under<matrices<complex>>(P, [&](auto const& p) {
    gives(gradient([&](auto const& a) { return os::sum<>(os::real(os::einsum<I, K>(a, q))); }, p),
          {{2, 1}, {1, -2}, {2, 1}, {1, -2}});
  });
}

FIELD_CASE("O17", "jax-ml/jax#25844",
           "Derivatives lost the sharding of their parameter: here second ones keep it, too.") {
  auto const x = numbers("I", {3}, {1, 2, 3});
  auto const direction = numbers("I", {3}, {1, 10, 100});
  under<vectors<double>>(x, [&](auto const& at) {
    auto const cubes = [](auto const& p) {
      auto const all = os::reshard<I>(p);
      return os::sum<>(all * all * all);
    };
    auto const v = place<std::remove_cvref_t<decltype(at)>>(direction);
    auto const along = [&](auto const& p) { return os::sum<>(os::value_and_grad(cubes)(p).gradient * v); };
    gives(gradient(along, at), {6, 120, 1800});
  });
}

FIELD_CASE("O18", "pytorch/pytorch#191926",
           "The gradient of an input that is divided along its width was said to be divided along its batch.") {
  auto const x = place<os::tensor<double, B, I/X>>(count_up("BI", {2, 6}));
  auto const w = place<os::tensor<double, J>>(numbers("J", {2}, {3, 4}));
  auto const loss = [&](auto const& p) { return os::sum<>(os::einsum<B, I/X, J>(p, w)); };
  gives(gradient(loss, x), {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7});
}
