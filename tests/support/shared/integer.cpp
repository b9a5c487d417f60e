// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/instances.hpp"

OSTRAKA_TEST_INSTANCES(, std::int32_t)
OSTRAKA_TEST_INSTANCES(, std::int64_t)
