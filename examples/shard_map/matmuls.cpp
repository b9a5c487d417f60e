// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Matrix products on devices in a line, written out: gather one operand, or add up summands, whole or scattered. The
/// program prints the planner's plan for the same product beside each. The rings that overlap are in
/// all_gather_matmul.cpp and matmul_reduce_scatter.cpp.
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
  auto const n = os::sizes(I = 24, J = 48, K = 16);
  verdict v;
  auto const show = [&](auto const& plan) {
    if (mesh.device() == 0) std::printf("%s", os::describe(plan, n, mesh.sizes()).c_str());
  };

  {  // Rows of the left, rows of the right, which are contracted: the right is gathered.
    auto const L = os::generate<float, I/X, J>(mesh, n, small{0});
    auto const R = os::generate<float, J/X, K>(mesh, n, small{1});
    auto const C = os::shard_map<I/X, K>([](auto l, auto r) {
      auto const all = os::all_gather<J/X>(r);
      return os::einsum<I, K>(l, all);
    }, L, R);
    v.expect_product("all_gather, then a product", L, R, C);
    show(os::plan<I/X, K>(L, R));
  }
  auto const L = os::generate<float, I, J/X>(mesh, n, small{0});
  auto const R = os::generate<float, J/X, K>(mesh, n, small{1});
  {  // Columns of the left, rows of the right: every device has a summand.
    auto const C = os::shard_map<I, K>([](auto l, auto r) {
      return os::psum<X>(os::einsum<I, K>(l, r));
    }, L, R);
    v.expect_product("a product, then psum", L, R, C);
    show(os::plan<I, K>(L, R));
  }
  {  // The same, and each device keeps its rows.
    auto const C = os::shard_map<I/X, K>([](auto l, auto r) {
      return os::psum_scatter<I/X>(os::einsum<I, K>(l, r));
    }, L, R);
    v.expect_product("a product, then psum_scatter", L, R, C);
    show(os::plan<I/X, K>(L, R));
  }
  return v.exit_code();
}
