// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host without Ostraka, such as an interpreter, opens two plug-ins: the program, which is its first argument, and its
// library. A third argument opens both with RTLD_GLOBAL.

#include <dlfcn.h>

#include <cstdio>

#include "program.hpp"

int main(int argc, char** argv) {
  int const scope = argc > 3 ? RTLD_GLOBAL : RTLD_LOCAL;
  void* const program = dlopen(argv[1], RTLD_NOW | scope);
  if (program == nullptr) return std::puts(dlerror());
  void* const library = dlopen(argv[2], RTLD_NOW | scope);
  if (library == nullptr) return std::puts(dlerror());
  return reinterpret_cast<decltype(&run)>(dlsym(program, "run"))(
      argc, argv, reinterpret_cast<double (*)(void const*, int)>(dlsym(library, "four_sums")));
}
