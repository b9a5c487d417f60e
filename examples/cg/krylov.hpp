// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Conjugate gradients and the method of Lanczos for the seven-point operator, −Δ on a grid with zeros around it. All
/// vectors are arrays of the program with a ghost layer, used in place. An iteration of conjugate gradients is three
/// passes over memory: A p with p·A p, while the halo of p is in flight; x and r with r·r; p. bench/krylov compares it
/// with a version by hand.

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include <ostraka/ostraka.hpp>

namespace krylov {

namespace os = ostraka;

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);  OSTRAKA_MESH_AXIS(Z);

/// A vector: a block with a ghost layer around it.
using field = os::ghosted_array<double, os::halo<I, 1>/X, os::halo<J, 1>/Y, os::halo<K, 1>/Z>;

/// The points of the grid.
struct grid {
  int i, j, k;
};

/// A new vector of zeros. The ghost layers beyond the ends of the grid stay zero.
template <class Mesh>
field make_field(Mesh const& mesh, grid const& n) {
  auto const padded = [&](int points, auto axis) {
    auto const d = mesh.coordinate(axis), p = mesh.size(axis);
    return static_cast<std::size_t>((d + 1) * points / p - d * points / p + 2);
  };
  Kokkos::View<double***, Kokkos::LayoutRight> const memory("field", padded(n.i, X), padded(n.j, Y), padded(n.k, Z));
  return os::from_local<double, os::halo<I, 1>/X, os::halo<J, 1>/Y, os::halo<K, 1>/Z>(
      mesh, I = n.i, J = n.j, K = n.k, memory);
}

/// Sends the faces of a vector to its neighbours, and returns before they have arrived.
inline auto start_exchange(field const& p) {
  return os::start_exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y, os::halo<K, 1>/Z>(p, os::faces);
}

/// The sum over all devices of what os::sum_over_points has summed on each.
inline double total(auto const& sum) { return os::value(os::psum<X, Y, Z>(sum)); }

KOKKOS_FUNCTION double seven_points(auto const& p) {
  return 6 * p(0, 0, 0) - p(-1, 0, 0) - p(1, 0, 0) - p(0, -1, 0) - p(0, 1, 0) - p(0, 0, -1) - p(0, 0, 1);
}

// The passes. Each is a type, because nvcc compiles no generic lambda for a GPU; elsewhere you can write lambdas.

struct copy {
  KOKKOS_FUNCTION void operator()(double& to, double from) const { to = from; }
};
struct product {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return a * b; }
};
struct scale {
  double by;
  KOKKOS_FUNCTION void operator()(double& a) const { a *= by; }
};
/// q = A p; the sum is p·q.
struct apply {
  KOKKOS_FUNCTION double operator()(double& q, auto const& p) const {
    q = seven_points(p);
    return q * p(0, 0, 0);
  }
};
/// x += α p, r −= α q; the sum is r·r.
struct advance {
  double alpha;
  KOKKOS_FUNCTION double operator()(double& x, double& r, double p, double q) const {
    x += alpha * p;
    r -= alpha * q;
    return r * r;
  }
};
/// p = r + β p
struct turn {
  double beta;
  KOKKOS_FUNCTION void operator()(double& p, double r) const { p = r + beta * p; }
};

/// Solves A x = b.
class conjugate_gradients {
 public:
  template <class Mesh>
  conjugate_gradients(Mesh const& mesh, grid const& n)
      : r_(make_field(mesh, n)), p_(make_field(mesh, n)), q_(make_field(mesh, n)) {}

  /// x = 0. Returns |b|².
  double start(field const& x, field const& b) {
    os::for_each_point(scale{0}, x);
    os::for_each_point(copy{}, r_, b);
    os::for_each_point(copy{}, p_, b);
    return rr_ = total(os::sum_over_points(product{}, b, b));
  }
  /// An iteration. Returns |b − A x|².
  double step(field const& x) {
    double const pq = total(os::sum_over_points(apply{}, q_, start_exchange(p_)));
    double const rr = total(os::sum_over_points(advance{rr_ / pq}, x, r_, p_, q_));
    os::for_each_point(turn{rr / rr_}, p_, r_);
    return rr_ = rr;
  }
  /// Iterates until |b − A x| ≤ tolerance |b|. Returns the number of iterations.
  int solve(field const& x, field const& b, double tolerance, int most) {
    double const enough = tolerance * tolerance * start(x, b);
    int done = 0;
    while (rr_ > enough && done < most) {
      step(x);
      ++done;
    }
    return done;
  }

 private:
  field r_, p_, q_;
  double rr_ = 0;
};

/// w = A v − β u; the sum is v·w.
struct recur {
  double beta;
  KOKKOS_FUNCTION double operator()(double& w, auto const& v, double u) const {
    w = seven_points(v) - beta * u;
    return w * v(0, 0, 0);
  }
};
/// w −= α v; the sum is w·w.
struct orthogonalise {
  double alpha;
  KOKKOS_FUNCTION double operator()(double& w, double v) const {
    w -= alpha * v;
    return w * w;
  }
};

/// A symmetric tridiagonal matrix; beside[k] is in rows k and k + 1.
struct tridiagonal {
  std::vector<double> diagonal, beside;

  /// The number of eigenvalues below x: the negative pivots of T − x (Sturm's sequence).
  [[nodiscard]] int below(double x) const {
    int count = 0;
    double pivot = 1;
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      pivot = diagonal[k] - x - (k > 0 ? beside[k - 1] * beside[k - 1] / pivot : 0);
      if (pivot == 0) pivot = 1e-300;
      count += pivot < 0 ? 1 : 0;
    }
    return count;
  }
  /// The eigenvalue of this number, the smallest being number 0, by bisection. @pre all are in [0, 12]
  [[nodiscard]] double eigenvalue(int number) const {
    double low = -1, high = 13;
    while (high - low > 1e-14 * high) {
      double const middle = (low + high) / 2;
      if (middle == low || middle == high) break;
      (below(middle) > number ? high : low) = middle;
    }
    return (low + high) / 2;
  }
};

/// A on the space of `start`, A start, A² start, …, as a matrix: its eigenvalues approach the ends of A's spectrum.
template <class Mesh>
tridiagonal lanczos(Mesh const& mesh, grid const& n, field const& start, int steps) {
  field u = make_field(mesh, n), v = make_field(mesh, n), w = make_field(mesh, n);
  tridiagonal t;
  double beta = 0;
  os::for_each_point(copy{}, v, start);
  os::for_each_point(scale{1 / std::sqrt(total(os::sum_over_points(product{}, start, start)))}, v);
  for (int k = 0; k < steps; ++k) {
    double const alpha = total(os::sum_over_points(recur{beta}, w, start_exchange(v), u));
    beta = std::sqrt(total(os::sum_over_points(orthogonalise{alpha}, w, v)));
    t.diagonal.push_back(alpha);
    if (k + 1 == steps) break;
    t.beside.push_back(beta);
    os::for_each_point(scale{1 / beta}, w);
    std::swap(u, v);
    std::swap(v, w);
  }
  return t;
}

}  // namespace krylov
