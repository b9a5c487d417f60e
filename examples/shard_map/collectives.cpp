// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Each collective on blocks that are small enough to follow by hand, of 4 devices along a mesh axis: the result, block
/// after block.
// ranks: 4
// labels: ci

#include "support.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(N);  OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  verdict v;

  auto const line = os::make_mesh(X = 4);
  std::vector<int> const digits{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 1, 2};
  auto const a = os::scatter_from_root<int, I/X>(line, I = 16, digits);    // 3 1 4 1 · 5 9 2 6 · 5 3 5 8 · 9 7 1 2
  auto const b = os::scatter_from_root<int, I/X>(line, I = 4, std::vector{3, 9, 5, 2});
  auto const c = os::generate<int, I/X>(line, I = 8, counting{});          // 0 1 · 2 3 · 4 5 · 6 7

  // psum: all devices have the sum, so that it may leave the body without X.
  auto const sum = os::shard_map<I>([](auto x) {
    os::print_blocks(x);
    auto const y = os::psum<X>(x);
    os::print_blocks(y);
    return y;
  }, a);
  v.expect("psum", sum, {22, 20, 12, 17});

  // On two mesh axes, over one of them or both.
  auto const square = os::make_mesh(X = 2, Y = 2);
  auto const t = os::generate<int, I/X, J/Y>(square, I = 4, J = 4, counting{4});
  auto const over_x = os::shard_map<I, J/Y>([](auto x) { return os::psum<X>(x); }, t);
  v.expect("psum over X", over_x, {8, 10, 12, 14, 16, 18, 20, 22});
  auto const over_both = os::shard_map<I, J>([](auto x) { return os::psum<X, Y>(x); }, t);
  v.expect("psum over X and Y", over_both, {20, 24, 36, 40});

  // all_gather: all devices have all blocks, one after another; the type knows that they are the same on all devices.
  auto const gathered = os::shard_map<I>([](auto x) { return os::all_gather<I/X>(x); }, b);
  v.expect("all_gather", gathered, {3, 9, 5, 2});
  auto const copies = os::shard_map<I/X>([](auto x) { return os::all_gather<I/X>(x); }, b);
  v.expect("all_gather, of which each device keeps its own", copies, {3, 9, 5, 2, 3, 9, 5, 2, 3, 9, 5, 2, 3, 9, 5, 2});

  // Untiled: along an axis that the blocks lack.
  auto const stacked = os::shard_map<N, I>([](auto x) { return os::all_gather<N/X>(x); }, b);
  v.expect("all_gather, stacked", stacked, {3, 9, 5, 2});
  v.expect_that("4 × 1", stacked.extent(N) == 4 && stacked.extent(I) == 1);

  // psum_scatter: of the sum, each device has a part.
  auto const scattered = os::shard_map<I/X>([](auto x) { return os::psum_scatter<I/X>(x); }, a);
  v.expect("psum_scatter", scattered, {22, 20, 12, 17});

  // ppermute: each device sends to at most one other; a device without a sender gets zeros.
  auto const on = os::shard_map<I/X>([](auto x) { return os::shift<X>(x, +1); }, c);
  v.expect("shift", on, {6, 7, 0, 1, 2, 3, 4, 5});
  auto const hops = os::shard_map<I/X>([](auto x) { return os::ppermute<X>(x, {{0, 1}, {1, 2}, {2, 3}}); }, c);
  v.expect("ppermute", hops, {0, 0, 0, 1, 2, 3, 4, 5});

  // psum_scatter by messages to neighbours: a device adds the block that comes to its next part, and sends the sum on.
  auto const ring = os::shard_map<I/X>([](auto x) {
    int const n = os::axis_size<X>(x);
    auto const i = os::axis_index<X>(x);
    auto part = os::einsum<I>(os::part<I>(x, (i + 1) % n, n));
    for (int s = 1; s < n; ++s) {
      part = os::shift<X>(part, -1);
      os::einsum_into(part, os::part<I>(x, (i + s + 1) % n, n), os::beta = 1);
    }
    return part;
  }, a);
  v.expect("psum_scatter, a ring", ring, {22, 20, 12, 17});

  // all_to_all: part r of device d's block becomes part d of device r's.
  auto const swapped = os::shard_map<I/X>([](auto x) { return os::all_to_all<I/X, I/X>(x); }, a);
  v.expect("all_to_all", swapped, {3, 5, 5, 9, 1, 9, 3, 7, 4, 2, 5, 1, 1, 6, 8, 2});
  auto const untiled = os::shard_map<N/X>([](auto x) { return os::all_to_all<N/X, I/X>(x, os::untiled); }, a);
  v.expect("all_to_all, untiled", untiled, {3, 5, 5, 9, 1, 9, 3, 7, 4, 2, 5, 1, 1, 6, 8, 2});
  return v.exit_code();
}
