// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tree with complex numbers of two doubles is saved
// error: save: safetensors files have no complex numbers of two doubles; save the tensor alone in an .npy file
// error: element_is_in_no_safetensors<Kokkos::complex<double>>
#include <ostraka/files.hpp>
#include <complex>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
using number = std::complex<double>;
#else
using number = std::complex<float>;
#endif

template <class L>
struct parameters {
  os::leaf<L, number, I/X> w;
};

void f(parameters<os::values> const& p) { os::save("waves.safetensors", p); }
