// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The vocabulary of programs beyond ostraka.hpp, one operation or family a file in ostraka/operations/;
/// docs/operations.md has a row for each.

#include <ostraka/ostraka.hpp>

#include <ostraka/operations/argmax.hpp>
#include <ostraka/operations/attention.hpp>
#include <ostraka/operations/broadcast.hpp>
#include <ostraka/operations/clamp.hpp>
#include <ostraka/operations/complex_parts.hpp>
#include <ostraka/operations/concatenate.hpp>
#include <ostraka/operations/creation_options.hpp>
#include <ostraka/operations/cross_entropy.hpp>
#include <ostraka/operations/cumsum.hpp>
#include <ostraka/operations/dropout.hpp>
#include <ostraka/operations/functions.hpp>
#include <ostraka/operations/index_range.hpp>
#include <ostraka/operations/initialise.hpp>
#include <ostraka/operations/iota.hpp>
#include <ostraka/operations/kv_cache.hpp>
#include <ostraka/operations/latent_attention.hpp>
#include <ostraka/operations/layer_norm.hpp>
#include <ostraka/operations/merge.hpp>
#include <ostraka/operations/norm.hpp>
#include <ostraka/operations/random.hpp>
#include <ostraka/operations/ring_attention.hpp>
#include <ostraka/operations/rms_norm.hpp>
#include <ostraka/operations/roll.hpp>
#include <ostraka/operations/rope.hpp>
#include <ostraka/operations/scatter_add.hpp>
#include <ostraka/operations/segment_sum.hpp>
#include <ostraka/operations/softmax.hpp>
#include <ostraka/operations/sort.hpp>
#include <ostraka/operations/split.hpp>
#include <ostraka/operations/stripe.hpp>
#include <ostraka/operations/take.hpp>
#include <ostraka/operations/transpose.hpp>
#include <ostraka/operations/triangle.hpp>
#include <ostraka/operations/window.hpp>
#include <ostraka/operations/write_at.hpp>
#include <ostraka/print.hpp>
#include <ostraka/tree.hpp>
#include <ostraka/visualize.hpp>
