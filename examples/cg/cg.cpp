// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Conjugate gradients and the method of Lanczos (krylov.hpp) on a mesh of up to 2 × 2 × 2 devices. The eigenvectors of
/// the seven-point operator are products of sines, and its eigenvalues sums of 2 − 2 cos(π a / (n + 1)). From four
/// eigenvectors both methods end after four steps, the one with the solution, the other with the four eigenvalues. From
/// an arbitrary vector, plain loops compute the residual of the solution, and Lanczos' method finds both ends of the
/// spectrum.
// ranks: 1 2 4 6 8

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>

#include "krylov.hpp"

using namespace krylov;

double constexpr pi = std::numbers::pi;
krylov::grid constexpr grid_size{15, 12, 10};
bool good = true;

using values = os::tensor<double, I/X, J/Y, K/Z>;

/// A product of sines with a, b and c half waves.
struct mode {
  int a, b, c;

  KOKKOS_FUNCTION double at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    auto const wave = [](int half_waves, std::int64_t at, int points) {
      return std::sin(pi * half_waves * static_cast<double>(at + 1) / (points + 1));
    };
    return wave(a, i, grid_size.i) * wave(b, j, grid_size.j) * wave(c, k, grid_size.k);
  }
  double eigenvalue() const {
    auto const one = [](int half_waves, int points) { return 2 - 2 * std::cos(pi * half_waves / (points + 1)); };
    return one(a, grid_size.i) + one(b, grid_size.j) + one(c, grid_size.k);
  }
};
constexpr std::array<mode, 4> modes{mode{1, 1, 1}, mode{2, 5, 1}, mode{9, 3, 7}, mode{15, 12, 10}};  // by eigenvalue

/// Σ weight[m] modes[m], or, with all weights 0, numbers without a pattern. It holds the modes by value, as kernels on
/// a GPU require.
struct mixture {
  Kokkos::Array<double, 4> weight;
  Kokkos::Array<mode, 4> of{modes[0], modes[1], modes[2], modes[3]};

  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    double sum = 0;
    for (std::size_t m = 0; m < 4; ++m) sum += weight[m] * of[m].at(i, j, k);
    return weight[0] == 0 ? static_cast<double>((7 * i * i + 5 * j + 3 * i * k) % 11 - 5) : sum;
  }
};

/// Copies a tensor's elements to a vector, and back.
void copy_in(field const& to, values const& from) {
  os::shard_map<I/X, J/Y, K/Z>([](auto block, auto array) {
    os::for_each_point(copy{}, array, block);
    return block;
  }, from, to);
}
values copy_out(field const& from) {
  return os::shard_map<I/X, J/Y, K/Z>([](auto array) { return os::own(array); }, from);
}

void expect(char const* what, bool prints, double error, double limit) {
  bool const holds = error <= limit;  // not for NaN
  if (prints) std::printf("%-58s %.1e%s\n", what, error, holds ? "" : "   WRONG");
  good = good && holds;
}

struct distance {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return a > b ? a - b : b - a; }
};

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const p = env.devices();
  int const x = p % 2 == 0 ? 2 : 1, y = p % 4 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(X = x, Y = y, Z = p / (x * y));
  bool const prints = mesh.device() == 0;
  auto const filled = [&](Kokkos::Array<double, 4> const& weight) {
    return os::generate<double, I/X, J/Y, K/Z>(mesh, I = grid_size.i, J = grid_size.j, K = grid_size.k,
                                               mixture{weight});
  };
  field const b = make_field(mesh, grid_size), u = make_field(mesh, grid_size);
  conjugate_gradients solver(mesh, grid_size);

  // Four eigenvectors.
  Kokkos::Array<double, 4> const weight{1, -2, 0.5, 1.5};
  Kokkos::Array<double, 4> solution{};
  for (std::size_t m = 0; m < 4; ++m) solution[m] = weight[m] / modes[m].eigenvalue();
  copy_in(b, filled(weight));
  solver.start(u, b);
  for (int s = 0; s < 4; ++s) solver.step(u);
  expect("conjugate gradients, four eigenvectors: error", prints,
         os::value(os::max<>(os::map(distance{}, copy_out(u), filled(solution)))), 1e-12);
  tridiagonal const four = lanczos(mesh, grid_size, b, 4);
  double error = 0;
  for (int m = 0; m < 4; ++m)
    error = std::fmax(error, std::fabs(four.eigenvalue(m) - modes[static_cast<std::size_t>(m)].eigenvalue()));
  expect("Lanczos, four eigenvectors: error of the eigenvalues", prints, error, 1e-12);

  // An arbitrary vector. The error in the norm of A falls at least as fast as 2 ((√κ − 1) / (√κ + 1))^steps.
  copy_in(b, filled({}));
  double const smallest = modes[0].eigenvalue(), largest = modes[3].eigenvalue(), condition = largest / smallest;
  double const tolerance = 1e-10, rate = (std::sqrt(condition) - 1) / (std::sqrt(condition) + 1);
  int const most = static_cast<int>(std::log(tolerance / (2 * std::sqrt(condition))) / std::log(rate)) + 1;
  int const steps = solver.solve(u, b, tolerance, most + 1);
  if (prints) std::printf("conjugate gradients: %d steps; theory says at most %d\n", steps, most);
  good = good && steps > 4 && steps <= most;
  if (auto const v = os::gather_to_root(copy_out(u))) {
    auto const at = [&](int i, int j, int k) {
      bool const inside = i >= 0 && i < grid_size.i && j >= 0 && j < grid_size.j && k >= 0 && k < grid_size.k;
      return inside ? (*v)(static_cast<std::size_t>(i), static_cast<std::size_t>(j), static_cast<std::size_t>(k)) : 0.0;
    };
    double residual = 0, norm = 0;
    for (int i = 0; i < grid_size.i; ++i)
      for (int j = 0; j < grid_size.j; ++j)
        for (int k = 0; k < grid_size.k; ++k) {
          double const wanted = mixture{{}}(i, j, k);
          double const r = wanted - (6 * at(i, j, k) - at(i - 1, j, k) - at(i + 1, j, k) - at(i, j - 1, k) -
                                     at(i, j + 1, k) - at(i, j, k - 1) - at(i, j, k + 1));
          residual += r * r;
          norm += wanted * wanted;
        }
    expect("conjugate gradients: residual by plain loops", true, std::sqrt(residual / norm), 2 * tolerance);
  }
  tridiagonal const many = lanczos(mesh, grid_size, b, 100);
  expect("Lanczos: error of the smallest eigenvalue", prints, std::fabs(many.eigenvalue(0) - smallest), 1e-10);
  expect("Lanczos: error of the largest eigenvalue", prints, std::fabs(many.eigenvalue(99) - largest), 1e-10);
  if (prints) std::printf("%s\n", good ? "as theory says" : "WRONG");
  return good ? 0 : 1;
}
