// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// PETSc's solvers with a stencil as the operator. KSP solves −Δu = b by conjugate gradients, and SNES solves
/// −Δu + u³ = b by Newton's method; neither stores a matrix. The vectors of PETSc are blocks of tensors (vectors.hpp).
/// Solutions are compared with exact ones; plain loops over an array with ghost layers compute the right side again.
/// Without PETSc the program says so and exits with status 77.
// ranks: 1 2 3 4

#include <cstdio>

#if EXAMPLE_HAS_PETSC

#include <petscsnes.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "vectors.hpp"

bool good = true;

// The functions of points. Each is a type, because nvcc compiles no generic lambda for a GPU; elsewhere you can write
// lambdas.

/// −Δu, with zeros around the grid.
struct negative_laplacian {
  KOKKOS_FUNCTION double operator()(auto const& u) const {
    return 6 * u(0, 0, 0) - u(-1, 0, 0) - u(1, 0, 0) - u(0, -1, 0) - u(0, 1, 0) - u(0, 0, -1) - u(0, 0, 1);
  }
};
/// −Δu + u³ − b
struct residual {
  KOKKOS_FUNCTION double operator()(auto const& u, double b) const {
    return negative_laplacian{}(u) + u(0, 0, 0) * u(0, 0, 0) * u(0, 0, 0) - b;
  }
};

// The functions that PETSc calls.

/// The context of both functions.
struct problem {
  mesh_type mesh;
  values b;
};

/// The operator of a MatShell: y = −Δx.
PetscErrorCode multiply(Mat matrix, Vec x, Vec y) {
  return reported([&] {
    problem* p = nullptr;
    require(MatShellGetContext(matrix, &p));
    apply(negative_laplacian{}, p->mesh, x, y);
  });
}
/// The function of a SNES: f = −Δu + u³ − b.
PetscErrorCode evaluate(SNES, Vec u, Vec f, void* context) {
  return reported([&] {
    auto const& p = *static_cast<problem const*>(context);
    apply(residual{}, p.mesh, u, f, p.b);
  });
}

// The exact solution, numbers without a pattern, and its right sides by their formulas.

struct truth {
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    bool const inside = i >= 0 && i < grid::i && j >= 0 && j < grid::j && k >= 0 && k < grid::k;
    return inside ? static_cast<double>((7 * i * i + 5 * j + 3 * i * k) % 11 - 5) / 5 : 0;
  }
};
struct right_side {
  double cubic;

  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    truth const u;
    double const here = u(i, j, k);
    return 6 * here - u(i - 1, j, k) - u(i + 1, j, k) - u(i, j - 1, k) - u(i, j + 1, k) - u(i, j, k - 1) -
           u(i, j, k + 1) + cubic * here * here * here;
  }
};
struct distance {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return a > b ? a - b : b - a; }
};

template <class F>
values filled(auto const& mesh, F const& f) {
  return os::generate<double, I/X, J/Y, K>(mesh, I = grid::i, J = grid::j, K = grid::k, f);
}

/// Compares a solution with the exact one.
void compare(char const* solver, PetscInt steps, values const& u) {
  double const error = os::value(os::max<>(os::map(distance{}, u, filled(u.mesh(), truth{}))));
  bool const holds = steps > 0 && error <= 1e-9;  // false for NaN
  if (u.mesh().device() == 0)
    std::printf("%s: %d steps, error %.1e%s\n", solver, static_cast<int>(steps), error, holds ? "" : "   WRONG");
  good = good && holds;
}

/// Neither solver has a matrix from which a preconditioner could be made.
void omit_preconditioner(KSP solver) {
  PC preconditioner = nullptr;
  require(KSPGetPC(solver, &preconditioner));
  require(PCSetType(preconditioner, PCNONE));
}

values solve_linear(mesh_type const& mesh, values const& b) {
  values const u = os::zeros_like(b);
  problem context{mesh, b};
  auto const local = static_cast<PetscInt>(b.local().size());
  Vec right = vec_of(b), solution = vec_of(u);
  Mat matrix = nullptr;
  require(MatCreateShell(PETSC_COMM_WORLD, local, local, PETSC_DETERMINE, PETSC_DETERMINE, &context, &matrix));
  require(MatShellSetOperation(matrix, MATOP_MULT, reinterpret_cast<void (*)()>(multiply)));

  KSP solver = nullptr;
  require(KSPCreate(PETSC_COMM_WORLD, &solver));
  require(KSPSetOperators(solver, matrix, matrix));
  require(KSPSetType(solver, KSPCG));
  omit_preconditioner(solver);
  require(KSPSetTolerances(solver, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  require(KSPSetFromOptions(solver));  // -ksp_type, -ksp_monitor, …
  require(KSPSolve(solver, right, solution));

  PetscInt steps = 0;
  require(KSPGetIterationNumber(solver, &steps));
  compare("KSP, conjugate gradients", steps, u);
  require(KSPDestroy(&solver));
  require(MatDestroy(&matrix));
  require(VecDestroy(&right));
  require(VecDestroy(&solution));
  return u;
}

void solve_nonlinear(mesh_type const& mesh, values const& b) {
  values const u = os::zeros_like(b);
  problem context{mesh, b};
  Vec solution = vec_of(u);
  SNES solver = nullptr;
  Mat derivative = nullptr;
  KSP linear = nullptr;
  require(SNESCreate(PETSC_COMM_WORLD, &solver));
  require(SNESSetFunction(solver, nullptr, evaluate, &context));
  require(SNESSetSolution(solver, solution));
  require(MatCreateSNESMF(solver, &derivative));  // products with the derivative by differences of `evaluate`
  require(SNESSetJacobian(solver, derivative, derivative, MatMFFDComputeJacobian, nullptr));
  require(SNESGetKSP(solver, &linear));
  omit_preconditioner(linear);
  require(SNESSetTolerances(solver, 1e-12, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  require(SNESSetFromOptions(solver));  // -snes_monitor, …
  require(SNESSolve(solver, nullptr, solution));

  PetscInt steps = 0;
  require(SNESGetIterationNumber(solver, &steps));
  compare("SNES, Newton's method", steps, u);
  require(MatDestroy(&derivative));
  require(SNESDestroy(&solver));
  require(VecDestroy(&solution));
}

/// Copies a solution of −Δu = b to an array with ghost layers and back. Plain loops over the array compute b.
void compare_ghosted(mesh_type const& mesh, values const& u) {
  auto const rows = u.local().extent(0), columns = u.local().extent(1);
  Kokkos::View<double***, Kokkos::LayoutRight, Kokkos::HostSpace> const array("u", rows + 2, columns + 2, grid::k + 2);
  ghosted_values const field = os::from_local<double, os::halo<I, 1>/X, os::halo<J, 1>/Y, os::halo<K, 1>>(
      mesh, I = grid::i, J = grid::j, K = grid::k, array);
  copy_in(field, u);
  double error = os::value(os::max<>(os::map(distance{}, u, copy_out(field))));
  for (std::size_t i = 1; i <= rows; ++i)
    for (std::size_t j = 1; j <= columns; ++j)
      for (std::size_t k = 1; k <= grid::k; ++k) {
        double const found = 6 * array(i, j, k) - array(i - 1, j, k) - array(i + 1, j, k) - array(i, j - 1, k) -
                             array(i, j + 1, k) - array(i, j, k - 1) - array(i, j, k + 1);
        auto const at = [&](std::int64_t first, std::size_t index) {
          return first + static_cast<std::int64_t>(index) - 1;
        };
        double const wanted = right_side{0}(at(u.range(0).begin, i), at(u.range(1).begin, j), at(0, k));
        error = std::fmax(error, std::fabs(found - wanted));
      }
  bool const holds = error <= 1e-8;
  if (!holds)
    std::printf("device %d: residual %.1e with ghost layers   WRONG\n", static_cast<int>(mesh.device()), error);
  good = good && holds;
}

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  require(PetscInitialize(&argc, &argv, nullptr, nullptr));  // after MPI, which it then leaves initialised
  {
    int const ranks = env.devices(), rows = ranks % 2 == 0 ? 2 : 1;
    auto const mesh = os::make_mesh(X = rows, Y = ranks / rows);
    compare_ghosted(mesh, solve_linear(mesh, filled(mesh, right_side{0})));
    solve_nonlinear(mesh, filled(mesh, right_side{1}));
  }
  require(PetscFinalize());
  return good ? 0 : 1;
}

#else

int main() {
  std::puts("SKIPPED: petsc needs PETSc for the MPI in use (libpetsc-real-dev for Open MPI), and tensors in the memory "
            "of the host; this build lacks one of them");
  return 77;
}

#endif
