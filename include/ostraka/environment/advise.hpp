// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The adviser. On device 0 of the mesh, once for each distinct operation, it reports on stderr a plan that
/// would cost at most half as much for the run-time sizes, and how to get it. OSTRAKA_ADVISE=0 silences it;
/// os::environment reads that variable.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <ostraka/environment/adviser.hpp>
#include <ostraka/plan/search/advice.hpp>

namespace ostraka::detail {

/// Plans again for these sizes, unless it has done so before, and compares. A template so that ostraka::compiled can
/// hold it: it contains the planner.
template <class = void>
[[gnu::visibility("default"), gnu::cold]] void advise(operation_info const& o, planner::extents const& sizes,
                                                      std::uint64_t hash, advice_record& record) {
  static constinit std::atomic_flag one_at_a_time{};
  engine::short_lock const alone(one_at_a_time);
  if (record.done.load(std::memory_order_relaxed)) return;
  record.last.store(hash, std::memory_order_relaxed);
  for (int i = 0; i < record.count; ++i)
    if (record.seen[i] == hash) return;
  record.seen[record.count++] = hash;
  record.done.store(record.count == advice_record::most_sizes, std::memory_order_relaxed);
  std::string const text = planner::advice(o.operation, o.plan.value(), o.rule, sizes, o.names, o.has_policy);
  if (!text.empty()) record.done.store(true, std::memory_order_relaxed);
  std::fputs(text.c_str(), stderr);
}

/// True if this value of OSTRAKA_ADVISE, null if it is not set, allows advice and warnings. There are few of them, and
/// they are as useful in a release build as in any other.
inline bool advice_enabled(char const* variable) { return variable == nullptr || std::string_view(variable) != "0"; }

inline void appoint_adviser() { adviser = advice_enabled(std::getenv("OSTRAKA_ADVISE")) ? &advise<> : nullptr; }

}  // namespace ostraka::detail
