#include <ostraka/ostraka.hpp>
#include <iostream>
namespace os = ostraka;
OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);  OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

int main(int argc, char** argv) {
  os::environment env(argc, argv);
  auto mesh = os::make_mesh(X = 2, Y = 4);                              // 8 devices
  auto A = os::random<float, I/X, J/Y>(mesh, I = 4096, J = 1024);       // A[I_X, J_Y]
  auto B = os::random<float, J/Y, K>(mesh, J = 1024, K = 512);          // B[J_Y, K]
  // auto D = os::contract<J>(A, B);                                    // does not compile
  auto C = os::einsum<I/X, K/Y>(A, B);                                  // naming the result authorises communication
  constexpr auto plan = os::plan<I/X, K/Y>(A, B);                       // which is known while compiling
  static_assert(plan.count(os::step::reduce_scatter) == 1 && plan.communications() == 1);
  if (mesh.device() == 0) std::cout << os::describe(C) << '\n' << os::describe(plan, A, B);
}
