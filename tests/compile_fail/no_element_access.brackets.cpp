// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: an element is read by its index in brackets
// error: element: the elements of a tensor are on several devices, so indices do not reach them, as in A(0, 0) or A[0]; read this device's block, A.local()(0, 0), take the number of a tensor without axes with os::value(A), or bring all elements to one device with os::gather_to_root(A)
// error: no_element_access<sharding<over<I_axis, X_mesh>>>
#include <ostraka/ostraka.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
double f(os::tensor<double, I/X> const& a) { return a[0]; }
#else
double f(os::tensor<double, I/X> const& a) { return a.local()(0); }
#endif
