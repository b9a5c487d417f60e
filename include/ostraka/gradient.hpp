// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Differentiation: os::value_and_grad, and the verbs of variables. Include it before the templates that are to be
/// differentiated.

#include <ostraka/ostraka.hpp>

#include <ostraka/checkpoint.hpp>
#include <ostraka/custom_vjp.hpp>
#include <ostraka/gradient/rules/arithmetic.hpp>
#include <ostraka/gradient/rules/einsum.hpp>
#include <ostraka/gradient/rules/map.hpp>
#include <ostraka/gradient/rules/moves.hpp>
#include <ostraka/gradient/rules/softmax.hpp>
#include <ostraka/value_and_grad.hpp>
