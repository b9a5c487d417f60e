// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Differentiation: os::value_and_grad, os::checkpoint, os::custom_vjp, and a rule for each operation.

#include <ostraka/ostraka.hpp>

#include <ostraka/gradient/directives/checkpoint.hpp>
#include <ostraka/gradient/directives/custom_vjp.hpp>
#include <ostraka/gradient/directives/defer_over.hpp>
#include <ostraka/gradient/rules/algebra/derivative_of_einsum.hpp>
#include <ostraka/gradient/rules/algebra/derivative_of_reductions.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_arithmetic.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_choices.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_functions.hpp>
#include <ostraka/gradient/rules/elements/derivative_of_map.hpp>
#include <ostraka/gradient/rules/experts/derivative_of_experts.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_collectives.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_doors.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_exchanges.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_halos.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_pipeline.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_pipeline_loss.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_preduce.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_ragged.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_stencil.hpp>
#include <ostraka/gradient/rules/moves/derivative_of_moves.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_attention.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_cross_entropy.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_fourier.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_indices.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_norms.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_ring_attention.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_rope.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_scans.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_scored_attention.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_shapes.hpp>
#include <ostraka/gradient/rules/operations/derivative_of_softmax.hpp>
#include <ostraka/gradient/value_and_grad.hpp>

#ifdef OSTRAKA_COMPILED
#include <ostraka/compiled/compiled_derivatives.hpp>
#endif
