// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Attention on a mesh: multi-head and grouped-query with heads split, positions split, and both (heads.cpp);
/// multi-head latent attention under tensor parallelism (latent.cpp); prefill and decoding with caches (decoding.cpp).
/// The program compares each with the same program on one device, and prints the bytes that it moves.
// ranks: 1 4 8
// labels: ci

#include "names.hpp"

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const x = env.devices() % 2 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(X = x, Y = env.devices() / x);
  auto const one = os::make_mesh(os::this_device, X = 1, Y = 1);
  verdict v;
  heads_and_positions(mesh, one, v);
  latent(mesh, one, v);
  decoding(mesh, one, v);
  return v.exit_code();
}
