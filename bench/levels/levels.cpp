// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// All-reduces, all-gathers and reduce-scatters over several nodes: over two levels, over one, and by MPI; bytes
/// between nodes as predicted, and as the kernel counts them. levels.py makes the nodes: namespaces on this machine,
/// with a link of a given rate between them.
///
///     python3 bench/levels/levels.py [--program build/bench/levels] [--nodes 2] [--ranks 4] [--rate 1e9]
///
///     mpirun … build/bench/levels [per_node=4] [bytes=4194304] [rounds=7] [only=TEXT] [json=FILE]

#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/ostraka.hpp>

#include "report.hpp"
#include "seconds_of_all.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

namespace {

/// The bytes that have left this machine or namespace, as the kernel counts them, without those of the loopback.
double bytes_sent() {
  double sum = 0;
  std::FILE* const file = std::fopen("/proc/net/dev", "r");
  if (file == nullptr) return 0;
  char line[512], name[64];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    unsigned long long sent = 0;
    if (std::sscanf(line, " %63[^:]: %*u %*u %*u %*u %*u %*u %*u %*u %llu", name, &sent) == 2 &&
        std::string(name) != "lo")
      sum += static_cast<double>(sent);
  }
  std::fclose(file);
  return sum;
}

/// The megabytes that leave the nodes in a call, all nodes together; the first rank of each node reads the kernel's
/// count.
template <class F>
double megabytes_on_the_wire(bool first_of_node, F const& call) {
  constexpr int calls = 10;
  call();
  MPI_Barrier(MPI_COMM_WORLD);
  double const before = bytes_sent();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int k = 0; k < calls; ++k) call();
  MPI_Barrier(MPI_COMM_WORLD);
  double const mine = first_of_node ? bytes_sent() - before : 0;
  double all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return 1e-6 * all / calls;
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  bench::arguments const given(argc, argv);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int const per_node = given.number("per_node", 0);
  auto const two = per_node > 0 ? os::make_mesh(os::devices_per_node(per_node), X = ranks) : os::make_mesh(X = ranks);
  auto const one = os::make_mesh(os::devices_per_node(1), X = ranks);
  bool const root = two.device() == 0;
  if (root) std::printf("%d ranks, %d on a node\n", ranks, two.devices_per_node());
  os::engine::shortest_levelled = given.number("shortest", 1);

  bench::report out("levels", given, root);
  int const rounds = given.number("rounds", 7);
  int const largest = given.number("bytes", 4 << 20), least = given.number("least", largest);
  for (int bytes = least; bytes <= largest; bytes *= 4) {
    int const n = bytes / 4 / ranks * ranks;
    std::vector<float> whole(static_cast<std::size_t>(n)), part(static_cast<std::size_t>(n / ranks));
    auto const parts_two = os::random<float, I/X>(two, I = n), parts_one = os::random<float, I/X>(one, I = n);
    auto const summands = [&](auto const& mesh) { return os::zeros<float, I, os::partial(X)>(mesh, I = n); };
    auto const sums_two = summands(two), sums_one = summands(one);
    auto const compare = [&](std::string const& what, auto const& ours, auto const& by_mpi) {
      std::string const name = what + ", " + std::to_string(bytes / 1024) + " KiB";
      if (!given.wants(name)) return;
      auto const slow = [&](auto const& mesh, auto const& sums, auto const& parts) {
        double const mine = static_cast<double>(os::cost_of(mesh, [&] { ours(sums, parts); }).bytes_between_nodes);
        double all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        return all;
      };
      double const between[2] = {slow(two, sums_two, parts_two), slow(one, sums_one, parts_one)};
      bench::comparison c = bench::compare(name,
                                           {{"two levels", [&] { ours(sums_two, parts_two); }},
                                            {"one level", [&] { ours(sums_one, parts_one); }},
                                            {"MPI", by_mpi}},
                                           rounds, bench::seconds_of_all);
      c.numbers["MB between nodes, two levels"] = 1e-6 * between[0];
      c.numbers["MB between nodes, one level"] = 1e-6 * between[1];
      bool const first = two.device() % two.devices_per_node() == 0;
      c.numbers["MB on the wire, two levels"] = megabytes_on_the_wire(first, [&] { ours(sums_two, parts_two); });
      c.numbers["MB on the wire, one level"] = megabytes_on_the_wire(first, [&] { ours(sums_one, parts_one); });
      c.numbers["MB on the wire, MPI"] = megabytes_on_the_wire(first, by_mpi);
      out.add(c);
    };
    compare(
        "all-reduce", [](auto const& sums, auto const&) { static_cast<void>(os::all_reduce<X>(sums)); },
        [&] { MPI_Allreduce(MPI_IN_PLACE, whole.data(), n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
    compare(
        "all-gather", [](auto const&, auto const& parts) { static_cast<void>(os::reshard<I>(parts)); },
        [&] { MPI_Allgather(part.data(), n / ranks, MPI_FLOAT, whole.data(), n / ranks, MPI_FLOAT, MPI_COMM_WORLD); });
    compare(
        "reduce-scatter", [](auto const& sums, auto const&) { static_cast<void>(os::reduce_scatter<I/X>(sums)); },
        [&] { MPI_Reduce_scatter_block(whole.data(), part.data(), n / ranks, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  }
}
