// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A user's program with ostraka::ostraka.

#include <ostraka/ostraka.hpp>
#include <ostraka/version.hpp>

#include <cstdio>

int main() { std::printf("ostraka %d.%d.%d\n", OSTRAKA_VERSION_MAJOR, OSTRAKA_VERSION_MINOR, OSTRAKA_VERSION_PATCH); }
