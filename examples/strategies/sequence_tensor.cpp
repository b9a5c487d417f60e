// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensor parallel over Y; between blocks Y divides the positions of activations: norms move nothing. Fully sharded
/// over X.

#include "../transformer/rules.hpp"
#include "trainer.hpp"

namespace strategies {

struct sequence_tensor : plain_rules<sequence_and_tensor> {};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::sequence_tensor>(strategies::mesh_type const&,
                                                                         strategies::problem const&);
