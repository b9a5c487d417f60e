// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Fully sharded over X and tensor parallel over Y. On n × 1 it is ZeRO's third stage with weights gathered once for
/// forward and backward, on 1 × n Megatron's tensor parallelism.

#include "../transformer/rules.hpp"
#include "trainer.hpp"

namespace strategies {

struct fsdp_tensor : plain_rules<fsdp_and_tensor> {};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::fsdp_tensor>(strategies::mesh_type const&,
                                                                      strategies::problem const&);
