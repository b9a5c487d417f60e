// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// An iteration of conjugate gradients on a program's own arrays with ghost layers: an exchange of halos, three passes
/// over points, two sums. compile.py compiles it; it does not run.

#include <ostraka/ostraka.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using grid = os::ghosted_array<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>;

double iterate(grid const& x, grid const& r, grid const& p, grid const& q, double rr) {
  auto const pq = os::value(os::psum<X, Y>(os::sum_over_points(
      [](double& product, auto const& u) {
        product = 4 * u(0, 0) - u(-1, 0) - u(1, 0) - u(0, -1) - u(0, 1);
        return product * u(0, 0);
      },
      q, os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(p, os::faces))));
  double const alpha = rr / pq;
  auto const next = os::value(os::psum<X, Y>(os::sum_over_points(
      [=](double& of_x, double& of_r, double of_p, double of_q) {
        of_x += alpha * of_p;
        of_r -= alpha * of_q;
        return of_r * of_r;
      },
      x, r, p, q)));
  double const beta = next / rr;
  os::for_each_point([=](double& of_p, double of_r) { of_p = of_r + beta * of_p; }, p, r);
  return next;
}
