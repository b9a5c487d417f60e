// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The program under the rules data_and_tensor, with latent attention.

#include "loop.hpp"

template bool train::run<train::data_and_tensor, train::latent>(train::mesh_type const&, train::options const&);
template train::step_price train::price<train::data_and_tensor, train::latent>(train::mesh_type const&,
                                                                               train::options const&,
                                                                               os::machine const&);
