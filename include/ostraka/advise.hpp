// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The adviser: says on stderr, on device 0 of the mesh, once for each distinct operation, that for the sizes at hand another plan
/// would have moved at most half. On with OSTRAKA_ADVISE=1 and off with 0; else on in builds without NDEBUG. os::environment reads that.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <ostraka/oversee.hpp>

namespace ostraka::detail {

inline std::uint64_t hash_of(planner::extents const& e) {
  std::uint64_t h = 14695981039346656037u;  // FNV-1a, by whole numbers
  auto const enter = [&](std::int64_t n) { h = (h ^ static_cast<std::uint64_t>(n)) * 1099511628211u; };
  for (int l = 0; l < e.labels; ++l) enter(e.label[l]);
  for (int m = 0; m < e.mesh_axes; ++m) enter(e.mesh[m]);
  return h;
}

/// Plans again for these sizes, unless it has done so before, and compares. A template so that ostraka::compiled can hold it: it is the planner.
template <class = void>
[[gnu::cold]] void advise(overseen const& o, planner::extents const& sizes, advice_record& record) {
  std::uint64_t const hash = hash_of(sizes);
  for (int i = 0; i < record.count; ++i)
    if (record.seen[i] == hash) return;
  if (record.count == advice_record::most_sizes) return;
  record.seen[record.count++] = hash;
  std::string const text = planner::advice(o.operation, o.plan.value(), o.rule, sizes, o.names);
  record.said = !text.empty();
  std::fputs(text.c_str(), stderr);
}

/// Does this value of OSTRAKA_ADVISE, null where it is not set, ask for advice?
inline bool advice_wanted(char const* variable) {
#ifdef NDEBUG
  bool const otherwise = false;
#else
  bool const otherwise = true;
#endif
  return variable == nullptr || *variable == 0 ? otherwise : std::string_view(variable) != "0";
}

/// Does it allow warnings about how a program was started? Those are few and never wrong for a release build.
inline bool warnings_wanted(char const* variable) { return variable == nullptr || std::string_view(variable) != "0"; }

inline void appoint_adviser() { adviser = advice_wanted(std::getenv("OSTRAKA_ADVISE")) ? &advise<> : nullptr; }

}  // namespace ostraka::detail
