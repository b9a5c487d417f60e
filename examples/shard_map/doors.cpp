// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensors enter a body as blocks, and results leave it: the effect of the mesh axes that an operand or a result names,
/// and of their order. It runs on 4 × 2 devices.
// ranks: 8
// labels: ci

#include "support.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);  OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  auto const mesh = os::make_mesh(X = 4, Y = 2);
  verdict v;
  auto const is = [&](char const* what, auto const& t, std::int64_t i, std::int64_t j) {
    if (mesh.device() == 0) std::printf("%s: %s\n", what, os::describe(t).c_str());
    v.expect_that(what, t.extent(I) == i && t.extent(J) == j);
  };

  // Each device calls the body once, whatever the extents: here with 3 of 12 rows.
  auto const rows = os::generate<float, I/X, J>(mesh, I = 12, J = 12, counting{12});
  auto const squares = os::shard_map<K/X, J>([](auto a) { return os::einsum<K, J>(os::rename<J, K>(a), a); }, rows);
  v.expect_that("a product in each of 4 blocks", squares.extent(K) == 48 && squares.extent(J) == 12);

  // An operand that does not name Y is whole along it. A result that names Y concatenates the blocks, even though they
  // are equal here.
  is("tiled", os::shard_map<I/X, J/Y>([](auto a) { return a; }, rows), 12, 24);

  // A result that omits a mesh axis is the same along it. psum makes it so, and the type shows it.
  auto const table = os::generate<float, I/X, J/Y>(mesh, I = 12, J = 12, counting{12});
  is("psum over Y", os::shard_map<I/X, J>([](auto a) { return os::psum<Y>(a); }, table), 12, 6);
  is("psum over X", os::shard_map<I, J/Y>([](auto a) { return os::psum<X>(a); }, table), 3, 12);
  is("psum over both", os::shard_map<I, J>([](auto a) { return os::psum<X, Y>(a); }, table), 3, 6);

  // One number, once, four times and eight times.
  auto const three = os::full<float, I, J>(mesh, I = 1, J = 1, 3);
  auto const same = [](auto a) { return a; };
  v.expect("3", os::shard_map<I, J>(same, three), {3});
  v.expect("3 along X", os::shard_map<I/X, J>(same, three), {3, 3, 3, 3});
  v.expect("3 along X and Y", os::shard_map<I/X, J/Y>(same, three), {3, 3, 3, 3, 3, 3, 3, 3});

  // Mesh axes may come out in another order: blocks are transposed, and nothing moves.
  auto const small = os::generate<float, I/X, J/Y>(mesh, I = 4, J = 2, counting{2});
  v.expect("blocks, transposed", os::shard_map<I/Y, J/X>(same, small), {0, 2, 4, 6, 1, 3, 5, 7});
  return v.exit_code();
}
