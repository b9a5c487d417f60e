// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Context parallel over X: sequences divided by their positions, keys and values gathered in each layer. Heads and
/// widths are divided over Y.

#include "context.hpp"

#include "trainer.hpp"

namespace strategies {

struct gathered_context : plain_rules<transformer::gathered_context> {};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::gathered_context>(strategies::mesh_type const&,
                                                                          strategies::problem const&);
