// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The cost of comparing calls, for an operation that moves next to nothing. OSTRAKA_CHECK_SPMD is 0, 1 or first, which
/// is the default of a release build.
///
///     OSTRAKA_CHECK_SPMD=1 mpirun -n 2 build/bench/check_mode [repetitions]

#include <ostraka/ostraka.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

namespace os = ostraka;

namespace {

using clock_type = std::chrono::steady_clock;

// The fastest tenth of batches of 100: other work on the machine only adds to the time.
template <class F>
double microseconds(int repetitions, F const& f) {
  std::vector<double> times;
  for (int batch = 0; batch < repetitions; ++batch) {
    auto const begin = clock_type::now();
    for (int i = 0; i < 100; ++i) f();
    times.push_back(std::chrono::duration<double, std::micro>(clock_type::now() - begin).count() / 100);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 10];
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const repetitions = argc > 1 ? std::atoi(argv[1]) : 300;
  auto const mesh = os::make_mesh(X = env.devices());
  auto const a = os::random<float, I/X, J>(mesh, I = 64, J = 8);
  double const gather = microseconds(repetitions, [&] { static_cast<void>(os::all_gather<X>(a)); });
  double const shift = microseconds(repetitions, [&] {
    static_cast<void>(os::shard_map<I/X, J>([](auto const& b) { return os::shift<X>(b, 1); }, a));
  });
  double const slice = microseconds(repetitions, [&] { static_cast<void>(os::scale(2.0f, a)); });
  double const enter = microseconds(repetitions, [&] { mesh.handle()->world().enter(); });
  if (mesh.device() == 0)
    std::printf(
        "%d ranks: all_gather of 2 KiB %.2f us, shift in a body %.2f us, scale (no communication) %.2f us, "
        "telling others of a collective %.4f us\n",
        env.devices(), gather, shift, slice, enter);
}
