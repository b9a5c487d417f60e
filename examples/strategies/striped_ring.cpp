// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Context parallel over X: sequences are striped once, so that all devices have the same causal work. In each layer,
/// keys and values circulate in a ring, in both directions. Y divides heads and widths.

#include "context.hpp"

#include "trainer.hpp"

namespace strategies {

struct striped_ring : plain_rules<transformer::striped_ring> {
  using loss = of_stripes<plain_rules<transformer::striped_ring>::loss>;
};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::striped_ring>(strategies::mesh_type const&,
                                                                      strategies::problem const&);
