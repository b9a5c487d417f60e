// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensor parallel over Y, and what is between blocks is divided over Y by its positions: norms move nothing. Fully
/// sharded over X.

#include "../transformer/rules.hpp"
#include "trainer.hpp"

namespace strategies {

struct sequence_tensor : plain_rules<sequence_and_tensor> {};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::sequence_tensor>(strategies::mesh_type const&,
                                                                         strategies::problem const&);
