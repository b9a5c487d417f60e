// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Transposed tensor parallel over Y: weights divided by the model's width. Data parallel over X.

#include "transposed.hpp"

#include "trainer.hpp"

namespace strategies {

struct transposed : plain_rules<transposed_tensor> {};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::transposed>(strategies::mesh_type const&,
                                                                    strategies::problem const&);
