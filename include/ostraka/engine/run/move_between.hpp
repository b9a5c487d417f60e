// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Runs a reshard between two meshes: its steps on the source mesh, then one exchange in which every process
/// gets the missing elements of its target block. Messages use the communicator of the larger mesh; a process outside
/// one of the meshes has no block there. A[I_X] on {X: 4} → A[I_Y] on {Y: 2}

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <memory>

#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/mesh/mesh_pair.hpp>
#include <ostraka/engine/moves/transport.hpp>
#include <ostraka/engine/run/known_schedule.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/engine/run/running.hpp>
#include <ostraka/plan/lowering/lower_between.hpp>
#include <ostraka/plan/reshard/between_meshes.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// A plan between two running meshes, and the correspondence of their devices.
struct mesh_route {
  std::shared_ptr<device_mesh const> mesh[2];  ///< source, target
  shared_value<mesh_pair const> pair;
  planner::mesh_reshard plan{};
  planner::spec result{};  ///< has the labels in the order of the result's dimensions

  [[nodiscard]] communicator const& all() const { return (pair->first_is_all ? mesh[0] : mesh[1])->world(); }
};

namespace detail {

// Returns a sharding on one of the meshes, with that mesh's numbers of its axes.
inline planner::mesh_side side_of(execution_context const& w, planner::spec sharding, mesh_pair const& pair,
                                  int which) {
  planner::mesh_side side;
  for (int i = 0; i < sharding.rank; ++i) {
    planner::mesh_order over;
    for (int k = 0; k < sharding.over[i].size(); ++k) over.push_back(w.axis[sharding.over[i][k]]);
    sharding.over[i] = over;
  }
  planner::mesh_set partial;
  for (int m = 0; m < w.sizes.mesh_axes; ++m)
    if (sharding.partial.contains(m)) partial.insert(w.axis[m]);
  sharding.partial = partial;
  side.sharding = sharding;
  side.sizes = w.sizes;
  side.sizes.mesh_axes = w.mesh->axes();
  for (int a = 0; a < w.mesh->axes(); ++a) side.sizes.mesh[a] = w.mesh->size(a);
  side.device = pair.device[which];
  side.process = pair.process[which];
  return side;
}

}  // namespace detail

/// Returns the plan from a sharding on one mesh to a sharding on another. Collective over the larger mesh the first
/// time, if one is larger. `to` may have the labels in another order. @pre the execution contexts have the same labels.
/// @throws ostraka::error, like pair_of
inline mesh_route route_between(char const* operation, std::shared_ptr<device_mesh const> const& source_mesh,
                                execution_context const& source, planner::spec const& from,
                                std::shared_ptr<device_mesh const> const& target_mesh, execution_context const& target,
                                planner::spec const& to) {
  mesh_route r{{source_mesh, target_mesh}, pair_of(operation, source_mesh, target_mesh), {}, to};
  if (r.pair->here)
    r.plan = planner::plan_reshard(detail::side_of(source, from, *r.pair, 0),
                                   detail::side_of(target, planner::reordered(to, from), *r.pair, 1));
  return r;
}

namespace detail {

[[gnu::cold, gnu::noinline]] inline void push_route(mesh_route const& r, int element_bytes) {
  std::int64_t const processes = r.all().size();
  push_region(
      join_text("reshard from ", r.mesh[0]->describe(), " to ", r.mesh[1]->describe(), ", moves ",
                planner::describe_bytes((r.plan.elements_moved() * element_bytes + processes - 1) / processes)));
}

[[gnu::cold, gnu::noinline]] inline void push_exchange(mesh_route const& r, int element_bytes) {
  std::int64_t const processes = r.all().size();
  std::int64_t const elements = planner::elements_exchanged(r.plan.source, r.plan.target);
  push_region(join_text("block_exchange, moves ",
                        planner::describe_bytes((elements * element_bytes + processes - 1) / processes)));
}

}  // namespace detail

/// Runs the route from a dense local block into another. Ignores the block on a mesh that this process is not in.
/// Collective over the larger mesh.
template <class Exec, class T>
void run(Exec const& exec, mesh_route const& r, T const* source, T* target) {
  if (!r.pair->here) return;
  constexpr int element_bytes = static_cast<int>(sizeof(T));
  constexpr int line = 64 / element_bytes;
  static thread_local constinit known_schedule* moves = nullptr;  // lowered anew each time: plans differ
  static thread_local constinit known_schedule* exchange = nullptr;
  planner::mesh_reshard const& plan = r.plan;
  execution_context w(plan.start.sizes.mesh_axes);
  bool const profiles = is_profiled(w);
  profiled const region_of_run([&] { detail::push_route(r, element_bytes); }, profiles);
  int const me = r.all().rank();
  w.mesh = r.mesh[0].get();
  w.sizes = plan.start.sizes;
  w.here = plan.start.at(me);
  for (int a = 0; a < w.sizes.mesh_axes; ++a) w.axis[a] = a;

  planner::plan_view const on_source(plan.start.sharding, plan.source.sharding, plan.steps);
  std::int64_t const moved = planner::block_size(plan.source.sharding, w.here, w.sizes);
  scratch<T, typename Exec::memory_space> const between(plan.steps.empty() ? 0 : moved);
  if (!plan.steps.empty()) {
    known_schedule& known = per_thread(moves);
    lower_for(known, on_source, w, false, false, transport_for<Exec, T>(), nullptr, planner::every_lowering());
    running<Exec, T>(exec, w, on_source, known, &source, between.data(), update<T>(),
                     functions_of_kinds<planner::kinds::moves, Exec, T>(), profiled_as::steps)
        .run_to_end();
    source = between.data();
  }
  profiled const region_of_step([&] { detail::push_exchange(r, element_bytes); }, profiles);
  known_schedule& known = per_thread(exchange);
  planner::lower_between(known.schedule, plan.source, plan.target, r.result, me, transport_for<Exec, T>(), line);
  prepare(known);
  running<Exec, T>(exec, w, on_source, known, &source, target, update<T>(),
                   functions_of_kinds<planner::kinds::exchanges, Exec, T>(), profiled_as::nothing, &r.all())
      .run_to_end();
}

}  // namespace ostraka::engine
