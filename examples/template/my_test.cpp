// A matrix whose eigenvalues are known: 2 on the diagonal and 1 beside it has 2 + 2 cos(k π / (n + 1)), k = 1, …, n.

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "power_iteration.hpp"

int main(int argc, char** argv) {
  os::environment env(argc, argv);
  auto mesh = os::make_mesh(X = env.devices());
  int wrong = 0;
  for (int n : {1, 2, 3, 5}) {  // also fewer rows than ranks
    auto A = os::generate<double, I/X, J>(mesh, I = n, J = n, [](std::int64_t i, std::int64_t j) {
      return i == j ? 2.0 : i == j + 1 || j == i + 1 ? 1.0 : 0.0;
    });
    double const expected = 2 + 2 * std::cos(std::acos(-1.0) / (n + 1));
    double const got = largest_eigenvalue(A, 100);
    if (std::abs(got - expected) > 1e-12) {
      ++wrong;
      if (mesh.device() == 0) std::printf("n = %d: %.15f, expected %.15f\n", n, got, expected);
    }
  }
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
