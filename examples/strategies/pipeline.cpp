// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Layers over the stages Z. All microbatches run forward and then backward, or forward and backward alternate, so that
/// a stage stores fewer of them. X divides the batch, Y heads and widths: with all three it is 3-D parallelism.
/// Gradients are reduced over X once, whatever the number of microbatches.

#include "../transformer/rules.hpp"
#include "pipelined.hpp"

namespace strategies {

using staged = plainly<transformer::variant<data_tensor_and_stages, grouped, L>>;

struct gpipe : pipelined<data_tensor_and_stages, os::gpipe, staged> {};
struct by_turns : pipelined<data_tensor_and_stages, os::one_forward_one_backward, staged> {};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::gpipe>(strategies::mesh_type const&,
                                                               strategies::problem const&);
template strategies::outcome strategies::run<strategies::by_turns>(strategies::mesh_type const&,
                                                                  strategies::problem const&);
