// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The includes of the surface's tests, compiled once for all of them. Each test includes all that it uses: without
/// precompiled headers (CMAKE_DISABLE_PRECOMPILE_HEADERS) all compile as well, and take longer.

#include <doctest/doctest.h>

#include "support/instances.hpp"

#include "support/einsum_case.hpp"
