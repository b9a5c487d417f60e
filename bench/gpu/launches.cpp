// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The cost of an operation on a device beyond its arithmetic: seconds of operations on tiny blocks, one after another,
/// and how many kernels, copies and fences each of them launches, as Kokkos Tools counts them (kernels of libraries do
/// not count, and Kokkos before 4 reports no fences of a device). The mesh, and the MPI, which does nothing, are those
/// of bench/overhead.
///
///     bench/gpu/launches [rounds=9] [only=TEXT] [json=FILE] [markdown=1]

#include <cstdint>
#include <string>

#include "null_mpi.hpp"
#include "report.hpp"
#include "seconds_on_device.hpp"
#include "tiny_operations.hpp"

namespace {

namespace tools = Kokkos::Tools::Experimental;

struct counts {
  long kernels = 0, copies = 0, fences = 0;
};
counts counted;

void count_kernel(char const*, std::uint32_t, std::uint64_t*) { ++counted.kernels; }

/// Counts what one call launches.
counts counts_of(void (*run)()) {
  tools::set_begin_parallel_for_callback(count_kernel);
  tools::set_begin_parallel_reduce_callback(count_kernel);
  tools::set_begin_parallel_scan_callback(count_kernel);
  tools::set_begin_deep_copy_callback(
      [](auto, char const*, void const*, auto, char const*, void const*, std::uint64_t) { ++counted.copies; });
  tools::set_begin_fence_callback([](char const*, std::uint32_t, std::uint64_t*) { ++counted.fences; });
  counted = {};
  run();
  counts const result = counted;
  tools::set_begin_parallel_for_callback(nullptr);
  tools::set_begin_parallel_reduce_callback(nullptr);
  tools::set_begin_parallel_scan_callback(nullptr);
  tools::set_begin_deep_copy_callback(nullptr);
  tools::set_begin_fence_callback(nullptr);
  return result;
}

struct nothing {
  KOKKOS_FUNCTION void operator()(int) const {}
};

void launch_nothing() { Kokkos::parallel_for("nothing", Kokkos::RangePolicy<>(0, 1), nothing{}); }

}  // namespace

int main(int argc, char** argv) {
  bench::arguments const given(argc, argv);
  ostraka::environment const env(argc, argv);
  bench::report table("launches", given);
  table.condition("device", Kokkos::DefaultExecutionSpace::name());
#if KOKKOS_VERSION < 40000
  table.condition("fences", "not counted, since this Kokkos tells no tool of a device's");
#endif
  table.condition("mesh", "X = 2, Y = 2, of which this process is device 0; MPI does nothing");
  auto const add = [&](std::string const& what, void (*run)()) {
    if (!given.wants(what)) return;
    run();
    counts const launched = counts_of(run);
    auto c = bench::compare(what, {{"ours", run}}, given.number("rounds", 9), bench::seconds_on_device);
    c.numbers["kernels"] = static_cast<double>(launched.kernels);
    c.numbers["copies"] = static_cast<double>(launched.copies);
#if KOKKOS_VERSION >= 40000
    c.numbers["fences"] = static_cast<double>(launched.fences);
#endif
    table.add(std::move(c));
  };
  add("a kernel of Kokkos that does nothing", launch_nothing);
  for (int const extent : {8, 64}) {
    tiny::all.emplace(extent);
    for (tiny::operation const& o : tiny::operations) add(std::string(o.what) + ", " + std::to_string(extent), o.run);
  }
  tiny::all.reset();
}
