// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The program behind main, which finds the library's function. Prints "right", or the error that it caught.
extern "C" int run(int argc, char** argv, double (*four_sums)(void const*, int));
