// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The number of ways in which each kind of parallelism divides a transformer and its tokens
/// (plan/program/model.hpp).

#include <cstdint>

#include <ostraka/plan/program/model.hpp>

namespace ostraka {

/// Ways to divide the training of a transformer over devices. Each has a mesh axis of its own.
enum class parallelism : std::uint8_t {
  data,           ///< tokens are divided, weights are replicated: gradients are summed
  fully_sharded,  ///< tokens are divided, and weights are stored divided: gathered where they are used
  tensor,         ///< the inner width is divided: activations are gathered and scattered
  context,        ///< positions are divided: keys and values are gathered
  expert,         ///< experts are divided: tokens go to their experts and back
  pipeline        ///< layers are divided: activations go from stage to stage
};
inline constexpr int parallelisms = 6;

/// The number of devices along the mesh axis of each parallelism; 1: not used.
struct parallel_ways {
  std::int64_t data = 1;
  std::int64_t fully_sharded = 1;
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;
  std::int64_t stages = 1;

  [[nodiscard]] constexpr std::int64_t of(parallelism p) const {
    std::int64_t const ways[parallelisms] = {data, fully_sharded, tensor, context, expert, stages};
    return ways[static_cast<int>(p)];
  }
  /// A copy with another number for one parallelism.
  [[nodiscard]] constexpr parallel_ways with(parallelism p, std::int64_t n) const {
    parallel_ways w = *this;
    std::int64_t* const ways[parallelisms] = {&w.data, &w.fully_sharded, &w.tensor, &w.context, &w.expert, &w.stages};
    *ways[static_cast<int>(p)] = n;
    return w;
  }
  [[nodiscard]] constexpr std::int64_t devices() const {
    return data * fully_sharded * tensor * context * expert * stages;
  }
  friend constexpr bool operator==(parallel_ways const&, parallel_ways const&) = default;
};

/// "data", "fully_sharded", "tensor", "context", "expert", "pipeline": also the names of a machine's links along their
/// mesh axes.
[[nodiscard]] constexpr char const* name_of(parallelism p) {
  constexpr char const* names[parallelisms] = {"data", "fully_sharded", "tensor", "context", "expert", "pipeline"};
  return names[static_cast<int>(p)];
}

}  // namespace ostraka
