// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The vocabulary of programs: functions of elements, softmax and norms, sorting, indices, shapes, attention;
/// also trees, os::print and os::visualize. Include this header instead of ostraka.hpp, which it includes, in a program
/// that calls one of them. docs/operations.md has a row for each.

#include <ostraka/ostraka.hpp>

#include <ostraka/creation/creation_options.hpp>
#include <ostraka/operations/attention/attention.hpp>
#include <ostraka/operations/attention/kv_cache.hpp>
#include <ostraka/operations/attention/latent_attention.hpp>
#include <ostraka/operations/attention/paged_attention.hpp>
#include <ostraka/operations/attention/ring_attention.hpp>
#include <ostraka/operations/attention/scored_attention.hpp>
#include <ostraka/operations/attention/tiled_attention.hpp>
#include <ostraka/operations/creation/dropout.hpp>
#include <ostraka/operations/creation/initialise.hpp>
#include <ostraka/operations/creation/iota.hpp>
#include <ostraka/operations/creation/random_numbers.hpp>
#include <ostraka/operations/creation/sample.hpp>
#include <ostraka/operations/creation/triangle.hpp>
#include <ostraka/operations/elements/clamp.hpp>
#include <ostraka/operations/elements/complex_parts.hpp>
#include <ostraka/operations/elements/functions.hpp>
#include <ostraka/operations/indices/index_range.hpp>
#include <ostraka/operations/indices/pages.hpp>
#include <ostraka/operations/indices/scatter_add.hpp>
#include <ostraka/operations/indices/segment_sum.hpp>
#include <ostraka/operations/indices/take.hpp>
#include <ostraka/operations/indices/take_at.hpp>
#include <ostraka/operations/indices/write_at.hpp>
#include <ostraka/operations/indices/write_at_positions.hpp>
#include <ostraka/operations/normalisation/cross_entropy.hpp>
#include <ostraka/operations/normalisation/layer_norm.hpp>
#include <ostraka/operations/normalisation/rms_norm.hpp>
#include <ostraka/operations/normalisation/softmax.hpp>
#include <ostraka/operations/positions/rope.hpp>
#include <ostraka/operations/positions/stripe.hpp>
#include <ostraka/operations/reductions/argmax.hpp>
#include <ostraka/operations/reductions/cumsum.hpp>
#include <ostraka/operations/reductions/mean_where.hpp>
#include <ostraka/operations/reductions/norm.hpp>
#include <ostraka/operations/reductions/sort.hpp>
#include <ostraka/operations/shapes/broadcast.hpp>
#include <ostraka/operations/shapes/concatenate.hpp>
#include <ostraka/operations/shapes/merge.hpp>
#include <ostraka/operations/shapes/roll.hpp>
#include <ostraka/operations/shapes/split.hpp>
#include <ostraka/operations/shapes/stack.hpp>
#include <ostraka/operations/shapes/transpose.hpp>
#include <ostraka/operations/shapes/window.hpp>
#include <ostraka/seeing/print.hpp>
#include <ostraka/seeing/visualize.hpp>
#include <ostraka/tree.hpp>

#ifdef OSTRAKA_COMPILED
#  include <ostraka/compiled/compiled_operations.hpp>
#endif
