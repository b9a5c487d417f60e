// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a block is copied from or to a view of other elements
// error: array: this device's block of the tensor that is named is in a Kokkos::View or an mdspan of the tensor's element type with a dimension for each axis, in a std::span or std::vector of such elements, or in os::strided(pointer, I = 8, J = 1), and an operation writes only to the memory that it computes in; give one of these (os::einsum_into<I/X, K>(view, A, B) names the axes), convert elements with os::cast, and copy to other memory with os::copy_to_local
// error: not_an_array_of_the_tensor<
#include <ostraka/arrays/copy_local.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
void f(os::tensor<float, I / X, J> const& a, Kokkos::View<double**, Kokkos::LayoutLeft> view) {
  os::copy_to_local(a, view);
}
#else
void f(os::tensor<float, I / X, J> const& a, Kokkos::View<float**, Kokkos::LayoutLeft> view) {
  os::copy_to_local(a, view);
}
#endif
