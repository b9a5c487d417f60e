// mpirun -n 4 build/my_program

#include <iostream>

#include "power_iteration.hpp"

int main(int argc, char** argv) {
  os::environment env(argc, argv);
  auto mesh = os::make_mesh(X = env.devices());
  auto A = os::generate<double, I/X, J>(mesh, I = 200, J = 200, [](std::int64_t i, std::int64_t j) {
    return 1.0 / static_cast<double>(i + j + 1);  // Hilbert's matrix
  });
  double const eigenvalue = largest_eigenvalue(A, 50);
  if (mesh.device() == 0) std::cout << os::describe(A) << "\nlargest eigenvalue " << eigenvalue << '\n';
}
