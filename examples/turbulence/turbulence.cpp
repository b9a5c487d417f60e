// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The Navier–Stokes equations in a periodic box, pseudo-spectral in pencils over X and Y: velocities are waves [K_I,
/// K_J_X, K_L_Y], products use their values [I_X, J_Y, L], wave numbers beyond two thirds are left out, and time
/// advances by the classical Runge–Kutta method. Taylor's vortices in a plane decay as the exact solution; Taylor and
/// Green's in space lose the energy that viscosity takes, 2ν times the enstrophy, follow the published series of this
/// loss, and without viscosity keep their energy. `turbulence vorticity.png` also draws a plane of the latter.
// ranks: 1 2 4 6
// labels: ci

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>

#include <ostraka/fft.hpp>
#include <ostraka/operations.hpp>

#include "../heat/png.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(L);
OSTRAKA_AXIS(KI);  OSTRAKA_AXIS(KJ);  OSTRAKA_AXIS(KL);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

using complex = Kokkos::complex<double>;
using values = os::tensor<double, I/X, J/Y, L>;
using waves = os::tensor<complex, KI, KJ/X, KL/Y>;
using wave_numbers = os::tensor<double, KI, KJ/X, KL/Y>;

template <class T>
using vector = std::array<T, 3>;

constexpr int points = 24;  // along each axis
bool good = true;

waves waves_of(values const& u) { return os::rfft<os::dims<I/X, J/Y, L>, KI, KJ/X, KL/Y>(u); }

values values_of(waves const& u) { return os::irfft<os::dims<KI, KJ/X, KL/Y>, I/X, J/Y, L>(u, L = points); }

/// The wave number of an index: 0, 1, …, −2, −1.
template <int Axis>
struct wave_number {
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j, std::int64_t l) const {
    std::int64_t const k = Axis == 0 ? i : Axis == 1 ? j : l;
    return static_cast<double>(2 * k < points ? k : k - points);
  }
};

/// i (k × u) in one component.
struct curl_part {
  KOKKOS_FUNCTION complex operator()(double k, complex u, double other_k, complex other_u) const {
    complex const c = k * u - other_k * other_u;
    return {-c.imag(), c.real()};
  }
};

struct cross_part {
  KOKKOS_FUNCTION double operator()(double a, double b, double c, double d) const { return a * b - c * d; }
};

/// One component of a force without its gradient part, less friction; nothing beyond two thirds of the wave numbers.
template <int Component>
struct without_gradient {
  double viscosity;
  KOKKOS_FUNCTION complex operator()(complex fx, complex fy, complex fz, complex u, double kx, double ky,
                                     double kz) const {
    double const square = kx * kx + ky * ky + kz * kz;
    auto const is_beyond = [](double k) { return 3 * (k < 0 ? -k : k) >= points; };
    if (square == 0 || is_beyond(kx) || is_beyond(ky) || is_beyond(kz)) return {0, 0};
    complex const f = Component == 0 ? fx : Component == 1 ? fy : fz;
    double const k = Component == 0 ? kx : Component == 1 ? ky : kz;
    return f - (k / square) * (kx * fx + ky * fy + kz * fz) - viscosity * square * u;
  }
};

struct step_along {
  double length;
  KOKKOS_FUNCTION complex operator()(complex u, complex slope) const { return u + length * slope; }
};

struct mean_slope {
  KOKKOS_FUNCTION complex operator()(complex a, complex b, complex c, complex d) const {
    return (a + 2.0 * b + 2.0 * c + d) / 6.0;
  }
};

class fluid {
 public:
  template <class Mesh>
  fluid(Mesh const& mesh, double viscosity, vector<values> const& start)
      : viscosity_(viscosity),
        k_{os::generate<double, KI, KJ/X, KL/Y>(mesh, KI = points, KJ = points, KL = points / 2 + 1, wave_number<0>{}),
           os::generate<double, KI, KJ/X, KL/Y>(mesh, KI = points, KJ = points, KL = points / 2 + 1, wave_number<1>{}),
           os::generate<double, KI, KJ/X, KL/Y>(mesh, KI = points, KJ = points, KL = points / 2 + 1, wave_number<2>{})},
        u_{waves_of(start[0]), waves_of(start[1]), waves_of(start[2])} {}

  void advance(double time) {
    auto const a = slope(u_), b = slope(from(u_, time / 2, a)), c = slope(from(u_, time / 2, b)),
               d = slope(from(u_, time, c));
    for (std::size_t i = 0; i < 3; ++i)
      u_[i] = os::map(step_along{time}, u_[i], os::map(mean_slope{}, a[i], b[i], c[i], d[i]));
  }

  [[nodiscard]] vector<values> velocity() const { return each_value(u_); }
  [[nodiscard]] vector<values> vorticity() const { return each_value(curl(u_)); }

  /// The mean of half the squares of a vector: energy, enstrophy.
  [[nodiscard]] static double half_square(vector<values> const& v) {
    double sum = 0;
    for (values const& part : v) sum += os::value(os::sum<>(os::square(part)));
    return sum / (2.0 * points * points * points);
  }

 private:
  static vector<values> each_value(vector<waves> const& w) {
    return {values_of(w[0]), values_of(w[1]), values_of(w[2])};
  }

  static vector<waves> from(vector<waves> const& u, double length, vector<waves> const& slope) {
    return {os::map(step_along{length}, u[0], slope[0]), os::map(step_along{length}, u[1], slope[1]),
            os::map(step_along{length}, u[2], slope[2])};
  }

  [[nodiscard]] vector<waves> curl(vector<waves> const& u) const {
    auto const part = [&](std::size_t a, std::size_t b) { return os::map(curl_part{}, k_[a], u[b], k_[b], u[a]); };
    return {part(1, 2), part(2, 0), part(0, 1)};
  }

  /// u × ω without its gradient part, less friction.
  [[nodiscard]] vector<waves> slope(vector<waves> const& u) const {
    vector<values> const v = each_value(u), w = each_value(curl(u));
    auto const part = [&](std::size_t a, std::size_t b) {
      return waves_of(os::map(cross_part{}, v[a], w[b], v[b], w[a]));
    };
    waves const fx = part(1, 2), fy = part(2, 0), fz = part(0, 1);
    return {os::map(without_gradient<0>{viscosity_}, fx, fy, fz, u[0], k_[0], k_[1], k_[2]),
            os::map(without_gradient<1>{viscosity_}, fx, fy, fz, u[1], k_[0], k_[1], k_[2]),
            os::map(without_gradient<2>{viscosity_}, fx, fy, fz, u[2], k_[0], k_[1], k_[2])};
  }

  double viscosity_;
  vector<wave_numbers> k_;
  vector<waves> u_;
};

/// Vortices in each plane of the box. If Vertical, they vary with its height (Taylor and Green's), else they are
/// Taylor's.
template <int Component, bool Vertical>
struct vortices {
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j, std::int64_t l) const {
    double const h = 2 * std::numbers::pi / points;
    double const x = h * static_cast<double>(i), y = h * static_cast<double>(j), z = h * static_cast<double>(l);
    double const turn = Vertical ? std::cos(z) : 1;
    return Component == 0 ? std::sin(x) * std::cos(y) * turn : Component == 1 ? -std::cos(x) * std::sin(y) * turn : 0.0;
  }
};

template <bool Vertical, class Mesh>
vector<values> start_of(Mesh const& mesh) {
  auto const sizes = os::sizes(I = points, J = points, L = points);
  return {os::generate<double, I/X, J/Y, L>(mesh, sizes, vortices<0, Vertical>{}),
          os::generate<double, I/X, J/Y, L>(mesh, sizes, vortices<1, Vertical>{}),
          os::generate<double, I/X, J/Y, L>(mesh, sizes, vortices<2, Vertical>{})};
}

/// The mean dissipation at time t, relative to that at the start: the series of Taylor and Green, Mechanism of the
/// production of small eddies from large ones (Proc. R. Soc. Lond. A 158, 1937), with R = 1/ν. Up to ν = 0.1 the first
/// term that it lacks is below 0.07 t⁶.
double published_dissipation(double t, double viscosity) {
  double const v = viscosity, w = v * v;
  double const terms[] = {1,
                          -6 * v,
                          5.0 / 48 + 18 * w,
                          -(5.0 / 3 + 36 * w) * v,
                          50.0 / (99 * 64) + 1835.0 / (9 * 16) * w + 54 * w * w,
                          -(361.0 / (44 * 32) + 761.0 / 12 * w + 324.0 / 5 * w * w) * v};
  double sum = 0;
  for (int k = 5; k >= 0; --k) sum = sum * t + terms[k];
  return sum;
}

void expect(bool prints, char const* what, double error, double most) {
  if (prints) std::printf("%-62s %.1e%s\n", what, error, error <= most ? "" : "  WRONG");
  good = good && error <= most;
}

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const p = env.devices(), x = p % 2 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(X = x, Y = p / x);
  bool const prints = mesh.device() == 0;

  {  // u(t) = u(0) exp(−2νt)
    double const viscosity = 0.1, step = 0.1;
    auto const start = start_of<false>(mesh);
    fluid vortex(mesh, viscosity, start);
    for (int s = 0; s < 10; ++s) vortex.advance(step);
    auto const now = vortex.velocity();
    double error = 0;
    for (std::size_t i = 0; i < 3; ++i)
      error = std::max(error, os::value(os::max<>(os::abs(now[i] - std::exp(-2 * viscosity) * start[i]))));
    expect(prints, "Taylor's vortices against the exact solution at t = 1", error, 1e-9);
  }

  {  // dE/dt = −2ν Ω, by Simpson's rule over pairs of steps
    double const viscosity = 0.1, step = 0.05;
    fluid vortex(mesh, viscosity, start_of<true>(mesh));
    double const before = fluid::half_square(vortex.velocity());
    double lost = 0;
    for (int pair = 0; pair < 5; ++pair) {
      double enstrophy = fluid::half_square(vortex.vorticity());
      vortex.advance(step);
      enstrophy += 4 * fluid::half_square(vortex.vorticity());
      vortex.advance(step);
      lost += 2 * viscosity * step / 3 * (enstrophy + fluid::half_square(vortex.vorticity()));
    }
    double const now = fluid::half_square(vortex.velocity());
    expect(prints, "Taylor and Green's: energy lost against 2 nu enstrophy", std::abs(before - now - lost) / lost,
           1e-6);
  }

  {  // the decay of the mean dissipation, by the published series
    double error = 0;
    for (double const viscosity : {0.0, 0.1}) {
      fluid vortex(mesh, viscosity, start_of<true>(mesh));
      double const before = fluid::half_square(vortex.vorticity());
      for (int s = 1; s <= 8; ++s) {
        vortex.advance(0.0125);
        double const now = fluid::half_square(vortex.vorticity()) / before;
        error = std::max(error, std::abs(now - published_dissipation(0.0125 * s, viscosity)));
      }
    }
    expect(prints, "Taylor and Green's: dissipation up to t = 0.1, their series", error, 1e-7);
  }

  fluid vortex(mesh, 0, start_of<true>(mesh));
  double const before = fluid::half_square(vortex.velocity()), turning = fluid::half_square(vortex.vorticity());
  for (int s = 0; s < 25; ++s) vortex.advance(0.02);
  expect(prints, "without viscosity: energy gained or lost by t = 0.5",
         std::abs(fluid::half_square(vortex.velocity()) / before - 1), 2e-12);
  auto const vorticity = vortex.vorticity();
  good = good && fluid::half_square(vorticity) > turning;  // vortices are stretched

  auto const around = os::gather_to_root(vorticity[0]);
  if (around) {
    auto const shade = [](double w) { return static_cast<std::uint8_t>(255 * (w < -1 ? 0 : w > 1 ? 1 : (w + 1) / 2)); };
    auto const picture = png::picture(8 * points, 8 * points, [&](std::size_t row, std::size_t column) {
      double const w = (*around)(points / 8, row / 8, column / 8);
      return png::colour{shade(w), shade(w * w - 1), shade(-w)};
    });
    if (argc > 1)
      if (std::FILE* const file = std::fopen(argv[1], "wb")) {
        good = std::fwrite(picture.data(), 1, picture.size(), file) == picture.size() && good;
        std::fclose(file);
      }
    std::printf("%s\n", good ? "as theory says" : "WRONG");
  }
  return good ? 0 : 1;
}
