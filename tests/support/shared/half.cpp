// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/instances.hpp"

OSTRAKA_TEST_INSTANCES(, ostraka::float16)
OSTRAKA_TEST_INSTANCES(, ostraka::bfloat16)
