// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floors 1 and 2: shardings as types, checks and plans, with the standard library alone. Include it in a program
/// without Kokkos, or in one that only computes what an operation would move. ostraka.hpp includes it.
///
///     constexpr auto plan = os::plan<I/X, K/Y>(A, B);
///     static_assert(plan.count(os::step::all_gather) == 1);

#include <ostraka/types/support/language.hpp>

#include <ostraka/types/reasons/of_shardings.hpp>  // first: errors then name no chain of includes
#include <ostraka/types/reasons/of_products.hpp>
#include <ostraka/types/reasons/of_other_operations.hpp>
#include <ostraka/types/reasons/of_the_local_view.hpp>
#include <ostraka/types/reasons/of_the_vocabulary.hpp>
#include <ostraka/types/reasons/of_derivatives.hpp>

#include <ostraka/plan/typed/checks.hpp>
#include <ostraka/plan/typed/named_plan.hpp>
#include <ostraka/plan/typed/plan_of.hpp>
#include <ostraka/types/axes/sizes.hpp>
#include <ostraka/types/shardings/logical_axes.hpp>
#include <ostraka/types/shardings/sharding.hpp>
