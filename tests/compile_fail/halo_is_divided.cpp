// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// when: a tensor is declared with a padded axis that is divided
// error: halo: a padded axis belongs to a block and is not divided itself; name os::halo<I, 1> without mesh axes here, and with them for os::exchange_halo
// error: halo_is_divided<
#include <ostraka/local_view.hpp>
namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

#ifdef SHOULD_FAIL
using A = os::tensor<float, os::halo<I, 1>/X, J>;
A f();
#else
using A = os::tensor<float, os::halo<I, 1>, J, os::varying(X)>;
A f();
#endif
