// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The interface between operations and the adviser: the facts that operations tell it, and whether it has
/// seen their sizes. advise.hpp writes the advice.

#include <atomic>
#include <cstdint>
#include <string_view>

#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>

namespace ostraka::detail {

/// An operation with its plan, the rule that admitted it, and names. It contains no types of the program.
struct operation_info {
  std::string_view operation;
  planner::plan_view plan;
  planner::admit rule;
  planner::naming names;
  bool has_policy = false;  // the program gave a policy; in a check of a budget, a further one
};

/// The adviser's record of one operation. All zero at first; host threads share it.
struct advice_record {
  static constexpr int most_sizes = 8;  // then the adviser knows the program well enough
  std::atomic<bool> done;               // it has given its advice, or it knows enough
  std::atomic<std::uint64_t> last;      // sizes last found good, as a hash
  int count;                            // this and the following members: under the adviser's lock
  std::uint64_t seen[most_sizes];
};

/// The adviser, or null: os::environment appoints it (advise.hpp). It is a pointer, so that only the file with the
/// environment contains the planner as code that runs.
[[gnu::visibility("default")]] inline void (*adviser)(operation_info const&, planner::extents const&, std::uint64_t,
                                                      advice_record&) = nullptr;

/// A hash of sizes, never 0.
inline std::uint64_t hash_of(planner::extents const& e) {
  std::uint64_t h = 14695981039346656037u;  // FNV-1a, by 64-bit integers
  for (int l = 0; l < e.labels; ++l) h = (h ^ static_cast<std::uint64_t>(e.label[l])) * 1099511628211u;
  for (int m = 0; m < e.mesh_axes; ++m) h = (h ^ static_cast<std::uint64_t>(e.mesh[m])) * 1099511628211u;
  return h | 1;
}

/// The hash of sizes that the adviser has to check on this device, or 0. Costs almost nothing if the sizes are the same
/// as last time.
inline std::uint64_t sizes_to_advise_on(engine::execution_context const& w, advice_record const& record) {
  if (adviser == nullptr || record.done.load(std::memory_order_relaxed) || w.mesh->absent() || w.mesh->device() != 0)
    return 0;
  std::uint64_t const hash = hash_of(w.sizes);
  return hash == record.last.load(std::memory_order_relaxed) ? 0 : hash;
}

/// Calls the adviser if it has to check these sizes.
inline void advise(engine::execution_context const& w, operation_info const& o, advice_record& record) {
  if (std::uint64_t const hash = sizes_to_advise_on(w, record); hash != 0) adviser(o, w.sizes, hash, record);
}

}  // namespace ostraka::detail
