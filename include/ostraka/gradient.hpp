// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Differentiation: os::value_and_grad, and the verbs of variables. Include it before the templates that are to be
/// differentiated.

#include <ostraka/ostraka.hpp>

#include <ostraka/checkpoint.hpp>
#include <ostraka/custom_vjp.hpp>
#include <ostraka/gradient/defer_over.hpp>
#include <ostraka/gradient/rules/arithmetic.hpp>
#include <ostraka/gradient/rules/choices.hpp>
#include <ostraka/gradient/rules/collectives.hpp>
#include <ostraka/gradient/rules/doors.hpp>
#include <ostraka/gradient/rules/einsum.hpp>
#include <ostraka/gradient/rules/exchanges.hpp>
#include <ostraka/gradient/rules/functions.hpp>
#include <ostraka/gradient/rules/halos.hpp>
#include <ostraka/gradient/rules/indices.hpp>
#include <ostraka/gradient/rules/map.hpp>
#include <ostraka/gradient/rules/moves.hpp>
#include <ostraka/gradient/rules/pipeline.hpp>
#include <ostraka/gradient/rules/pipeline_loss.hpp>
#include <ostraka/gradient/rules/preduce.hpp>
#include <ostraka/gradient/rules/ragged.hpp>
#include <ostraka/gradient/rules/reductions.hpp>
#include <ostraka/gradient/rules/rope.hpp>
#include <ostraka/gradient/rules/scans.hpp>
#include <ostraka/gradient/rules/seeing.hpp>
#include <ostraka/gradient/rules/shapes.hpp>
#include <ostraka/gradient/rules/softmax.hpp>
#include <ostraka/gradient/rules/stencil.hpp>
#include <ostraka/gradient/rules/attention.hpp>
#include <ostraka/gradient/rules/ring_attention.hpp>
#include <ostraka/gradient/rules/cross_entropy.hpp>
#include <ostraka/gradient/rules/norms.hpp>
#include <ostraka/value_and_grad.hpp>
