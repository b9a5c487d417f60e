// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The program under the rules fsdp_and_tensor, with grouped attention.

#include "loop.hpp"

template bool train::run<train::fsdp_and_tensor, train::grouped>(train::mesh_type const&, train::options const&);
template train::step_price train::price<train::fsdp_and_tensor, train::grouped>(train::mesh_type const&,
                                                                                train::options const&,
                                                                                os::machine const&);
