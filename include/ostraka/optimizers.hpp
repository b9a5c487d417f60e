// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Optimisers of parameter trees and single tensors, and the other parts of a training step: schedules,
/// clipping, loss scales, sums over microbatches. Include this header in a program that trains.
///
///     os::adamw const optimizer{.learning_rate = os::cosine_decay{.from = 3e-4, .steps = 1000}};
///     auto state = optimizer.init(params);                      // a tree, in the parameters' shardings
///     auto [loss, gradients] = step(params, batch);             // step = os::value_and_grad(f)
///     optimizer.update(params, gradients, state);               // in place

#include <ostraka/types/support/language.hpp>

#include <ostraka/optimizers/accumulate.hpp>
#include <ostraka/optimizers/adam.hpp>
#include <ostraka/optimizers/clip.hpp>
#include <ostraka/optimizers/learning_rates.hpp>
#include <ostraka/optimizers/loss_scale.hpp>
#include <ostraka/optimizers/optimizer_state.hpp>
#include <ostraka/optimizers/sgd.hpp>
#include <ostraka/tree.hpp>

#ifdef OSTRAKA_COMPILED
#include <ostraka/compiled/compiled_updates.hpp>
#endif
