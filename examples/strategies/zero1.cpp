// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// ZeRO, stage 1: data parallel, but each device keeps and updates its part of the optimiser's state. Gradients are
/// reduce-scattered once per step, new parameters gathered: 2 P (n − 1)/n per device, as much as an all-reduce.

#include "../transformer/rules.hpp"
#include "trainer.hpp"

namespace strategies {

struct zero1 : plain_rules<data_parallel> {
  using gradients = os::deferred_over<X>;
  using reduced = os::divided_over<X>;
  static constexpr bool accumulates = true;

  template <class Optimizer, class Parameters>
  static auto init(Optimizer const& optimizer, Parameters const& p) {
    return optimizer.init(p, os::split_over<X>);
  }
};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::zero1>(strategies::mesh_type const&,
                                                                strategies::problem const&);
