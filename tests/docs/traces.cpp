// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/traces.md as the page prints them, run on 4 ranks; the checks behind them are that the files
/// are complete. tests/traces checks their contents.

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/seeing/trace.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;

namespace traced_programs {

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

// The last characters of a file, which it removes.
std::string end_of(char const* path) {
  std::string text;
  if (std::FILE* const file = std::fopen(path, "r")) {
    char part[4096];
    for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, n);
    std::fclose(file);
  }
  std::remove(path);
  return text.size() < 3 ? text : text.substr(text.size() - 3);
}

TEST_CASE("a part of a program") {
  auto mesh = os::make_mesh(X = 4);
  auto T = os::random<float, I, J/X>(mesh, I = 4096, J = 512);
  auto V = os::random<float, J/X, K>(mesh, J = 512, K = 128);
  std::string table;
{
  os::trace const traced("step.json");           // all ranks of the job begin it, and end it
  os::trace_region const forward("forward");     // a name of your own, for tools of Kokkos, too
  auto C = os::einsum<I/X, K>(T, V);
  auto D = os::reshard<I, K>(os::softmax<K>(C));
  table = os::trace_summary(traced);             // of all ranks, on rank 0
}
  CHECK(table.empty() == (mesh.device() != 0));
  if (mesh.device() != 0) return;
  CHECK(table.find("ostraka: 4 ranks, ") == 0);
  CHECK(table.find("ostraka softmax [I_X, K], reads and writes 1,048,576 B\n") != std::string::npos);
  CHECK(end_of("step.json") == "\n]\n");
}

TEST_CASE("a machine that is not here") {
  if (os::make_mesh(X = 4).device() != 0) return;
  std::string table;
auto step = [](auto const& m) {
  auto h = os::random<float, I/X, J>(m, I = 1 << 20, J = 4096);
  auto w = os::random<float, J/X, K>(m, J = 4096, K = 4096);
  auto a = os::einsum<I/X, K>(h, w);             // gathers w
};
auto dry = os::dry_mesh(X = 256);                // this process plays device 0 of 256
table = os::trace_of(dry, os::machines::h100, [&] { step(dry); }, "on_256.json");
  CHECK(table.find("ostraka: device 0 of X=256, ") == 0);
  CHECK(table.find("ostraka einsum C[I_X, K] = A[I_X, J] · B[J_X, K], moves ") != std::string::npos);
  CHECK(end_of("on_256.json") == "\n]\n");
}

}  // namespace traced_programs
