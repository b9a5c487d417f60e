// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Checks that all ranks get the same error.

#include <string>

#include <ostraka/types/support/error.hpp>

#include "support/byte_counter.hpp"

namespace ostraka::testing {

/// The text of the error that f throws, "nothing" if it throws none, "another thing on another rank" unless all ranks
/// have the same. Collective.
template <class Error = error, class F>
std::string said_alike(F const& f) {
  std::string said = "nothing";
  try {
    f();
  } catch (Error const& e) {
    said = e.what();
  }
  for (auto const& other : bytes_of_ranks({said.begin(), said.end()}))
    if (std::string(other.begin(), other.end()) != said) return "another thing on another rank";
  return said;
}

}  // namespace ostraka::testing
