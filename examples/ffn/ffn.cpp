// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The feed-forward layer of a transformer, divided over a mesh in both directions: X divides the batch and the
/// weights' rows, Y the width of the model and of the layer. The sharding of its result is that of its input, so that
/// such layers can follow one another.
///
///     a[B_X, S, F_Y] = relu(h[B_X, S, D_Y] · W_in[D_X, F_Y])
///     o[B_X, S, D_Y] = a[B_X, S, F_Y] · W_out[F_Y, D_X]

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

#include <ostraka/ostraka.hpp>

namespace os = ostraka;

// The extents are known while compiling, so the plans are the cheapest for them. No extent has to be divisible.
OSTRAKA_AXIS(B, 7);    // sequences
OSTRAKA_AXIS(S, 16);   // tokens of a sequence
OSTRAKA_AXIS(D, 90);   // width of the model
OSTRAKA_AXIS(F, 250);  // width of the layer
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using activations = os::tensor<double, B/X, S, D/Y>;
using weights_in = os::tensor<double, D/X, F/Y>;
using hidden = os::tensor<double, B/X, S, F/Y>;
using weights_out = os::tensor<double, F/Y, D/X>;

// Up: both operands are gathered along the axis of the sum, and nothing is reduced.
constexpr auto up = os::plan_of<os::dims<B/X, S, F/Y>, activations, weights_in>;
static_assert(up.count(os::step::all_gather) == 2 && up.communications() == 2);

// Down: the weights are gathered over X; each device sums over its part of F, and the sums are scattered over Y.
constexpr auto down = os::plan_of<os::dims<B/X, S, D/Y>, hidden, weights_out>;
static_assert(down.count(os::step::all_gather) == 1 && down.count(os::step::reduce_scatter) == 1 &&
              down.communications() == 2);

struct relu {
  KOKKOS_FUNCTION double operator()(double v) const { return v > 0 ? v : 0; }
};

/// Maps [0, 1) to [-1, 1).
struct centred {
  KOKKOS_FUNCTION double operator()(double v) const { return 2 * v - 1; }
};

activations feed_forward(activations const& h, weights_in const& w_in, weights_out const& w_out) {
  hidden const a = os::map(relu{}, os::einsum<B/X, S, F/Y>(h, w_in));
  return os::einsum<B/X, S, D/Y>(a, w_out);
}

/// The largest error against plain loops over all tokens, on device 0; the terms of the sums are about 1.
template <class H, class W>
double largest_error(H const& h, W const& w_in, W const& w_out, H const& o) {
  double largest = 0;
  std::vector<double> a(w_in.extent(1));
  for (std::size_t b = 0; b < h.extent(0); ++b)
    for (std::size_t s = 0; s < h.extent(1); ++s) {
      for (std::size_t f = 0; f < a.size(); ++f) {
        double sum = 0;
        for (std::size_t d = 0; d < h.extent(2); ++d) sum += h(b, s, d) * w_in(d, f);
        a[f] = sum > 0 ? sum : 0;
      }
      for (std::size_t d = 0; d < h.extent(2); ++d) {
        double sum = 0;
        for (std::size_t f = 0; f < a.size(); ++f) sum += a[f] * w_out(f, d);
        largest = std::fmax(largest, std::abs(sum - o(b, s, d)));
      }
    }
  return largest;
}

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const x = env.devices() % 2 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(X = x, Y = env.devices() / x);

  activations const h = os::map(centred{}, os::random<activations>(mesh, os::seed(1)));
  weights_in const w_in = os::map(centred{}, os::random<weights_in>(mesh, os::seed(2)));
  weights_out const w_out = os::map(centred{}, os::random<weights_out>(mesh, os::seed(3)));
  activations const o = feed_forward(h, w_in, w_out);

  auto const all_h = os::gather_to_root(h);
  auto const all_in = os::gather_to_root(w_in);
  auto const all_out = os::gather_to_root(w_out);
  auto const all_o = os::gather_to_root(o);
  if (mesh.device() != 0) return 0;

  std::printf("h  %s\no  %s\n", os::describe(h).c_str(), os::describe(o).c_str());
  std::printf("\nUp:\n%s\nDown:\n%s", os::describe(up, mesh.sizes()).c_str(), os::describe(down, mesh.sizes()).c_str());
  double const error = largest_error(*all_h, *all_in, *all_out, *all_o);
  bool const good = error < 1e-11;
  std::printf("\nLargest difference from plain loops: %.1e: %s\n", error, good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
