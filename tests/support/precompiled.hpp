// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// What the tests of the surface include, compiled once for all of them. Each includes for itself what it uses: without
/// precompiled headers (CMAKE_DISABLE_PRECOMPILE_HEADERS) all compile as well, and take longer.

#include <doctest/doctest.h>

#include "support/instances.hpp"

#include "support/einsum_case.hpp"
