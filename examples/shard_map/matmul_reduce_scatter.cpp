// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A product and a reduce-scatter as one ring, written out: in n − 1 steps each device passes sums on to the next one
/// while it computes its summand of the sums that arrive, so no device ever holds the whole product. Sums circulate in
/// one direction, then in both. The program also shows the planner's plan under os::overlapped.
// ranks: 1 2 3 4 8
// labels: ci

#include "support.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);  OSTRAKA_MESH_AXIS(X);

/// Whole numbers from -4 to 4, so that sums are exact.
struct small {
  std::int64_t seed;
  KOKKOS_FUNCTION float operator()(std::int64_t i, std::int64_t j) const {
    return static_cast<float>((7 * i + 5 * j + seed) % 9 - 4);
  }
};

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  auto const mesh = os::make_mesh(X = env.devices());
  verdict v;

  auto const one_way = [](auto l, auto r) {
    int const n = os::axis_size<X>(l);
    auto const i = os::axis_index<X>(l);
    auto sum = os::einsum<I, K>(os::part<I>(l, (i - 1) % n, n), r);  // the rows that have the longest way
    for (int s = 2; s <= n; ++s) {
      auto next = os::start_shift<X>(sum, +1);  // in flight while this device computes its summand
      auto const own = os::einsum<I, K>(os::part<I>(l, (i - s) % n, n), r);
      sum = os::add(own, std::move(next).wait());
    }
    return sum;
  };

  // The first half of each device's rows comes from the previous device, the second half from the next one.
  auto const both_ways = [&](auto l, auto r) {
    int const n = os::axis_size<X>(l);
    auto const i = os::axis_index<X>(l);
    auto up = os::einsum<I, K>(os::part<I>(l, (i - 1) % n * 2, 2 * n), r);
    auto down = os::einsum<I, K>(os::part<I>(l, (i + 1) % n * 2 + 1, 2 * n), r);
    for (int s = 2; s <= n; ++s) {
      auto next_up = os::start_shift<X>(up, +1);
      auto next_down = os::start_shift<X>(down, -1);
      auto const own_up = os::einsum<I, K>(os::part<I>(l, (i - s) % n * 2, 2 * n), r);
      auto const own_down = os::einsum<I, K>(os::part<I>(l, (i + s) % n * 2 + 1, 2 * n), r);
      up = os::add(own_up, std::move(next_up).wait());
      down = os::add(own_down, std::move(next_down).wait());
    }
    auto out = os::zeros<float, I, K, os::varying(X)>(mesh, I = l.extent(I) / n, K = r.extent(K));
    os::einsum_into(os::part<I>(out, 0, 2), up);
    os::einsum_into(os::part<I>(out, 1, 2), down);
    return out;
  };

  for (int const k : {16, 7}) {
    auto const sizes = os::sizes(I = 48, J = 29, K = k);
    auto const L = os::generate<float, I, J/X>(mesh, sizes, small{0});
    auto const R = os::generate<float, J/X, K>(mesh, sizes, small{1});
    v.expect_product("one way round", L, R, os::shard_map<I/X, K>(one_way, L, R));
    v.expect_product("both ways round", L, R, os::shard_map<I/X, K>(both_ways, L, R));
  }

  auto const sizes = os::sizes(I = 2053, J = 16, K = 515);  // parts that are long enough for a ring
  auto const L = os::generate<float, I, J/X>(mesh, sizes, small{0});
  auto const R = os::generate<float, J/X, K>(mesh, sizes, small{1});
  v.expect_product("by the planner", L, R, os::einsum<I/X, K>(L, R, os::overlapped));
  if (mesh.device() == 0)
    std::printf("%s", os::describe(os::plan<I/X, K>(L, R, os::overlapped), sizes, mesh.sizes()).c_str());
  return v.exit_code();
}
