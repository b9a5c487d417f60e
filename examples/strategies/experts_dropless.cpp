// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Expert parallel over X and Y, nothing dropped, rows in a ragged all-to-all. Attention is fully sharded data parallel
/// over X, and context parallel over Y with keys and values gathered.

#include "experts.hpp"

namespace strategies {

struct experts_dropless : mixture_rules<expert_parallel, dropless> {};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::experts_dropless>(strategies::mesh_type const&,
                                                                           strategies::problem const&);
