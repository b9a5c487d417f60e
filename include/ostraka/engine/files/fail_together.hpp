// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. File errors occur on one device: its disk is full, or its folder is not mounted. All devices then throw the
/// same error, so that no device waits for one that has left.

#include <cstdint>
#include <exception>
#include <string>

#include <ostraka/engine/collectives/scatter.hpp>
#include <ostraka/engine/groups/counted_collective.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::engine {

/// @throws ostraka::error, the same on all members, if any member passes an error text: that of the first such member.
/// Collective.
inline void throw_alike(communicator const& all, std::string const& what) {
  std::int64_t failure[2] = {what.empty() ? 0 : all.size() - all.rank(), static_cast<std::int64_t>(what.size())};
  all.find_largest(failure, 2);
  if (failure[0] == 0) return;
  std::string text(static_cast<std::size_t>(failure[1]), '\0');
  text.replace(0, what.size(), what);
  broadcast(all, reinterpret_cast<std::int8_t*>(text.data()), failure[1], all.size() - static_cast<int>(failure[0]));
  throw error(text.substr(0, text.find('\0')));
}

/// Calls f(). Returns the text of the exception that it throws, empty if it throws none.
template <class F>
[[nodiscard]] std::string failure_of(F const& f) {
  try {
    f();
  } catch (std::exception const& e) {
    std::string const what = e.what();
    return what.empty() ? "files: an error without a text" : what;
  }
  return {};
}

/// Calls f() on each member alone. If f throws on one member, all members throw the same error. Collective.
template <class F>
void run_or_fail_together(communicator const& all, F const& f) {
  throw_alike(all, failure_of(f));
}

}  // namespace ostraka::engine
