// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Data parallel: each device has all parameters and its part of the batch. Each device adds up the gradients of its
/// microbatches, and they are reduced once: 2 P (n − 1)/n per device.

#include "../transformer/rules.hpp"
#include "trainer.hpp"

namespace strategies {

struct data : plain_rules<data_parallel> {
  using gradients = os::deferred_over<X, Y>;
  using reduced = os::values;
  static constexpr bool accumulates = true;
};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::data>(strategies::mesh_type const&,
                                                               strategies::problem const&);
