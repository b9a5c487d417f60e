// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that opens its library, named by its first argument, while it runs.

#include <dlfcn.h>

#include <cstdio>

#include "program.hpp"

int main(int argc, char** argv) {
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::puts(dlerror());
  return run(argc, argv, reinterpret_cast<double (*)(void const*, int)>(dlsym(library, "four_sums")));
}
