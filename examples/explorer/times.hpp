// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The begin and end of each step of a plan on a described machine: the links along their mesh axes determine the time
/// of moves, the roofline of one device that of products.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/plan/hardware/collective_time.hpp>
#include <ostraka/plan/hardware/machines.hpp>
#include <ostraka/plan/search/einsum_problem.hpp>
#include <ostraka/plan/spec/plan.hpp>
#include <ostraka/plan/spec/ring.hpp>

namespace explorer {

namespace planner = ostraka::planner;

struct timed_step {
  double begin = 0;
  double seconds = 0;
};

/// The machine of this name; null if there is none.
inline planner::machine const* machine_named(std::string_view name) {
  for (planner::machine const& m : planner::machines::all)
    if (m.name.view() == name) return &m;
  return nullptr;
}

namespace detail {

inline double seconds_of_move(planner::planned_step const& s, planner::extents const& e, int element_bytes,
                              planner::machine const& m, std::vector<std::string> const& mesh_axes) {
  planner::level levels[planner::max_mesh_axes]{};
  int count = 0;
  for (int a = 0; a < e.mesh_axes; ++a)
    if (s.axes.contains(a)) levels[count++] = {m.along(mesh_axes[static_cast<std::size_t>(a)]), e.mesh[a]};
  double const moved =
      static_cast<double>(planner::elements_moved(s, e)) * element_bytes / static_cast<double>(e.devices());
  planner::collective const what = planner::collective_of(s.kind);
  double const whole = planner::whole_bytes(what, e.ways(s.axes), moved);
  return planner::seconds(levels, count, what, whole) + planner::reduction_seconds(m, what, e.ways(s.axes), whole);
}

inline double bytes_of_block(planner::spec const& s, planner::extents const& e, int element_bytes) {
  double n = element_bytes;
  for (int i = 0; i < s.rank; ++i)
    n *= static_cast<double>(planner::largest_size(e.label[s.label[i]], e.ways(s.over[i])));
  return n;
}

}  // namespace detail

/// The time of an elementwise operation: that of reading and writing its elements.
inline double seconds_of_operation(planner::einsum_problem const& p, int element_bytes, planner::machine const& m) {
  double bytes = detail::bytes_of_block(p.result, p.sizes, element_bytes);
  for (planner::spec const& s : p.operands) bytes += detail::bytes_of_block(s, p.sizes, element_bytes);
  return planner::local_seconds(m, 0, element_bytes, bytes) + m.operation_seconds;
}

/// The steps one after another.
inline std::vector<timed_step> timeline_of(planner::einsum_plan const& plan, planner::extents const& e,
                                           int element_bytes, planner::machine const& m,
                                           std::vector<std::string> const& mesh_axes) {
  std::vector<timed_step> all;
  planner::tensor_states tensors(plan);
  double now = 0;
  for (planner::planned_step const& s : plan.steps) {
    double took = 0;
    if (ostraka::communicates(s.kind)) {
      took = detail::seconds_of_move(s, e, element_bytes, m, mesh_axes);
    } else if (ostraka::contracts(s.kind)) {
      planner::spec const& left = tensors.of(s.left);
      planner::spec const* const right = s.right == planner::no_tensor ? nullptr : &tensors.of(s.right);
      double const bytes = detail::bytes_of_block(left, e, element_bytes) +
                           (right != nullptr ? detail::bytes_of_block(*right, e, element_bytes) : 0) +
                           detail::bytes_of_block(s.to, e, element_bytes);
      took = planner::local_seconds(m, 2 * static_cast<double>(planner::detail::products_of(left, right, e)),
                                    element_bytes, bytes) +
             m.operation_seconds;
    }
    all.push_back({now, took});
    now += took;
    tensors.after(s);
  }
  return all;
}

/// The same if contractions overlap with an adjacent move in a ring, as with os::overlapped: the longer of the two
/// counts.
inline double seconds_overlapped(planner::einsum_plan const& plan, planner::extents const& e,
                                 std::vector<timed_step> const& timeline) {
  double all = 0;
  for (timed_step const& t : timeline) all += t.seconds;
  for (int i = 0; i < plan.steps.size(); ++i) {
    if (!ostraka::contracts(plan.steps[i].kind)) continue;
    planner::ring_choice const r = planner::ring_at(plan.steps, i, e);
    if (r.verdict == planner::ring_verdict::taken)
      all -=
          std::min(timeline[static_cast<std::size_t>(i)].seconds, timeline[static_cast<std::size_t>(r.move)].seconds);
  }
  return all;
}

}  // namespace explorer
