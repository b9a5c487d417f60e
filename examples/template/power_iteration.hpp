#pragma once

#include <cmath>
#include <utility>

#include <ostraka/ostraka.hpp>

namespace os = ostraka;
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

/// The largest eigenvalue, by magnitude, of a symmetric matrix A[I_X, J] whose rows are divided over X, after `steps`
/// of power iteration from the vector of ones. A step moves one vector: an all-gather.
inline double largest_eigenvalue(os::tensor<double, I/X, J> const& A, int steps) {
  auto v = os::ones<double, J>(A.mesh(), J = A.extent(J));
  double eigenvalue = 0;
  for (int step = 0; step < steps; ++step) {
    auto const w = os::einsum<I/X>(A, v);                          // w[I_X] = A[I_X, J] · v[J]: moves nothing
    auto const length = std::sqrt(os::value(os::sum<>(w * w)));
    auto const next = os::rename<I, J>(os::reshard<I>(w / length));
    eigenvalue = length * os::value(os::sum<>(v * next)) / os::value(os::sum<>(v * v));
    v = next;
  }
  return eigenvalue;
}
