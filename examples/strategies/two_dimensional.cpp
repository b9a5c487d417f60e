// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Two-dimensional, as the layer of examples/esm2: weights over X and Y; between blocks Y divides the width of
/// activations, which are gathered once for a block's products.

#include "../transformer/rules.hpp"
#include "trainer.hpp"

namespace strategies {

struct width_tensor : plain_rules<two_dimensional> {};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::width_tensor>(strategies::mesh_type const&,
                                                                      strategies::problem const&);
