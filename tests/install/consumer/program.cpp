// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A user's program with ostraka::ostraka: every element of a product of ones is the length of the contracted axis.

#include <ostraka/ostraka.hpp>

#include <cstdio>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

struct one {
  template <class... Indices>
  KOKKOS_FUNCTION float operator()(Indices...) const {
    return 1.0F;
  }
};

int main(int argc, char** argv) {
  os::environment env(argc, argv);
  auto mesh = os::make_mesh(X = 1);
  auto a = os::generate<float, I, J / X>(mesh, I = 4, J = 5, one{});
  auto b = os::generate<float, J / X, K>(mesh, J = 5, K = 3, one{});
  auto c = os::einsum<I, K>(a, b);
  auto const local = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, c.local());
  std::printf("%g\n", static_cast<double>(local(3, 2)));
  return local(3, 2) == 5.0F ? 0 : 1;
}
