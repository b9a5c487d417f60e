// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Rule sets: `storage` for stored parameters; `use` for parameters and activations where all positions are computed at
/// once; `decoding` for caches and activations where a single text is continued, with parameters as they are stored.

#include "names.hpp"

namespace hugging_face {

/// Sequences over X; heads, the inner width and the vocabulary over Y.
struct data_and_tensor {
  using storage = os::rules<G / Y, F / Y, V / Y>;
  using use = os::rules<B / X, G / Y, F / Y, V / Y>;
  using decoding = os::rules<K / X, G / Y, F / Y, V / Y>;
};

/// The same; parameters are also stored divided over X, gathered where they are used, and their gradients scattered.
struct fsdp_and_tensor {
  using storage = os::rules<M / X, G / Y, F / Y, V / Y>;
  using use = os::rules<B / X, G / Y, F / Y, V / Y>;
  using decoding = os::rules<K / X, G / Y, F / Y, V / Y>;
};

}  // namespace hugging_face
