// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// The time that it takes to price one operation (os::time_of) that the program has called before, on dry meshes of 32
/// to 131,072 devices, with uneven parts: per device half a row, a little over a row, four rows. One process:
/// `dry_operations`

#include <chrono>
#include <cstdint>
#include <cstdio>

#include <ostraka/algebra/einsum.hpp>
#include <ostraka/creation/zeros.hpp>
#include <ostraka/environment/environment.hpp>
#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/foresight/time_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/moves/reshard.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

namespace {

using mesh_of_two = os::mesh<X_mesh, Y_mesh>;

// Microseconds of the fastest run.
template <class F>
double price(mesh_of_two const& m, F const& f) {
  double least = 1e9;
  for (int i = 0; i < 8; ++i) {
    auto const begin = std::chrono::steady_clock::now();
    static_cast<void>(os::time_of(m, os::machines::h100, f));
    double const now = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    least = now < least ? now : least;
  }
  return least;
}

void report(mesh_of_two const& m, char const* nodes) {
  for (std::int64_t n : {m.size(X) / 2, m.size(X) + 3, 4 * m.size(X)}) {
    auto const a = os::zeros<float, I/X, J>(m, I = n, J = 1000);
    auto const b = os::zeros<float, I/Y, J>(m, I = n, J = 1000);
    auto const c = os::zeros<float, I, K/X>(m, I = 3 * n, K = n);
    auto const d = os::zeros<float, K/X, J>(m, K = n, J = 1000);
    double const gather = price(m, [&] { static_cast<void>(os::reshard<I, J>(a)); });
    double const across = price(m, [&] { static_cast<void>(os::reshard<I/Y, J>(a)); });
    double const back = price(m, [&] { static_cast<void>(os::reshard<I/X, J>(b)); });
    double const to_all = price(m, [&] { static_cast<void>(os::reshard<I, J/X>(a)); });
    double const scatter = price(m, [&] { static_cast<void>(os::einsum<I/X, J>(c, d)); });
    std::printf("%6d x %d%s %7lld %10.1f %10.1f %10.1f %10.1f %10.1f\n", m.size(X), m.size(Y), nodes,
                static_cast<long long>(n), gather, across, back, to_all, scatter);
  }
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  std::printf("microseconds  nodes    rows     gather   I/X>I/Y    I/Y>I/X  all-to-all    scatter\n");
  for (int x : {16, 1024, 65536}) {
    auto const last = os::as_device(2 * x - 1);
    auto const flat = os::dry_mesh(last, X = x, Y = 2);
    static_cast<void>(os::cost_of(flat, [&] { report(flat, "   no   "); }));
    auto const on_nodes = os::dry_mesh(last, os::within_node(X = 4, Y = 2), X = x, Y = 2);
    static_cast<void>(os::cost_of(on_nodes, [&] { report(on_nodes, "   of 8 "); }));
  }
}
