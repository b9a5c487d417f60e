// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The heat equation in two dimensions and the wave equation in three, on a mesh of up to 2 × 2 × 2 devices. Each keeps
/// its block with a halo; while the halos are exchanged, it computes the points that need none. The program compares
/// both with their analytic solutions on finer and finer grids: the error falls with the square of the step. `heat
/// heat.png` also draws heat that spreads from three spots. The function of a point is a type: nvcc takes no generic
/// lambda to a GPU.
// ranks: 1 2 4 8

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <utility>

#include <ostraka/ostraka.hpp>

#include "png.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);  OSTRAKA_MESH_AXIS(Z);

double constexpr pi = std::numbers::pi;
bool good = true;

/// r = k / h² for steps of length k.
struct heat_step {
  double r;
  KOKKOS_FUNCTION double operator()(auto const& u) const {
    return u(0, 0) + r * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0));
  }
};

/// u_t = u_xx + u_yy, u = 0 at the edges, by Euler's method: `steps` of length r h².
auto spread_heat(os::tensor<double, I/X, J/Y/Z> const& start, double r, int steps) {
  return os::shard_map<I/X, J/Y/Z>([=](auto block) {
    auto now = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y/Z>(block);  // with zeros beyond the edges
    auto next = os::zeros_like(now);
    for (int s = 0; s < steps; ++s) {
      os::stencil_into(next, heat_step{r},
                       os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y/Z>(now, os::faces));
      std::swap(now, next);
    }
    return os::own(now);
  }, start);
}

KOKKOS_FUNCTION double laplacian(auto const& u) {
  return u(-1, 0, 0) + u(1, 0, 0) + u(0, -1, 0) + u(0, 1, 0) + u(0, 0, -1) + u(0, 0, 1) - 6 * u(0, 0, 0);
}

/// Leapfrog steps of length c h; the first one starts at rest.
struct first_wave_step {
  double c;
  KOKKOS_FUNCTION double operator()(auto const& u) const { return u(0, 0, 0) + c * c / 2 * laplacian(u); }
};
struct wave_step {
  double c;
  KOKKOS_FUNCTION double operator()(auto const& u, auto const& before) const {
    return 2 * u(0, 0, 0) - before(0, 0, 0) + c * c * laplacian(u);
  }
};

/// u_tt = u_xx + u_yy + u_zz, u = 0 at the faces, by leapfrog: `steps` of length c h. Starts at rest.
auto spread_wave(os::tensor<double, I/X, J/Y, K/Z> const& start, double c, int steps) {
  return os::shard_map<I/X, J/Y, K/Z>([=](auto block) {
    auto before = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y, os::halo<K, 1>/Z>(block);
    auto now = os::zeros_like(before), next = os::zeros_like(before);
    os::stencil_into(now, first_wave_step{c}, before);
    for (int s = 1; s < steps; ++s) {
      os::stencil_into(
          next, wave_step{c},
          os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y, os::halo<K, 1>/Z>(now, os::faces),
          before);
      std::swap(before, now);
      std::swap(now, next);
    }
    return os::own(now);
  }, start);
}

struct distance {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return a > b ? a - b : b - a; }
};

/// The largest error, over all devices.
template <auto... Dims>
double largest_error(os::tensor<double, Dims...> const& got, os::tensor<double, Dims...> const& wanted) {
  auto const error = os::map(distance{}, got, wanted);
  return os::value(os::max<>(error));
}

/// The error for each number of grid steps, and how fast it falls: the order is 2 where halving h quarters it.
void study(char const* what, bool prints, auto const& error_of) {
  double coarser = 0;
  for (int n : {16, 32, 64}) {
    double const error = error_of(n);
    double const order = std::log2(coarser / error);
    if (prints && coarser == 0) std::printf("%s, h = 1/%d: error %.2e\n", what, n, error);
    if (prints && coarser > 0) std::printf("%s, h = 1/%d: error %.2e, order %.2f\n", what, n, error, order);
    good = good && error > 0 && (coarser == 0 || std::abs(order - 2) < 0.1);
    coarser = error;
  }
}

png::colour colour_of(double heat) {
  auto const part = [](double x) { return static_cast<std::uint8_t>(255 * (x < 0 ? 0 : x > 1 ? 1 : x)); };
  return {part(3 * heat), part(3 * heat - 1), part(3 * heat - 2)};
}

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const p = env.devices();
  int const x = p % 2 == 0 ? 2 : 1, y = p % 4 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(X = x, Y = y, Z = p / (x * y));
  bool const prints = mesh.device() == 0;

  study("heat in two dimensions", prints, [&](int n) {
    double const h = 1.0 / n, r = 0.2, end = 0.05;
    int const steps = static_cast<int>(std::lround(end / (r * h * h)));
    double const fades = std::exp(-2 * pi * pi * r * h * h * steps);
    auto const wave = [=] KOKKOS_FUNCTION(std::int64_t i, std::int64_t j) {
      return std::sin(pi * h * static_cast<double>(i + 1)) * std::sin(pi * h * static_cast<double>(j + 1));
    };
    auto const start = os::generate<double, I/X, J/Y/Z>(mesh, I = n - 1, J = n - 1, wave);
    return largest_error<I/X, J/Y/Z>(spread_heat(start, r, steps), os::scale(start, fades));
  });

  study("waves in three dimensions", prints, [&](int n) {
    double const h = 1.0 / n, c = 0.5, end = 0.5;
    int const steps = static_cast<int>(std::lround(end / (c * h)));
    auto const wave = [=] KOKKOS_FUNCTION(std::int64_t i, std::int64_t j, std::int64_t k) {
      auto const s = [=](std::int64_t at) { return std::sin(pi * h * static_cast<double>(at + 1)); };
      return s(i) * s(j) * s(k);
    };
    auto const start = os::generate<double, I/X, J/Y, K/Z>(mesh, I = n - 1, J = n - 1, K = n - 1, wave);
    return largest_error<I/X, J/Y, K/Z>(spread_wave(start, c, steps),
                                        os::scale(start, std::cos(std::sqrt(3.0) * pi * c * h * steps)));
  });

  int const n = 128;
  auto const spots =
      os::generate<double, I/X, J/Y/Z>(mesh, I = n, J = n, [=] KOKKOS_FUNCTION(std::int64_t i, std::int64_t j) {
        auto const is_in = [=](std::int64_t row, std::int64_t column, std::int64_t radius) {
          return (i - row) * (i - row) + (j - column) * (j - column) < radius * radius;
        };
        return is_in(40, 40, 18) || is_in(80, 90, 24) || is_in(100, 30, 10) ? 1.0 : 0.0;
      });
  auto const heat = os::gather_to_root(spread_heat(spots, 0.2, 200));
  if (heat) {
    auto const picture = png::picture(n, n, [&](std::size_t i, std::size_t j) { return colour_of((*heat)(i, j)); });
    good = good && picture.size() == 8 + 3 * 12 + 13 + 2 + 5 + (3 * n + 1) * n + 4;
    if (argc > 1)
      if (std::FILE* const file = std::fopen(argv[1], "wb")) {
        good = std::fwrite(picture.data(), 1, picture.size(), file) == picture.size() && good;
        std::fclose(file);
      }
    std::printf("%s\n", good ? "as the analytic solutions say" : "WRONG");
  }
  return good ? 0 : 1;
}
