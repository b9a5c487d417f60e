// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Every expert computes all tokens, on one device: the reference of the other strategies with experts. Pipelines leave
/// out the routers' losses.

#include "../transformer/rules.hpp"
#include "experts.hpp"

namespace strategies {

struct experts_dense : mixture_rules<data_parallel, dense> {};
struct experts_dense_alone : mixture_rules<data_parallel, dense, false> {};

}  // namespace strategies

template strategies::outcome strategies::run<strategies::experts_dense>(strategies::mesh_type const&,
                                                                        strategies::problem const&);
template strategies::outcome strategies::run<strategies::experts_dense_alone>(strategies::mesh_type const&,
                                                                              strategies::problem const&);
