// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// An all-gather and a product as one ring, written out: in n − 1 steps each device passes on rows of the right operand
/// while it multiplies the rows that it has, so no device ever holds all of them. Rows circulate in one direction, then
/// in both. The program also shows the planner's plan under os::overlapped.
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

  auto const one_way = [&](auto l, auto r) {
    int const n = os::axis_size<X>(l);
    auto const i = os::axis_index<X>(l);
    auto out = os::zeros<float, I, K, os::varying(X)>(mesh, I = l.extent(I), K = r.extent(K));
    for (int s = 0; s + 1 < n; ++s) {
      auto next = os::start_shift<X>(r, +1);  // in flight while this device multiplies its rows
      os::einsum_into(out, os::part<J>(l, (i - s) % n, n), r, os::beta = s > 0 ? 1 : 0);
      r = std::move(next).wait();
    }
    os::einsum_into(out, os::part<J>(l, (i - (n - 1)) % n, n), r, os::beta = n > 1 ? 1 : 0);
    return out;
  };

  // Half of the rows goes to the next device, half to the previous one: links carry as much one way while the other.
  auto const both_ways = [&](auto l, auto r) {
    int const n = os::axis_size<X>(l);
    auto const i = os::axis_index<X>(l);
    auto out = os::zeros<float, I, K, os::varying(X)>(mesh, I = l.extent(I), K = r.extent(K));
    auto up = os::part<J>(r, 0, 2), down = os::part<J>(r, 1, 2);
    auto const multiply = [&](int s) {
      os::einsum_into(out, os::part<J>(l, (i - s) % n * 2, 2 * n), up, os::beta = s > 0 ? 1 : 0);
      os::einsum_into(out, os::part<J>(l, (i + s) % n * 2 + 1, 2 * n), down, os::beta = 1);
    };
    for (int s = 0; s + 1 < n; ++s) {
      auto next_up = os::start_shift<X>(up, +1);
      auto next_down = os::start_shift<X>(down, -1);
      multiply(s);
      up = std::move(next_up).wait();
      down = std::move(next_down).wait();
    }
    multiply(n - 1);
    return out;
  };

  for (int const k : {16, 7}) {
    auto const sizes = os::sizes(I = 24, J = 48, K = k);
    auto const L = os::generate<float, I/X, J>(mesh, sizes, small{0});
    auto const R = os::generate<float, J/X, K>(mesh, sizes, small{1});
    v.expect_product("one way round", L, R, os::shard_map<I/X, K>(one_way, L, R));
    v.expect_product("both ways round", L, R, os::shard_map<I/X, K>(both_ways, L, R));
  }
  {  // The devices' shares of the rows are uneven.
    auto const sizes = os::sizes(I = 11, J = 29, K = 7);
    auto const L = os::generate<float, I/X, J>(mesh, sizes, small{0});
    auto const R = os::generate<float, J/X, K>(mesh, sizes, small{1});
    v.expect_product("uneven, one way round", L, R, os::shard_map<I/X, K>(one_way, L, R));
  }

  auto const sizes = os::sizes(I = 16, J = 2053, K = 515);  // parts that are long enough for a ring
  auto const L = os::generate<float, I/X, J>(mesh, sizes, small{0});
  auto const R = os::generate<float, J/X, K>(mesh, sizes, small{1});
  v.expect_product("by the planner", L, R, os::einsum<I/X, K>(L, R, os::overlapped));
  if (mesh.device() == 0)
    std::printf("%s", os::describe(os::plan<I/X, K>(L, R, os::overlapped), sizes, mesh.sizes()).c_str());
  return v.exit_code();
}
