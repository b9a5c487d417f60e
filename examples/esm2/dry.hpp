// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The cost of a training step of the whole model on dry meshes, and a check of such costs against a mesh of ranks.

#include <ostraka/foresight.hpp>

#include "layer.hpp"

namespace esm2 {

using mesh_type = os::mesh<X_mesh, Y_mesh>;

}  // namespace esm2

/// Prints the prices of the model with 15 billion parameters, on up to 65,536 devices.
void print_prices();

/// @returns true if a step of a small model costs this device what it costs the same one of a dry mesh, to the byte
bool costs_as_dry(esm2::mesh_type const& mesh);
