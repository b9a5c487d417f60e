// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The axes of tests: one definition for all of them, because it is in their precompiled header.

#include <ostraka/types/axes/axis.hpp>

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);
