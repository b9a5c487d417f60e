// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Experts in a pipeline: layers over the stages Z, in each a mixture with a capacity, its experts over X, in an
/// all-to-all among the devices of a stage; heads, inner widths and the vocabulary over Y. The routers' losses are left
/// out: they are products of two means over a whole batch, which single microbatches cannot compute.

#include "experts.hpp"
#include "pipelined.hpp"

namespace strategies {

using of_experts = variant_of_experts<experts_tensor_and_stages, grouped, capacity, L>;

struct mixture_of_stage {
  static auto make() {
    return [](auto const& h, auto const& w) { return std::get<0>(apply_experts<of_experts>(w, h)); };
  }
};

struct experts_stages : pipelined<experts_tensor_and_stages, os::one_forward_one_backward, mixture_of_stage> {
  using variant = of_experts;
  using loss = pipelined_loss<variant, os::one_forward_one_backward, mixture_of_stage>;
};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::experts_stages>(strategies::mesh_type const&,
                                                                        strategies::problem const&);
