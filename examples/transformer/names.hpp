// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The axes of the model and of the mesh. Extents come from the command line; plans are made for the numbers here.

#include <cstdint>

#include <ostraka/ostraka.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(B, os::about(16));   // sequences
OSTRAKA_AXIS(S, os::about(128));  // positions, of queries
OSTRAKA_AXIS(K, os::about(128));  // positions, of keys
OSTRAKA_AXIS(M, os::about(256));  // the model's width, in activations
OSTRAKA_AXIS(N, os::about(256));  // the same in weights, divided otherwise
OSTRAKA_AXIS(V, 256);             // tokens: bytes
OSTRAKA_AXIS(G, os::about(8));    // heads of keys and values
OSTRAKA_AXIS(R, os::about(2));    // heads of queries for each of them
OSTRAKA_AXIS(D, os::about(32));   // a head's width
OSTRAKA_AXIS(I, os::about(16));   // frequencies of rotary positions
OSTRAKA_AXIS(P, 2);               // pairs
OSTRAKA_AXIS(C, os::about(64));   // latents of keys and values
OSTRAKA_AXIS(F, os::about(768));  // the inner width
OSTRAKA_AXIS(T);                  // bytes of the text
OSTRAKA_AXIS(L, os::about(4));    // stacked layers, a stage's behind one another
OSTRAKA_AXIS(Q, os::about(2));    // rounds of a microbatch through a stage; layer q·L + l is at [q, l]
OSTRAKA_AXIS(E, os::about(8));    // experts
OSTRAKA_MESH_AXIS(X, os::about(2));
OSTRAKA_MESH_AXIS(Y, os::about(2));
OSTRAKA_MESH_AXIS(Z, os::about(2));

namespace transformer {

/// The element type of parameters; tests compile the same model in doubles.
#ifdef TRANSFORMER_REAL
using real = TRANSFORMER_REAL;
#else
using real = float;
#endif

}  // namespace transformer
