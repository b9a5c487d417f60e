// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The list of all reasons: one type per rule. docs/errors.md shows each with a compiler's output.

#include <ostraka/types/reasons/of_shardings.hpp>
#include <ostraka/types/reasons/of_products.hpp>
#include <ostraka/types/reasons/of_other_operations.hpp>
#include <ostraka/types/reasons/of_the_local_view.hpp>
#include <ostraka/types/reasons/of_the_vocabulary.hpp>
#include <ostraka/types/reasons/of_derivatives.hpp>
#include <ostraka/types/reasons/of_trees.hpp>
#include <ostraka/types/reasons/of_training.hpp>
#include <ostraka/types/reasons/of_arrays.hpp>
#include <ostraka/types/reasons/of_files.hpp>
#include <ostraka/types/reasons/of_rings.hpp>
#include <ostraka/types/reasons/of_experts.hpp>
