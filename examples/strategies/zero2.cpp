// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// ZeRO, stage 2: as stage 1, and the backward reduce-scatters a gradient as soon as it is complete, so that a device
/// also holds only its part of the gradients. 2 P (n − 1)/n per device; with microbatches there is one reduce-scatter
/// for each.

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
