// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Ridge regression on random features: H = relu(images · W) with a random W, and C from the normal equations (HᵀH +
/// λI) C = Hᵀ · classes by conjugate gradients, all ten classes at once. X divides the images, Y the features, and both
/// divide the coefficients: C[F_YX, K].

#include <cmath>
#include <cstdint>

#include "names.hpp"

namespace digits {

using images = os::tensor<double, N/X, P>;
using classes = os::tensor<double, N/X, K>;
using weights = os::tensor<double, P, F/Y>;
using features = os::tensor<double, N/X, F/Y>;
using coefficients = os::tensor<double, F/Y/X, K>;
using per_class = os::tensor<double, K>;

// --- what each product moves, known while compiling ------------------------------------------------------------------

inline constexpr auto features_plan = os::plan_of<os::dims<N/X, F/Y>, images, weights>;
inline constexpr auto predict_plan = os::plan_of<os::dims<N/X, K>, features, coefficients>;
inline constexpr auto pull_back_plan = os::plan_of<os::dims<F/Y/X, K>, features, classes>;
inline constexpr auto inner_plan = os::plan_of<os::dims<K>, coefficients, coefficients>;

static_assert(features_plan.communications() == 0);
static_assert(predict_plan.count(os::step::all_gather) == 1 && predict_plan.count(os::step::all_reduce) == 1);
static_assert(pull_back_plan.count(os::step::reduce_scatter) == 1 && pull_back_plan.communications() == 1);
static_assert(inner_plan.count(os::step::all_reduce) == 1 && inner_plan.communications() == 1);

// --- the products ----------------------------------------------------------------------------------------------------

struct relu {
  KOKKOS_FUNCTION double operator()(double v) const { return v > 0 ? v : 0; }
};

/// Maps [0, 1) to [-1, 1).
struct centred {
  KOKKOS_FUNCTION double operator()(double v) const { return 2 * v - 1; }
};

struct same {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return a == b ? 1 : 0; }
};

/// The same weights on every mesh.
inline weights random_weights(mesh const& m, std::int64_t n, std::uint64_t seed) {
  return os::map(centred{}, os::random<double, P, F/Y>(m, F = n, os::seed(seed)));
}

/// H = relu(images · W)
inline features features_of(images const& a, weights const& w) { return os::map(relu{}, os::einsum<N/X, F/Y>(a, w)); }

/// H · C: how much each image looks like each digit.
inline classes predict(features const& h, coefficients const& c) { return os::einsum<N/X, K>(h, c); }

/// Hᵀ · V
inline coefficients pull_back(features const& h, classes const& v) { return os::einsum<F/Y/X, K>(h, v); }

/// The data: H, and the digit of each image.
struct problem {
  features h;
  classes truth;
  double ridge;
};

/// (HᵀH + λI) V; HᵀH is never computed.
inline coefficients normal_operator(problem const& p, coefficients const& v) {
  return os::add(pull_back(p.h, predict(p.h, v)), os::scale(p.ridge, v));
}

/// One number per class. One all-reduce sums it over the whole mesh, so that all devices hold the same bits and decide
/// alike.
inline per_class inner(coefficients const& a, coefficients const& b) { return os::einsum<K>(a, b); }

/// The share of images whose true digit looks most likely.
inline double accuracy(classes const& predicted, classes const& truth) {
  auto const best = os::max<N/X>(predicted);
  auto const of_truth = os::einsum<N/X>(predicted, truth);  // picks: all but one of the summands are 0
  return os::value(os::mean<>(os::map(same{}, best, of_truth)));
}

// --- conjugate gradients ---------------------------------------------------------------------------------------------

/// a + s·b; s, a number per class, is repeated along the features.
struct plus_times {
  KOKKOS_FUNCTION double operator()(double a, double b, double s) const { return a + s * b; }
};

struct minus_times {
  KOKKOS_FUNCTION double operator()(double a, double b, double s) const { return a - s * b; }
};

/// a / b; 0 for a class whose residual is 0, because its solution is found.
struct ratio {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return b > 0 ? a / b : 0; }
};

struct fit {
  coefficients c;
  int iterations = 0;
  double residual = 1;  ///< of the worst class, relative to the right-hand side
};

/// Hestenes and Stiefel 1952, for all classes side by side; `report(iteration, residual)` is called on all devices.
template <class Report>
fit solve(problem const& p, double tolerance, int most_iterations, Report const& report) {
  coefficients residual = pull_back(p.h, p.truth);
  coefficients direction = residual;
  fit now{os::scale(0, residual)};
  per_class rr = inner(residual, residual);
  per_class const bb = rr;
  while (now.iterations < most_iterations && now.residual > tolerance) {
    coefficients const product = normal_operator(p, direction);
    per_class const step = os::map(ratio{}, rr, inner(direction, product));
    now.c = os::map(plus_times{}, now.c, direction, step);
    residual = os::map(minus_times{}, residual, product, step);
    per_class const rr_before = rr;
    rr = inner(residual, residual);
    direction = os::map(plus_times{}, residual, direction, os::map(ratio{}, rr, rr_before));
    now.residual = std::sqrt(os::value(os::max<>(os::map(ratio{}, rr, bb))));
    report(++now.iterations, now.residual);
  }
  return now;
}

}  // namespace digits
