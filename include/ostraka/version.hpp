// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. The version, as macros so that the preprocessor can test it. CMake reads it from here: this is the only
/// place to change it.

/// The version: its major, minor and patch number.
#define OSTRAKA_VERSION_MAJOR 0
#define OSTRAKA_VERSION_MINOR 1
#define OSTRAKA_VERSION_PATCH 0
