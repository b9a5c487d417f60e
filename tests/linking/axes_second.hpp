// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second file, behind its declaration of the axis `mine`.

bool second_is_right() { return mine.planned_extent == planned(mine); }
