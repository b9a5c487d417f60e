# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# says: The project has no C\+\+; enable it
# ends: in an error

project(consumer LANGUAGES C)
find_package(ostraka REQUIRED)
