// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that links its library.

#include "program.hpp"

extern "C" double four_sums(void const* tensor, int devices);

int main(int argc, char** argv) { return run(argc, argv, &four_sums); }
