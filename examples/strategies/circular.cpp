// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Layers over the stages Z, several blocks of them per stage: microbatches pass each stage several times, and fewer
/// slots are idle.
/// Weights are stored divided over X, and gathered for each layer of each microbatch, for each repeat, or once.

#include "../transformer/rules.hpp"
#include "pipelined.hpp"

namespace strategies {

using round = layer_of_stage<transformer::variant<fsdp_tensor_and_stages, grouped, Q, L>>;

struct each_tick {
  static auto make() { return os::weights_each_tick(os::gather_over<X>, round{}); }
};
struct each_repeat {
  static auto make() { return os::weights_each_repeat(os::gather_over<X>, round{}); }
};
struct each_pass {
  static auto make() { return os::weights_each_pass(os::gather_over<X>, round{}); }
};

struct circular_each_tick : pipelined<fsdp_tensor_and_stages, os::circular, each_tick, Q> {};
struct circular_each_repeat : pipelined<fsdp_tensor_and_stages, os::circular, each_repeat, Q> {};
struct circular_each_pass : pipelined<fsdp_tensor_and_stages, os::circular, each_pass, Q> {};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::circular_each_tick>(strategies::mesh_type const&,
                                                                            strategies::problem const&);
template strategies::outcome strategies::run<strategies::circular_each_repeat>(strategies::mesh_type const&,
                                                                              strategies::problem const&);
template strategies::outcome strategies::run<strategies::circular_each_pass>(strategies::mesh_type const&,
                                                                            strategies::problem const&);
