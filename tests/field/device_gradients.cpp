// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives inside a body: each device's own, by a parameter that may vary, and that of the sum over all.
// page: Derivatives
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>

#include "field/field_case.hpp"
#include "support/on_meshes.hpp"

using namespace field;

FIELD_CASE("A2", "jax-ml/jax#36886",
           "A gradient inside a body, by a parameter that all devices share, was silently summed over the devices.") {
  auto const p = place<os::tensor<double, J>>(numbers("J", {2}, {1, 2}));
  auto const samples = place<os::tensor<double, I/X, J>>(numbers("IJ", {4, 2}, {0, 1, 1, 1, 1, 0, 0, 0}));
  auto const of_all = [](auto w, auto x) {
    return os::value_and_grad([&](auto const& v) { return os::psum<X>(os::sum<>(os::einsum<I>(x, v))); })(w).gradient;
  };
  gives(os::shard_map<J>(of_all, p, samples), {2, 2});
  auto const own = [](auto w, auto x) {
    auto const g =
        os::value_and_grad([&](auto const& v) { return os::sum<>(os::einsum<I>(x, v)); })(os::pvary<X>(w)).gradient;
    return x * 0.0 + g;  // a row of this device's gradient for each of its samples
  };
  std::int64_t const n = current_mesh->size("X");
  auto const per_device = os::shard_map<I/X, J>(own, p, samples);
  if (n == 1) gives(per_device, {2, 2, 2, 2, 2, 2, 2, 2});  // where X is 1
  if (n == 2) gives(per_device, {1, 2, 1, 2, 1, 0, 1, 0});  // where X is 2
  if (n == 3) gives(per_device, {0, 1, 1, 1, 1, 0, 1, 0});  // where X is 3
  if (n == 4) gives(per_device, {0, 1, 1, 1, 1, 0, 0, 0});  // where X is 4
  // does not compile: loss_varies_where_gradient_does_not
}
