// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The program under the rules fsdp_and_tensor.

#include "program.hpp"

template void hugging_face::run<hugging_face::fsdp_and_tensor>(hugging_face::mesh_type const&,
                                                               hugging_face::options const&);
