// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The tensors that printer.cmake makes gdb print: every kind of handle and sharding.

#include <ostraka/ostraka.hpp>

namespace os = ostraka;

namespace mine {
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J, 3);
OSTRAKA_AXIS(batch);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
}  // namespace mine

extern "C" __attribute__((noinline)) void stop_here() { asm volatile(""); }

int main(int argc, char** argv) {
  using namespace mine;
  os::environment env(argc, argv);
  auto mesh = os::make_mesh(X = 1, Y = 1);
  auto T = os::named("T", os::generate<double, I/X, J>(mesh, I = 2, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) {
                       return 10.0 * double(i) + double(j) + 0.5;
                     }));
  auto partial = os::zeros<std::int32_t, batch/X, os::partial_max(Y)>(mesh, batch = 2);
  auto scalar = os::full<os::bfloat16>(mesh, -1.5);
  os::tensor<float, I, J/Y> empty;
  auto elsewhere = os::zeros<float, I/X>(os::make_mesh(os::not_here, X = 4), I = 8);
  stop_here();
  return static_cast<int>(T.local().size() + partial.local().size() + scalar.local().size() + empty.local().size() +
                          elsewhere.local().size()) -
         9;
}
