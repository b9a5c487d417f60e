// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Misuse that deserves a sentence: blocks of another distribution, axes cut where blocks end, a buffer that is written
/// while it travels.

// page: Misuse

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>
#include <vector>

#include "field/field_case.hpp"
#include "support/on_meshes.hpp"

using namespace field;

FIELD_CASE("M1", "jax-ml/jax#19175", "A second sum over devices counted a finished sum once for each device.") {
  auto const a = place<os::tensor<double, I/X>>(numbers("I", {3}, {1, 2, 3}));
  auto const once = [](auto x) { return os::psum<X>(os::sum<>(x)); };
  gives(os::shard_map<>(once, a), 6);
  // does not compile: reduction_of_invariant_block.twice
}

FIELD_CASE("M2", "pytorch/pytorch#179502, pytorch/pytorch#143372",
           "Viewing a divided axis as another shape was done block by block, and wrong.") {
  auto const A = count_up("IJ", {6, 2});
  auto const a = place<os::tensor<double, I/X, J>>(A);
  bool const even = 6 % current_mesh->size("X") == 0;
  if (even) gives(os::merge<I, J, K>(a), A.values, {12});  // where X divides 6
  if (!even)
    refuses([&] { static_cast<void>(os::merge<I, J, K>(a)); },
            "merge: blocks of K hold whole indices of I");  // where it does not
  auto const row = place<os::tensor<double, K/X>>(count_up("K", {12}));
  if (even) gives(os::split<K, I, J>(row, J = 2), A.values, {6, 2});  // where X divides 6
  if (!even)
    refuses([&] { static_cast<void>(os::split<K, I, J>(row, J = 2)); },
            "split: blocks of K hold whole indices of I");  // where it does not
  gives(os::merge<I, J, K>(os::reshard<I, J>(a)), A.values, {12});
  // does not compile: minor_axis_is_divided
}

FIELD_CASE("M4", "pytorch/pytorch#144109",
           "Blocks of 2, 3, 4 and 5 columns were taken as one tensor, whose columns stood in wrong places.") {
  std::int64_t const n = current_mesh->size("X"), x = current_mesh->coordinate("X", t::rank());
  std::vector<double> const block(static_cast<std::size_t>(2 + x), 1);
  std::int64_t const columns = n * (n + 3) / 2;
  auto const adopted = [&] { return os::from_local<double, I/X>(mesh(), I = columns, block); };
  if (n == 1) gives(adopted(), {1, 1});           // where X is 1
  if (n == 2) gives(adopted(), {1, 1, 1, 1, 1});  // where X is 2 and the devices hold 2 and 3 of the 5
  if (n > 2)
    refuses(
        [&] { static_cast<void>(adopted()); },
        "from_local: each view has the extents of its device's block, but that of device 0 has not; device 0 holds 3 "
        "elements and its view has 2");  // where X is 3 or 4
}

FIELD_CASE("M7", "helmholtz-analytics/heat#2108",
           "A buffer was written while it was being sent, and the neighbour got either value.") {
  for (std::int64_t const count : {std::int64_t(1), std::int64_t(131072)}) {
    auto const n = static_cast<std::int64_t>(current_mesh->size("X"));
    auto const a = os::full<double, I/X>(mesh(), I = count * n, 1);
    auto const all_ones = [&](auto own) {
      auto begun = os::start_shift<X>(os::copy(own), +1);
      Kokkos::deep_copy(own.local(), 7);
      return std::move(begun).wait();
    };
    gives(os::sum<>(os::shard_map<I/X>(all_ones, a)), static_cast<double>(count * n));
  }
}

FIELD_CASE("M8", "NVIDIA/Megatron-LM#7452",
           "A value recomputed for the backward was reduced over another group than in the forward.") {
  auto const x = place<os::tensor<double, I/X>>(numbers("I", {3}, {1, 2, 3}));
  auto const w = place<os::tensor<double>>(numbers("", {}, {2}));
  auto const body = [](auto p, auto d) {
    return os::checkpoint([](auto const& q, auto const& e) { return os::square(os::psum<X>(os::sum<>(q * e))); })(p, d);
  };
  auto const loss = [&](auto const& p) { return os::sum<>(os::shard_map<>(body, p, x)); };
  gives(os::value_and_grad(loss)(w).value, 144);
  gives(os::value_and_grad(loss)(w).gradient, 144);
  // does not compile: region_captures_variable
}

FIELD_CASE("O20", "NVIDIA/physicsnemo#1943",
           "Tensors whose extents differ gave errors that differ from rank to rank, or failed in a later collective.") {
  auto const a = place<os::tensor<double, I/X>>(numbers("I", {3}, {1, 2, 3}));
  auto const b = place<os::tensor<double, I/X>>(numbers("I", {4}, {1, 2, 3, 4}));
  refuses([&] { static_cast<void>(a + b); },
          "add: all operands agree on the extent of an axis, but I is 3 in one and 4 in another");
  refuses([&] { static_cast<void>(os::einsum<>(a, b)); },
          "einsum: all operands agree on the extent of an axis, but I is 3 in one and 4 in another");
}
