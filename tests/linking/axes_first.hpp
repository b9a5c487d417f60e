// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file with main, behind its declaration of the axis `mine`. A program that starts computes with the extents that
// its files declare.

#include <cstdio>

int main() {
  bool const right = mine.planned_extent == planned(mine) && second_is_right();
  std::puts(right ? "started, and each file has its own extent" : "started with another file's extent");
  return right ? 0 : 1;
}
