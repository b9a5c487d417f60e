// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Operations that read and write memory once, from 1 KiB to 1 GiB, against a device copy (Kokkos::deep_copy) of as
/// many bytes. "speed / copy" compares bytes read and written in a second. Results are new tensors, except those of
/// map_into. Rows have 4096 elements at most.
///
///     bench/gpu/memory_bound [rounds=9] [from=1024] [to=1073741824] [only=TEXT] [json=FILE]
///         [markdown=1]

#include <algorithm>
#include <cstdint>
#include <string>

#include <ostraka/operations.hpp>

#include "aim.hpp"
#include "report.hpp"
#include "seconds_on_device.hpp"

namespace os = ostraka;

namespace {

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

template <class T>
struct twice_minus_one {
  KOKKOS_FUNCTION T operator()(T const& v) const { return T(v + v - T(1.0f)); }
};

std::string size_of(std::int64_t bytes) {
  constexpr char const* units[] = {" B", " KiB", " MiB", " GiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 3; ++unit) bytes /= 1024;
  return std::to_string(bytes) + units[unit];
}

template <class T>
void time_all(bench::report& report, bench::aim& aim, bench::arguments const& given, char const* element) {
  auto const mesh = os::make_mesh(X = 1);
  for (std::int64_t bytes = given.number("from", 1024); bytes <= given.number("to", 1 << 30); bytes *= 4) {
    std::int64_t const elements = bytes / static_cast<std::int64_t>(sizeof(T));
    std::int64_t const columns = std::min<std::int64_t>(elements, 4096);
    auto const x = os::cast<T>(os::random<float, I, J>(mesh, I = elements / columns, J = columns));
    auto const gain = os::cast<T>(os::random<float, J>(mesh, J = columns));
    auto target = os::copy(x);
    Kokkos::DefaultExecutionSpace const exec;
    bench::contestant const copy{"copy", [&] { Kokkos::deep_copy(exec, target.local(), x.local()); }};
    // Tensors: how many tensors of this size the operation reads and writes.
    auto const time = [&](std::string const& operation, double tensors, auto const& run) {
      std::string const name = operation + '.' + element + ", " + size_of(bytes);
      if (!given.wants(name)) return;
      auto c = bench::compare(name, {{"ours", [&] { static_cast<void>(run()); }}, copy}, given.number("rounds", 9),
                              bench::seconds_on_device);
      c.numbers["GB/s"] = tensors * static_cast<double>(bytes) / c.seconds[0].median * 1e-9;
      c.numbers["GB/s of the copy"] = 2 * static_cast<double>(bytes) / c.seconds[1].median * 1e-9;
      double const speed = tensors / 2 / c.ratio[1].median;
      c.numbers["speed / copy"] = speed;
      if (bytes >= 16 << 20) aim.add(name, speed);
      report.add(std::move(c));
    };
    time("copy", 2, [&] { return os::copy(x); });
    time("map", 2, [&] { return os::map(twice_minus_one<T>{}, x); });
    time("map_into", 2, [&] { return os::map_into(target, twice_minus_one<T>{}, x), 0; });
    time("sum", 1, [&] { return os::sum<>(x); });
    time("sum of rows", 1, [&] { return os::sum<I>(x); });
    time("softmax of rows", 2, [&] { return os::softmax<J>(x); });
    time("rms_norm of rows", 2, [&] { return os::rms_norm<J>(x, gain); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  bench::arguments const given(argc, argv);
  bench::report report("memory_bound", given);
  report.condition("device", Kokkos::DefaultExecutionSpace::name());
  report.condition("speed / copy", "bytes read and written in a second, relative to a device copy of as many bytes");
  bench::aim aim("memory-bound operations from 16 MiB on have 0.8 of the speed of a device copy", 0.8);
  time_all<float>(report, aim, given, "float");
  time_all<os::bfloat16>(report, aim, given, "bfloat16");
  time_all<double>(report, aim, given, "double");
  aim.print();
}
