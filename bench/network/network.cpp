// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A product next to a move on a network where moves take time: blocking against overlapped, ours and by hand.
/// network.py of this folder sets the network up and calls this program twice: to find the rate at which moves take as
/// long as products, and to time all contestants at this rate.
///
///     python3 bench/network/network.py [--program build/bench/network] [--extent 2048] [--rounds 7]
///
///     mpirun -n 2 build/bench/network [calibrate=1] [extent=2048] [pieces=8] [rounds=7] [only=TEXT] [json=FILE]

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <ostraka/ostraka.hpp>

#include "by_hand.hpp"
#include "report.hpp"
#include "seconds_of_all.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

namespace {

// The seconds of the fastest run.
template <class Run>
double least_seconds(Run const& run) {
  double least = bench::seconds_of_all(run, 1);
  for (int i = 0; i < 4; ++i) least = std::min(least, bench::seconds_of_all(run, 1));
  return least;
}

// The seconds of a product and of its move alone, and the bytes that all ranks send.
template <class Product>
void calibrate(char const* name, Product& p, bool root) {
  double const computes = least_seconds([&] { p.compute(); });
  double const moves = least_seconds([&] { p.move(); });
  double const bytes = 8.0 * static_cast<double>(p.r.elements()) * p.r.size * (p.r.size - 1);
  if (root)
    std::printf("{\"what\": \"%s\", \"computes\": %.9g, \"moves\": %.9g, \"bytes\": %.0f}\n", name, computes, moves,
                bytes);
}

// Times ours first: with rings, in both directions, and without.
template <class Product, class C, class A, class B>
void compare(bench::report& out, char const* name, Product& p, C& c, A const& a, B const& b, int pieces, int rounds) {
  auto const ours = [&](auto policy) { return [&, policy] { os::einsum_into(c, a, b, policy); }; };
  std::vector<bench::contestant> all = {{"os::overlapped", ours(os::overlapped)},
                                        {"os::overlapped_both_ways", ours(os::overlapped_both_ways)},
                                        {"without a policy", ours(os::cheapest)}};
  all.push_back({"by hand, blocking", [&] { p.blocking(); }});
  all.push_back({"by hand, ring without tests", [&] { p.in_a_ring(1, 1); }});
  all.push_back({"by hand, ring in pieces", [&, pieces] { p.in_a_ring(pieces, 4); }});
  all.push_back({"product alone", [&] { p.compute(); }});
  all.push_back({"move alone", [&] { p.move(); }});
  out.add(bench::compare(name, all, rounds, bench::seconds_of_all));
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  bench::arguments const given(argc, argv);
  int const extent = given.number("extent", 2048);
  by_hand::gather_product gather(extent);
  by_hand::scatter_product scatter(extent);
  bool const root = gather.r.rank == 0;
  if (given.number("calibrate", 0) != 0) {
    calibrate("gather", gather, root);
    calibrate("scatter", scatter, root);
    return 0;
  }
  bench::report out("network", given, root);
  int const pieces = given.number("pieces", 8);
  int const rounds = given.number("rounds", 7);
  auto const mesh = os::make_mesh(X = gather.r.size);
  auto const sizes = os::sizes(I = extent, J = extent, K = extent);
  auto c = os::zeros<os::tensor<double, I/X, K>>(mesh, sizes);
  auto const b = os::random<os::tensor<double, J/X, K>>(mesh, sizes, os::seed(1));
  if (given.wants("gather")) {
    auto const a = os::random<os::tensor<double, I/X, J>>(mesh, sizes, os::seed(2));
    compare(out, "gather", gather, c, a, b, pieces, rounds);
  }
  if (given.wants("scatter")) {
    auto const a = os::random<os::tensor<double, I, J/X>>(mesh, sizes, os::seed(3));
    compare(out, "scatter", scatter, c, a, b, pieces, rounds);
  }
}
