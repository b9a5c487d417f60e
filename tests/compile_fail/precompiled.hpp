// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// What takes the compilers most of their time, compiled once for all tests of this folder that include more than floors 1 and 2: Kokkos, MPI and
/// our own headers. That each header includes what it names is tests/headers' business.

#include <ostraka/ostraka.hpp>
