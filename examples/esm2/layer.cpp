// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Instantiates the layer that the program runs.

#include "layer.hpp"

esm2::activations esm2::apply(layer<os::values> const& l, activations const& x) { return apply<planned>(l, x); }
