// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library that computes with the program's tensors, on the program's mesh and on one of its own.

#include "shared_state.hpp"

/// 4 times the sum of a tensor's elements: by an einsum, by a sum, on another mesh, and after an exchange in a body.
extern "C" [[gnu::visibility("default")]] double four_sums(void const* tensor, int devices);

double four_sums(void const* tensor, int devices) {
  rows const& a = *static_cast<rows const*>(tensor);
  auto const columns = os::einsum<J>(a);
  double const by_einsum = os::value(os::sum<>(columns)), by_sum = os::value(os::sum<>(a));
  auto const mesh = os::make_mesh(X = devices);
  auto const moved = os::reshard<I / X, J>(a, mesh);
  auto const exchanged =
      os::shard_map<I / X, J>([](auto b) { return os::own(os::exchange_halo<os::halo<I, 1> / X>(b)); }, a);
  return by_einsum + by_sum + os::value(os::sum<>(moved)) + os::value(os::sum<>(exchanged));
}
