// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Rule sets by name. Each gives the sharding of stored parameters, the sharding of parameters and activations in use,
/// and the sharding of decoding: one sequence at a time, its cache divided over its length or its heads, weights as
/// they are stored. Some also give the sharding of activations between blocks, if it differs from that within them, and
/// the mesh axes over which a block's last product leaves sums.
///
///     storage N/X, use B/X             weights are gathered where they are used, gradients scattered to where they lie
///     storage = use = G/Y, F/Y, V/Y    heads, the inner width and the vocabulary divided: activations are summed

#include "names.hpp"

namespace transformer {

struct data_parallel {
  static constexpr char const* name = "data";
  using storage = os::rules<>;
  using use = os::rules<B/X/Y>;
  using decoding = os::rules<K/X/Y>;
};

struct data_and_tensor {
  static constexpr char const* name = "data+tensor";
  using storage = os::rules<G/Y, F/Y, V/Y>;
  using use = os::rules<B/X, G/Y, F/Y, V/Y>;
  using decoding = os::rules<K/X, G/Y, F/Y, V/Y>;
};

struct fsdp_and_tensor {
  static constexpr char const* name = "fsdp+tensor";
  using storage = os::rules<N/X, G/Y, F/Y, V/Y>;
  using use = os::rules<B/X, G/Y, F/Y, V/Y>;
  using decoding = os::rules<N/X, K/X, G/Y, F/Y, V/Y>;
};

/// Z divides the stacked layers, for a pipeline.
struct data_tensor_and_stages {
  static constexpr char const* name = "data+tensor+stages";
  using storage = os::rules<G/Y, F/Y, V/Y, L/Z>;
  using use = os::rules<B/X, G/Y, F/Y, V/Y>;
};

/// The same, with weights also stored divided over the mesh axis of the batch.
struct fsdp_tensor_and_stages {
  static constexpr char const* name = "fsdp+tensor+stages";
  using storage = os::rules<N/X, G/Y, F/Y, V/Y, L/Z>;
  using use = os::rules<B/X, G/Y, F/Y, V/Y>;
};

/// As fsdp+tensor; Y also divides the positions of activations between blocks: norms move nothing, and an all-gather
/// and a reduce-scatter replace each all-reduce.
struct sequence_and_tensor {
  static constexpr char const* name = "sequence+tensor";
  using storage = os::rules<N/X, G/Y, F/Y, V/Y>;
  using use = os::rules<B/X, G/Y, F/Y, V/Y>;
  using between = os::rules<B/X, S/Y>;
  static constexpr auto summed = os::partial(Y);
  using decoding = os::rules<N/X, K/X, G/Y, F/Y, V/Y>;
};

/// As fsdp+tensor; Y also divides the width of activations between blocks: it is gathered once for a block's products.
struct two_dimensional {
  static constexpr char const* name = "2d";
  using storage = os::rules<N/X, G/Y, F/Y, V/Y>;
  using use = os::rules<B/X, G/Y, F/Y, V/Y>;
  using between = os::rules<B/X, M/Y>;
  static constexpr auto summed = os::partial(Y);
  using decoding = os::rules<N/X, K/X, G/Y, F/Y, V/Y>;
};

}  // namespace transformer
