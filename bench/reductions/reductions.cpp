// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Reductions, running sums and sorts against a copy of their operand by std::memcpy, on one thread. "along": the axis
/// is the last one; "across": it is the first.
///
///     bench/reductions [rounds=5] [only=TEXT] [elements=32000000] [json=FILE]

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include <ostraka/engine/kernels/accumulators/accumulate_block.hpp>
#include <ostraka/engine/kernels/accumulators/moments.hpp>
#include <ostraka/engine/kernels/accumulators/sums.hpp>
#include <ostraka/engine/kernels/rows/scan_rows.hpp>
#include <ostraka/engine/kernels/rows/sort_rows.hpp>

#include "block.hpp"
#include "report.hpp"

namespace {

namespace engine = ostraka::engine;
using exec_space = Kokkos::DefaultHostExecutionSpace;

template <class T>
struct laboratory {
  bench::report& out;
  bench::arguments const& given;
  std::string type;
  std::int64_t elements;
  bench::block<T> x = bench::block<T>(static_cast<std::size_t>(elements)), y = x;
  bench::block<char> from = bench::block<char>(sizeof(T) * static_cast<std::size_t>(elements), 1), to = from;
  bench::block<char> states = bench::block<char>(64 * static_cast<std::size_t>(elements) / 4, 1);

  void measure(std::string const& what, std::function<void()> const& run) {
    std::string const name = type + " " + what;
    if (!given.wants(name)) return;
    auto const baseline = [this] { std::memcpy(to.data(), from.data(), from.size()); };
    out.add(bench::compare(name, {{"ours", run}, {"a copy", baseline}}, given.number("rounds", 5), bench::seconds_here,
                           0.01));
  }

  template <class Accumulator>
  void reduce(std::string const& what, std::int64_t rows, std::int64_t columns) {
    std::string const size = " (" + std::to_string(rows) + " x " + std::to_string(columns) + ")";
    auto* const to_states = reinterpret_cast<typename Accumulator::state*>(states.data());
    engine::accumulation_loops along, across;
    along.results.add(rows, columns);
    along.reduced.add(columns, 1, 1);
    across.results.add(columns, 1);
    across.reduced.add(rows, columns, 1);
    measure(what + " along" + size,
            [=, this] { engine::accumulate<Accumulator>(exec_space(), along, x.data(), to_states); });
    measure(what + " across" + size,
            [=, this] { engine::accumulate<Accumulator>(exec_space(), across, x.data(), to_states); });
  }

  void scan(std::int64_t rows, std::int64_t columns) {
    std::string const size = " (" + std::to_string(rows) + " x " + std::to_string(columns) + ")";
    auto const run = [this](engine::row_layout const& layout) {
      engine::scan_rows<engine::reduction::sum, exec_space, T>(exec_space(), layout, {}, x.data(), y.data(), nullptr,
                                                               nullptr);
    };
    measure("cumsum along" + size, [=] { run({rows, columns, 1}); });
    if (rows > 1) measure("cumsum across" + size, [=] { run({1, rows, columns}); });
  }

  void sort(std::int64_t rows, std::int64_t columns) {
    std::string const size = " (" + std::to_string(rows) + " x " + std::to_string(columns) + ")";
    auto* const index = reinterpret_cast<std::int64_t*>(states.data());
    measure("sort" + size, [=, this] {
      engine::sort_rows<false, exec_space, T>(exec_space(), {rows, columns, 1}, x.data(), {y.data(), nullptr, columns});
    });
    measure("top 8" + size, [=, this] {
      engine::sort_rows<true, exec_space, T>(exec_space(), {rows, columns, 1}, x.data(), {y.data(), index, 8});
    });
  }

  void all() {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(std::sin(static_cast<double>(i * 7919 % 1000003)));
    auto const n = static_cast<std::int64_t>(std::sqrt(static_cast<double>(elements)));
    for (std::int64_t rows : {n, elements / 64, std::int64_t(64)}) {
      std::int64_t const columns = elements / rows;
      reduce<engine::extreme_element<engine::reduction::max, T>>("argmax", rows, columns);
      reduce<engine::moments_of<T>>("variance", rows, columns);
      reduce<engine::sum_of<engine::square_of, T>>("norm", rows, columns);
      reduce<engine::sum_of<engine::one_if_nonzero, T>>("count", rows, columns);
      scan(rows, columns);
    }
    scan(1, elements);
    sort(elements / 2000, 2000);
  }
};

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  bench::arguments const given(argc, argv);
  bench::report out("reductions", given);
  out.condition("threads", std::to_string(exec_space().concurrency()));
  std::int64_t const elements = given.number("elements", 32000000);
  out.condition("elements of the operand", std::to_string(elements));
  laboratory<double>{out, given, "fp64", elements}.all();
  laboratory<float>{out, given, "fp32", elements}.all();
}
