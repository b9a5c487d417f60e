// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/from-spmd_types.md as the page prints them, run on 4 ranks. Values and gradients are compared
/// with plain loops.

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <array>
#include <cmath>
#include <cstdint>

namespace os = ostraka;

namespace from_spmd_types {

OSTRAKA_AXIS(S);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(F);
OSTRAKA_MESH_AXIS(Y);

constexpr std::int64_t length = 4, width = 3, inner = 6;

float at_x(std::int64_t s, std::int64_t m) { return static_cast<float>((5 * s + 3 * m) % 7 - 3); }
float at_up(std::int64_t m, std::int64_t f) { return static_cast<float>((2 * m + 3 * f) % 5 - 2); }
float at_down(std::int64_t f, std::int64_t m) { return static_cast<float>((f + 4 * m) % 3 - 1); }

template <class L>
struct weights {
  os::leaf<L, float, M, F / Y> up;
  os::leaf<L, float, F / Y, M> down;
};

// y and, of ½ Σ y², the gradients, all in whole numbers.
struct by_hand {
  float y[length][width] = {}, x[length][width] = {}, up[width][inner] = {}, down[inner][width] = {};

  by_hand() {
    for (int s = 0; s < length; ++s) {
      float h[inner] = {}, of_h[inner] = {};
      for (int f = 0; f < inner; ++f)
        for (int m = 0; m < width; ++m) h[f] += at_x(s, m) * at_up(m, f);
      for (int f = 0; f < inner; ++f)
        for (int m = 0; m < width; ++m) y[s][m] += std::fmax(h[f], 0.f) * at_down(f, m);
      for (int f = 0; f < inner; ++f)
        for (int m = 0; m < width; ++m) {
          of_h[f] += h[f] > 0 ? y[s][m] * at_down(f, m) : 0;
          down[f][m] += y[s][m] * std::fmax(h[f], 0.f);
        }
      for (int f = 0; f < inner; ++f)
        for (int m = 0; m < width; ++m) {
          x[s][m] += of_h[f] * at_up(m, f);
          up[m][f] += at_x(s, m) * of_h[f];
        }
    }
  }
};

template <auto I, auto J, class A, class Wanted>
void check(A const& a, Wanted const& wanted) {
  auto const whole = os::reshard<I, J>(a).local();
  for (std::size_t i = 0; i < whole.extent(0); ++i)
    for (std::size_t j = 0; j < whole.extent(1); ++j) CHECK(whole(i, j) == wanted[i][j]);
}

TEST_CASE("a layer of two products") {
  auto const mesh = os::make_mesh(Y = 4);
  weights<os::values> const w{os::generate<float, M, F / Y>(mesh, M = width, F = inner, at_up),
                              os::generate<float, F / Y, M>(mesh, F = inner, M = width, at_down)};
  auto const x = os::generate<float, S, M>(mesh, S = length, M = width, at_x);
  by_hand const wanted;

  // clang-format off
auto const mlp = [](auto const& p, auto const& a) {             // a: float[S, M], on all
  auto const h = os::relu(os::einsum<S, F/Y>(a, p.up));         // p.up: float[M, F_Y]; nothing moves
  return os::einsum<S, M>(h, p.down);                           // p.down: float[F_Y, M]; an all-reduce
};
auto const mlp_of_positions = [](auto const& p, auto const& a) {    // a: float[S_Y, M]
  auto const h = os::relu(os::einsum<S, F/Y>(os::all_gather<Y>(a), p.up));
  return os::einsum<S/Y, M>(h, p.down);                             // a reduce-scatter
};
auto y = os::shard_map<S, M>([](auto a, auto up, auto down) {    // a: float[S, M], up: float[M, F] {V_Y}
  auto h = os::relu(os::einsum<S, F>(a, up));                    // float[S, F] {V_Y}
  return os::psum<Y>(os::einsum<S, M>(h, down));                 // float[S, M]
}, x, w.up, w.down);
  // clang-format on

  check<S, M>(mlp(w, x), wanted.y);
  check<S, M>(mlp_of_positions(w, os::slice<S / Y>(x)), wanted.y);
  check<S, M>(y, wanted.y);

  auto const by_device = [](auto const& v, auto const& b) {
    return os::shard_map<S, M>(
        [](auto a, auto up, auto down) {
          return os::psum<Y>(os::einsum<S, M>(os::relu(os::einsum<S, F>(a, up)), down));
        },
        b, v.up, v.down);
  };
  auto const check_gradients = [&](auto const& layer, auto const& input) {
    auto const loss = [&](auto const& y_of) { return os::sum<>(os::scale(os::square(y_of), 0.5f)); };
    auto const of_w = os::value_and_grad([&](auto const& v) { return loss(layer(v, input)); })(w).gradient;
    check<M, F>(of_w.up, wanted.up);
    check<F, M>(of_w.down, wanted.down);
    auto const of_x = os::value_and_grad([&](auto const& b) { return loss(layer(w, b)); })(input).gradient;
    check<S, M>(of_x, wanted.x);
  };
  check_gradients(mlp, x);
  check_gradients(mlp_of_positions, os::slice<S / Y>(x));
  check_gradients(by_device, x);
}

}  // namespace from_spmd_types
