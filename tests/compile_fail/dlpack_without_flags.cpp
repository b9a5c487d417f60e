// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor of constant elements is exported as a struct of DLPack before version 1
// error: to_dlpack: a DLManagedTensor cannot say that its elements may only be read; write os::to_dlpack(A), which makes a DLManagedTensorVersioned, or export os::copy(A)
// error: dlpack_without_flags<
#include <ostraka/dlpack/to_dlpack.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

#ifdef SHOULD_FAIL
auto f(os::tensor<float const, I / X> const& a) { return os::to_dlpack<os::dlpack::DLManagedTensor>(a); }
#else
auto f(os::tensor<float const, I / X> const& a) { return os::to_dlpack(a); }
#endif
