// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The program of examples/train in doubles.

#define TRANSFORMER_REAL double
#define EXAMPLE_FOLDER OSTRAKA_EXAMPLES "/train"
#include "../../examples/train/loop.hpp"

using namespace train;
