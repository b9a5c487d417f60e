// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// ZeRO, stage 2: as stage 1, and a gradient is reduce-scattered as soon as the backward has it, so that a device holds
/// its part of gradients, too. 2 P (n − 1)/n a device; with microbatches the reduce-scatters are once for each.

#include "../transformer/rules.hpp"
#include "trainer.hpp"

namespace strategies {

struct zero2 : plain_rules<data_parallel> {
  using gradients = os::divided_over<X>;

  template <class Optimizer, class Parameters>
  static auto init(Optimizer const& optimizer, Parameters const& p) {
    return optimizer.init(p, os::split_over<X>);
  }
};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::zero2>(strategies::mesh_type const&,
                                                                strategies::problem const&);
