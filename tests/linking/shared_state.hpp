// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The code that a program and its library share: the type of the tensor that one passes to the other.

#include <ostraka/ostraka.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);

using rows = os::tensor<double, I / X, J>;
