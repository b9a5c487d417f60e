// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both programs pass a tensor to a function of a library, again and again, and use it themselves in between.

#include <cstdio>
#include <cstdlib>

#include "program.hpp"
#include "shared_state.hpp"

namespace {

void work(int argc, char** argv, double (*four_sums)(void const*, int)) {
  os::environment env(argc, argv);
  auto const mesh = os::make_mesh(X = env.devices());
  try {
    auto const a = os::full<double, I / X, J>(mesh, I = 5, J = 3, 2.0);
    double total = 0;
    for (int i = 0; i < 3; ++i) total += four_sums(&a, env.devices()) + os::value(os::sum<>(a));
    std::puts(total == 3 * 5 * 30.0 ? "right" : "wrong");
  } catch (os::error const& e) {
    std::printf("caught: %s\n", e.what());
  }
}

}  // namespace

int run(int argc, char** argv, double (*four_sums)(void const*, int)) {
  work(argc, argv, four_sums);
  std::fflush(stdout);
  // Variables of a static Kokkos, which the linker joins as well, would be destroyed by the program and by its library.
  std::_Exit(0);
}
