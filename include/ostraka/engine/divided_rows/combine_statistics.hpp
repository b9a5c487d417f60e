// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Merges the statistics of parts of rows into those of whole rows. Mean and deviations weigh each part by its
/// number of elements, which follows from the block distribution. A table holds these numbers; on a GPU a kernel writes
/// it.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/divided_rows/combine_rows.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/rows/row_statistics.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

namespace detail {

/// The blocks of a dimension that the members of a group hold. Members are numbered like the devices of the running
/// mesh, whose first axis is major; blocks by the order of the mesh axes that divide the dimension.
class blocks_of_members {
 public:
  blocks_of_members(execution_context const& w, planner::spec const& s, int along)
      : extent_(w.sizes.label[s.label[along]]), blocks_(w.sizes.ways(s.over[along])) {
    planner::mesh_order const over = s.over[along];
    for (int a = w.mesh->axes() - 1; a >= 0; --a)
      for (int k = 0; k < over.size(); ++k) {
        if (w.axis[over[k]] != a) continue;
        size_[axes_] = w.sizes.mesh[over[k]];
        weight_[axes_] = 1;
        for (int minor = k + 1; minor < over.size(); ++minor) weight_[axes_] *= w.sizes.mesh[over[minor]];
        ++axes_;
      }
  }

  /// Returns the number of indices that a member holds.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t elements(std::int64_t member) const {
    std::int64_t number = 0;
    for (int k = 0; k < axes_; ++k) {
      number += member % size_[k] * weight_[k];
      member /= size_[k];
    }
    return (number + 1) * extent_ / blocks_ - number * extent_ / blocks_;
  }

 private:
  std::int64_t extent_, blocks_;
  std::int64_t size_[planner::max_mesh_axes]{}, weight_[planner::max_mesh_axes]{};  // of the minor axis first
  int axes_ = 0;
};

/// Writes the number of elements of member d, and of all members before it.
struct write_element_counts {
  blocks_of_members blocks;
  std::int64_t* elements;
  std::int64_t* before;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t member) const {
    std::int64_t sum = 0;
    for (std::int64_t d = 0; d < member; ++d) sum += blocks.elements(d);
    elements[member] = blocks.elements(member);
    before[member] = sum;
  }
};

/// Merges the statistic of a member with that of all members before it.
template <class Statistic>
struct merge_parts {
  std::int64_t const* elements;
  std::int64_t const* before;

  KOKKOS_INLINE_FUNCTION Statistic operator()(Statistic const& a, Statistic const& b, std::int64_t member) const {
    return Statistic::merge(a, b, before[member], elements[member]);
  }
};

}  // namespace detail

/// Merges two statistics that do not need numbers of elements.
template <class Statistic>
struct merge_statistics {
  KOKKOS_INLINE_FUNCTION Statistic operator()(Statistic const& a, Statistic const& b) const {
    return Statistic::merge(a, b, 0, 0);
  }
};

/// rows[i] <- the statistics of the members' parts of row i, merged. Collective over the mesh axes that divide
/// dimension `along`.
template <class Statistic, class Exec>
void combine_statistics(Exec const& exec, execution_context const& w, planner::spec const& s, int along,
                        Statistic* rows, std::int64_t count) {
  using number = typename Statistic::number;
  planner::mesh_set const axes = s.over[along].axes();
  if (axes.empty() || w.mesh->absent()) return;
  if constexpr (!weighs_parts<Statistic>) {
    combine_rows<number>(exec, w, s, axes, rows, count, merge_statistics<Statistic>{});
  } else {
    detail::blocks_of_members const blocks(w, s, along);
    std::int64_t const n = w.group(axes).size();
    kernel_scratch<std::int64_t, typename Exec::memory_space> const elements(n), before(n);
    if constexpr (runs_on_host<Exec>) {
      std::int64_t sum = 0;
      for (std::int64_t d = 0; d < n; ++d) {
        elements.data()[d] = blocks.elements(d);
        before.data()[d] = sum;
        sum += elements.data()[d];
      }
    } else {
      for_each_item("ostraka elements of members", exec, n, n * n,
                    detail::write_element_counts{blocks, elements.data(), before.data()});
    }
    combine_rows<number>(exec, w, s, axes, rows, count, detail::merge_parts<Statistic>{elements.data(), before.data()});
  }
}

}  // namespace ostraka::engine
