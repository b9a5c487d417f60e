// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A tensor goes to ScaLAPACK and back: the Cholesky factor of a matrix (pdpotrf) and all eigenvalues and eigenvectors
/// of another (pdsyevd), each on a process grid that is the mesh. The factor is compared with plain loops, eigenvalues
/// with their formula, eigenvectors with the equation that they solve. Without ScaLAPACK the program says so and exits
/// with status 77.
///
///     mpirun -n 4 examples/cholesky [FOLDER]      also saves the matrices and the results as .npy, for NumPy
// ranks: 1 2 4 6

#include <cstdio>

#if EXAMPLE_HAS_SCALAPACK

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <ostraka/files.hpp>
#include <ostraka/foreign_blocks.hpp>
#include <ostraka/ostraka.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, char const* order, int rows, int columns);
void Cblacs_gridexit(int context);
void pdpotrf_(char const* half, int const* n, double* a, int const* ia, int const* ja, int const* descriptor,
              int* info);
void pdsyevd_(char const* job, char const* half, int const* n, double* a, int const* ia, int const* ja,
              int const* descriptor, double* eigenvalues, double* z, int const* iz, int const* jz, int const* of_z,
              double* work, int const* work_size, int* iwork, int const* iwork_size, int* info);
}

int constexpr order = 50;
int constexpr one = 1;
auto constexpr cyclic = os::block_cyclic(I = 8, J = 8);
bool good = true;

void report(bool root, char const* what, double error, double limit) {
  good = good && error <= limit;
  if (root) std::printf("%-52s %.1e%s\n", what, error, error <= limit ? "" : "  TOO LARGE");
}

/// A dense matrix that is positive definite, and −u'' in differences.
struct kernel_matrix {
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j) const {
    return 1.0 / static_cast<double>(1 + (i > j ? i - j : j - i)) + (i == j ? 3 : 0);
  }
};
struct second_difference {
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j) const {
    return i == j ? 2 : i - j == 1 || j - i == 1 ? -1 : 0;
  }
};

/// The Cholesky factor by the textbook's three loops.
std::vector<double> cholesky_by_loops() {
  std::vector<double> l(order * order);
  auto const at = [&](int i, int j) -> double& { return l[static_cast<std::size_t>(i * order + j)]; };
  for (int j = 0; j < order; ++j)
    for (int i = j; i < order; ++i) {
      double sum = kernel_matrix{}(i, j);
      for (int k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
      at(i, j) = i == j ? std::sqrt(sum) : sum / at(j, j);
    }
  return l;
}

template <class Mesh>
void factor(Mesh const& mesh, int context, std::string const& folder) {
  auto const A = os::generate<double, I/X, J/Y>(mesh, I = order, J = order, kernel_matrix{});
  auto const there = os::scalapack_array_of<I/X, J/Y>(mesh, I = order, J = order, cyclic, context);
  std::vector<double> local(there.elements());
  auto const lies = os::strided(local.data(), I = 1, J = there.leading_dimension);

  os::copy_to_blocks(A, cyclic, lies);
  int info = 0;
  pdpotrf_("L", &order, local.data(), &one, &one, there.descriptor.data(), &info);
  auto const L = os::copy_from_blocks<double, I/X, J/Y>(mesh, I = order, J = order, cyclic, lies);

  double error = info == 0 ? 0 : 1;
  std::vector<double> const expected = cholesky_by_loops();
  auto const whole = os::gather_to_root(L);
  if (whole)  // above the diagonal, pdpotrf leaves the old elements
    for (int i = 0; i < order; ++i)
      for (int j = 0; j <= i; ++j)
        error = std::max(error, std::abs((*whole)(i, j) - expected[static_cast<std::size_t>(i * order + j)]));
  report(static_cast<bool>(whole), "pdpotrf, against three loops", error, 1e-13);
  if (!folder.empty()) {
    os::save(folder + "/A.npy", A);
    os::save(folder + "/L.npy", L);
  }
}

template <class Mesh>
void diagonalise(Mesh const& mesh, int context, std::string const& folder) {
  auto const A = os::generate<double, I/X, J/Y>(mesh, I = order, J = order, second_difference{});
  auto const there = os::scalapack_array_of<I/X, J/Y>(mesh, I = order, J = order, cyclic, context);
  std::vector<double> local(there.elements()), vectors(there.elements()), values(order);
  auto const lies = os::strided(vectors.data(), I = 1, J = there.leading_dimension);

  os::copy_to_blocks(A, cyclic, os::strided(local.data(), I = 1, J = there.leading_dimension));
  int info = 0, ask = -1, iwork_size = 0;
  double work_size = 0;
  auto const solve = [&](double* work, int const* size, int* iwork, int const* isize) {
    pdsyevd_("V", "L", &order, local.data(), &one, &one, there.descriptor.data(), values.data(), vectors.data(), &one,
             &one, there.descriptor.data(), work, size, iwork, isize, &info);
  };
  solve(&work_size, &ask, &iwork_size, &ask);
  std::vector<double> work(static_cast<std::size_t>(work_size) + 1);
  std::vector<int> iwork(static_cast<std::size_t>(iwork_size) + 1);
  int const given = static_cast<int>(work.size()), igiven = static_cast<int>(iwork.size());
  solve(work.data(), &given, iwork.data(), &igiven);
  auto const V = os::copy_from_blocks<double, I/X, J/Y>(mesh, I = order, J = order, cyclic, lies);  // a column each

  double error = info == 0 ? 0 : 1;
  for (int k = 0; k < order; ++k)
    error = std::max(error, std::abs(values[static_cast<std::size_t>(k)] -
                                     (2 - 2 * std::cos((k + 1) * std::numbers::pi / (order + 1)))));
  auto const AV = os::einsum<I/X, K/Y>(A, os::rename<I, J>(os::rename<J, K>(V)));
  double residual = 0;
  auto const v = os::gather_to_root(V), av = os::gather_to_root(AV);
  if (v)
    for (int i = 0; i < order; ++i)
      for (int k = 0; k < order; ++k)
        residual = std::max(residual, std::abs((*av)(i, k) - values[static_cast<std::size_t>(k)] * (*v)(i, k)));
  report(static_cast<bool>(v), "pdsyevd, eigenvalues against their formula", error, 1e-13);
  report(static_cast<bool>(v), "pdsyevd, A v = lambda v by os::einsum", residual, 1e-13);
  if (!folder.empty()) {
    os::save(folder + "/S.npy", A);
    os::save(folder + "/vectors.npy", V);
    os::save(folder + "/values.npy", os::copy_from_local<double, K>(mesh, K = order, values));
  }
}

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const ranks = env.devices(), rows = ranks % 2 == 0 && ranks > 2 ? 2 : 1;
  auto const mesh = os::make_mesh(X = rows, Y = ranks / rows);
  int context = 0;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "R", rows, ranks / rows);  // row-major, as the mesh numbers its devices
  std::string const folder = argc > 1 ? argv[1] : "";
  factor(mesh, context, folder);
  diagonalise(mesh, context, folder);
  Cblacs_gridexit(context);
  return good ? 0 : 1;
}

#else

int main() {
  std::puts("SKIPPED: cholesky needs ScaLAPACK for the MPI at hand (libscalapack-openmpi-dev, libscalapack-mpich-dev), "
            "and tensors in the memory of the host; this build lacks one of them");
  return 77;
}

#endif
