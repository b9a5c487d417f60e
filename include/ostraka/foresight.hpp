// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Costs, times and advice before a program runs (docs/price.md, docs/profile.md), and the search for a
/// sharding (docs/choose-a-sharding.md). The header includes gradient.hpp. A program that needs one of these functions
/// compiles faster if it includes that function's header in foresight/; the headers of os::search_rules and
/// os::advise_parallelism need only the standard library.
///
///     auto mesh = os::dry_mesh(X = 256, Y = 8);                               // no devices are needed
///     os::cost c = os::cost_of(mesh, [&] { step(mesh); });                    // bytes, messages, flops, memory
///     os::predicted_time t = os::time_of(mesh, os::machines::h100, [&] { step(mesh); });
///     auto advice = os::advice_of(mesh, os::machines::h100, [&] { step(mesh); });
///     constexpr auto plan = os::gradient_plan<parameters, batch>(loss);       // what a gradient moves
///     static_assert(os::budget<train_step>(B = 256, X = 8).bytes <= 4'000'000);
///     auto a = os::advise_parallelism(model, os::machines::h100, tokens);     // how far each parallelism goes
///     auto found = os::search_rules(program, 64, os::machines::h100);         // which mesh axes divide which axes

#include <ostraka/gradient.hpp>

#include <ostraka/foresight/advice_of.hpp>
#include <ostraka/foresight/advise_parallelism.hpp>
#include <ostraka/foresight/budget.hpp>
#include <ostraka/foresight/bytes_of.hpp>
#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/foresight/machine.hpp>
#include <ostraka/foresight/search_rules.hpp>
#include <ostraka/foresight/time_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
