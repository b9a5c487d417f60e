// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Differentiation: os::value_and_grad, and the verbs of variables. Include it before the templates that are to be
/// differentiated.

#include <ostraka/ostraka.hpp>

#include <ostraka/gradient/checkpoint.hpp>
#include <ostraka/gradient/custom_vjp.hpp>
#include <ostraka/gradient/cotangents/defer_over.hpp>
#include <ostraka/gradient/rules/verbs/arithmetic.hpp>
#include <ostraka/gradient/rules/verbs/choices.hpp>
#include <ostraka/gradient/rules/bodies/collectives.hpp>
#include <ostraka/gradient/rules/bodies/doors.hpp>
#include <ostraka/gradient/rules/verbs/einsum.hpp>
#include <ostraka/gradient/rules/bodies/exchanges.hpp>
#include <ostraka/gradient/rules/operations/functions.hpp>
#include <ostraka/gradient/rules/bodies/halos.hpp>
#include <ostraka/gradient/rules/operations/indices.hpp>
#include <ostraka/gradient/rules/verbs/map.hpp>
#include <ostraka/gradient/rules/verbs/moves.hpp>
#include <ostraka/gradient/rules/bodies/pipeline.hpp>
#include <ostraka/gradient/rules/bodies/pipeline_loss.hpp>
#include <ostraka/gradient/rules/bodies/preduce.hpp>
#include <ostraka/gradient/rules/bodies/ragged.hpp>
#include <ostraka/gradient/rules/verbs/reductions.hpp>
#include <ostraka/gradient/rules/operations/rope.hpp>
#include <ostraka/gradient/rules/operations/scans.hpp>
#include <ostraka/gradient/rules/verbs/refused.hpp>
#include <ostraka/gradient/rules/verbs/seeing.hpp>
#include <ostraka/gradient/rules/operations/shapes.hpp>
#include <ostraka/gradient/rules/operations/softmax.hpp>
#include <ostraka/gradient/rules/bodies/stencil.hpp>
#include <ostraka/gradient/rules/operations/attention.hpp>
#include <ostraka/gradient/rules/operations/ring_attention.hpp>
#include <ostraka/gradient/rules/operations/cross_entropy.hpp>
#include <ostraka/gradient/rules/operations/norms.hpp>
#include <ostraka/gradient/value_and_grad.hpp>
