// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Mixtures of experts: routing, dispatch by capacity and dropless, products in groups of rows, losses that
/// balance, and the cost of imbalance (docs/experts.md). Their derivatives are in gradient.hpp.

#include <ostraka/operations.hpp>

#include <ostraka/experts/capacity.hpp>
#include <ostraka/experts/dropless.hpp>
#include <ostraka/experts/imbalance.hpp>
#include <ostraka/experts/ragged_dot.hpp>
#include <ostraka/experts/route.hpp>
#include <ostraka/experts/rows.hpp>
