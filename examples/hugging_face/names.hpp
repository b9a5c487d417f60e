// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The axes of the models and of the mesh. Extents come from the checkpoint; plans are made for the numbers here.

#include <ostraka/ostraka.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(B, os::about(8));      // sequences
OSTRAKA_AXIS(S, os::about(512));    // positions, of queries
OSTRAKA_AXIS(K, os::about(512));    // positions, of keys
OSTRAKA_AXIS(T, os::about(1024));   // positions that have an embedding of their own
OSTRAKA_AXIS(V, os::about(32000));  // tokens
OSTRAKA_AXIS(M, os::about(2048));   // the model's width
OSTRAKA_AXIS(N, os::about(2048));   // the same, as the result of a product
OSTRAKA_AXIS(G, os::about(8));      // heads of keys and values
OSTRAKA_AXIS(R, os::about(4));      // heads of queries for each of them
OSTRAKA_AXIS(D, os::about(64));     // the width of a head
OSTRAKA_AXIS(P, 2);                 // pairs that are rotated
OSTRAKA_AXIS(I, os::about(32));     // frequencies of these rotations
OSTRAKA_AXIS(F, os::about(8192));   // the inner width
OSTRAKA_AXIS(O, 1);                 // contacts: one number
OSTRAKA_AXIS(C, os::about(512));    // attention maps that predict them
OSTRAKA_MESH_AXIS(X, os::about(2));
OSTRAKA_MESH_AXIS(Y, os::about(2));

namespace hugging_face {

/// The element type of parameters; tests compile the same program in doubles.
#ifdef HUGGING_FACE_REAL
using real = HUGGING_FACE_REAL;
#else
using real = float;
#endif

using mesh_type = os::mesh<X_mesh, Y_mesh>;

}  // namespace hugging_face
