// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The axes of the problem and of the mesh.

#include <ostraka/ostraka.hpp>

namespace digits {

namespace os = ostraka;

OSTRAKA_AXIS(N);      // images
OSTRAKA_AXIS(P, 65);  // pixels of an image, and a 1 for the bias
OSTRAKA_AXIS(F);      // random features
OSTRAKA_AXIS(K, 10);  // classes: the digits 0 to 9

OSTRAKA_MESH_AXIS(X);  // divides the images
OSTRAKA_MESH_AXIS(Y);  // divides the features

using mesh = os::mesh<X_mesh, Y_mesh>;

/// A mesh of all devices of the job, as square as their number allows and wider than high: 8 are 2 × 4.
inline mesh make_mesh(int devices) {
  int x = 1;
  for (int n = 2; n * n <= devices; ++n)
    if (devices % n == 0) x = n;
  return os::make_mesh(X = x, Y = devices / x);
}

/// A mesh of this device alone.
inline mesh make_lone_mesh() {
  return os::make_mesh(os::this_device, X = 1, Y = 1);
}

}  // namespace digits
