// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. Reasons about attention whose keys and values circulate in a ring, and about striped sequences.

#include <ostraka/types/support/reason.hpp>

namespace ostraka::reason {

template <class Option>
struct not_an_option_of_ring {
  static_assert(never<Option>, "attention: os::ring takes os::causal, os::striped<X>, os::score_scale(s) and the options that change scores, os::window(w), os::segments(q_ids, k_ids), os::soft_cap(c), os::bias(b), os::alibi(slopes) and os::sinks(logits), because positions begin at 0 and no mask travels round the ring; for other options gather keys and values first, os::all_gather<X>(k)");
};

template <class Queries, class Keys>
struct ring_divides_queries_differently {
  static_assert(never<Queries, Keys>, "attention: in a ring the same mesh axes divide queries and keys, in the same order; os::reshard the queries, or omit os::ring where nothing divides them, because keys then stay where they are");
};

template <class Queries, class Keys>
struct ring_divides_heads_differently {
  static_assert(never<Queries, Keys>, "attention: in a ring the axes that keys or values share with queries (batches, heads) are divided alike, and nothing divides widths; os::reshard queries, keys or values first");
};

template <class Striped, class Dim, class Operation>
struct striped_over_other_axes {
  static_assert(never<Striped, Dim, Operation>, "operation: a sequence is striped over the mesh axes that divide it; give os::striped<X> and K/X the same mesh axes");
};

template <class Dim, class Sharding>
struct stripes_sharding_mismatch {
  static_assert(never<Dim, Sharding>, "stripe: os::stripe<S/X>(A): the axis is whole, or divided over the mesh axes that it is striped for; gather or os::reshard it first");
};

}  // namespace ostraka::reason
