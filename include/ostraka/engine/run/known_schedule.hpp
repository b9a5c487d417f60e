// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A cache of the schedules of an operation. Its key is the input of lowering: the extents, the device's
/// position, and whether there is an alpha or a beta. A loop over C[I, K] <- A[I, J_X] B[J, K] lowers its plan once and
/// then only runs it.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/engine/moves/transport.hpp>
#include <ostraka/engine/run/run_functions.hpp>
#include <ostraka/plan/lowering/schedule.hpp>
#include <ostraka/plan/spec/packed_plan.hpp>
#include <ostraka/plan/spec/stored_plan.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// The number of plans that this host thread has lowered.
[[gnu::visibility("default")]] inline thread_local constinit std::int64_t lowered_schedules = 0;

/// True if schedules may keep only the numbers of copies and parts, since nothing is computed and no other member of a
/// group exists. (Tests that emulate a GPU's memory stage each part.)
inline bool is_only_priced(execution_context const& w) {
  return !computes() && w.mesh != nullptr && w.mesh->is_dry() && emulated == emulated_gpu::none;
}

/// A schedule, with the facts about its blocks that kernels need, the cached plans of its products, and the facts about
/// the members' parts that collectives need. It holds no address.
struct known_schedule {
  bool is_kept = false;  ///< for other calls
  bool made = false;     ///< false during lowering, which may throw for lack of memory
  bool is_one_product = false;  ///< it only multiplies two of the call's blocks into the result's
  int in_flight = 0;            ///< number of its runs in flight; it is not replaced until they end
  planner::viewpoint view{};
  planner::schedule schedule{};
  dynamic_array<strided> shapes{};  ///< shapes of its blocks; for a copy, both blocks with the same loops
  dynamic_array<plan_ticket> product_plans{};
  dynamic_array<std::int64_t> sums{};        ///< prefix sums of uneven parts, by member, and their total
  dynamic_array<equal_counts> kinds{};       ///< number of members with each number of elements
  dynamic_array<counts_view> part_counts{};  ///< counts of each message

  [[gnu::cold]] ~known_schedule() = default;

  /// True if the schedule was lowered for this call.
  [[nodiscard]] bool is_of(execution_context const& w, bool scales, bool adds, planner::transport const& via) const {
    if (!made || view.scales != scales || view.adds != adds || view.here.nowhere != w.here.nowhere ||
        !(view.sizes == w.sizes) || !(view.via == via) || schedule.priced_only != is_only_priced(w))
      return false;
    for (int m = 0; m < view.sizes.mesh_axes; ++m)
      if (view.order[m] != w.axis[m] || view.here.at[m] != w.here.at[m]) return false;
    return true;
  }
};

namespace detail {

// Adds a block, and another one of the same elements, both with the loops that their two layouts need together.
[[gnu::cold]] inline void add_shapes(dynamic_array<strided>& shapes, planner::strided_box const& to,
                                     planner::strided_box const* from) {
  strided target, source;
  for (int i = 0; i < to.where.rank; ++i) {
    planner::label_cuts cuts;
    cuts.add(to, i);
    if (from != nullptr) cuts.add(*from, i);
    cuts.for_each(to.where.at[i].size(), [&](std::int64_t extent, std::int64_t unit) {
      target.add(extent, to.step_of(i, unit));
      if (from != nullptr) source.add(extent, from->step_of(i, unit));
    });
  }
  shapes.push_back(target);
  if (from != nullptr) shapes.push_back(source);
}

// Adds the kinds of these counts, unless there are too many. @returns their number, or 0
[[gnu::cold]] inline std::size_t add_kinds(dynamic_array<equal_counts>& kinds, std::int64_t const* counts,
                                           std::size_t members) {
  constexpr std::size_t most = 8;
  std::size_t const before = kinds.size();
  for (std::size_t d = 0; d < members; ++d) {
    std::size_t k = before;
    while (k < kinds.size() && kinds[k].elements != counts[d]) ++k;
    if (k - before == most) return kinds.resize(before), 0;
    if (k == kinds.size()) kinds.push_back({counts[d], 0});
    ++kinds[k].members;
  }
  return kinds.size() - before;
}

// Sums over the members once, instead of in every run.
[[gnu::cold]] inline void sum_parts(known_schedule& known) {
  planner::schedule const& s = known.schedule;
  known.sums.clear();
  known.kinds.clear();
  known.part_counts.clear();
  known.sums.reserve(s.counts.size() + s.messages.size());  // views point to both
  known.kinds.reserve(8 * s.messages.size() + 1);
  for (planner::scheduled_message const& m : s.messages) {
    std::size_t const n = static_cast<std::size_t>(m.members);
    bool const listed = m.counts > 0;
    counts_view of = listed ? counts_view(s.counts.data() + m.first_count, n) : counts_view::even(m.own, n);
    if (listed) {
      std::int64_t const* const first = known.sums.data() + known.sums.size();
      std::int64_t sum = 0;
      for (std::size_t d = 0; d <= n; ++d) {
        known.sums.push_back(sum);
        sum += d < n ? of[d] : 0;
      }
      equal_counts const* const kinds = known.kinds.data() + known.kinds.size();
      of.number_of_kinds = add_kinds(known.kinds, of.first, n);
      of.kinds = of.number_of_kinds > 0 ? kinds : nullptr;
      of.sums = first;
    }
    known.part_counts.push_back(of);
  }
}

}  // namespace detail

namespace detail {

[[gnu::cold]] inline bool is_one_product(planner::schedule const& s) {
  if (s.actions.size() != 1 || s.actions[0].what != planner::verb::multiply) return false;
  planner::place const(&begin)[3] = s.products[0].begin;
  return begin[0].buffer < planner::result_buffer && begin[1].buffer < planner::result_buffer &&
         begin[2].buffer == planner::result_buffer;
}

}  // namespace detail

/// Computes the facts about the schedule that kernels and collectives need.
[[gnu::cold]] inline void prepare(known_schedule& known) {
  detail::sum_parts(known);
  known.is_one_product = detail::is_one_product(known.schedule);
  known.shapes.clear();
  known.product_plans.clear();
  known.shapes.reserve(known.schedule.blocks.size());
  known.product_plans.resize(known.schedule.products.size());
  auto const& blocks = known.schedule.blocks;
  for (planner::action const& a : known.schedule.actions) {
    if (a.what == planner::verb::copy)
      detail::add_shapes(known.shapes, blocks[static_cast<std::size_t>(a.to)],
                         &blocks[static_cast<std::size_t>(a.from)]);
    if (a.what == planner::verb::fill)
      detail::add_shapes(known.shapes, blocks[static_cast<std::size_t>(a.to)], nullptr);
  }
}

/// Lowers the plan for a device; `given` has the layouts of operands and result that are not dense. A template so that
/// ostraka::compiled can hold it.
template <class = void>
[[gnu::cold]] void lower_for(known_schedule& known, planner::plan_view const& plan, execution_context const& w,
                             bool scales, bool adds, planner::transport const& via, planner::strided_box const* given,
                             planner::lowering_functions<planner::schedule> const& functions) {
  constexpr int line = 64;  // bytes of a cache line
  ++lowered_schedules;
  known.made = false;
  planner::viewpoint& v = known.view;
  v = {};
  v.sizes = w.sizes;
  v.here = w.here;
  v.scales = scales;
  v.adds = adds;
  v.via = via;
  v.given = given;
  for (int m = 0; m < w.sizes.mesh_axes; ++m) v.order[m] = w.axis[m];
  known.schedule.priced_only = is_only_priced(w);
  planner::decisions const decided = planner::decide(plan.operands, plan.steps, planner::result_of(plan), v.sizes);
  planner::lower_to(known.schedule, plan, decided, v, line / via.element_bytes, planner::measured, functions);

  if (known.is_kept) known.schedule.shrink();
  prepare(known);
  known.made = true;
}

/// The last schedules of one plan by one host thread. A plan that depends only on extents counts as one plan.
class schedule_memory {
 public:
  /// Returns the plan, which the first call unpacks.
  planner::plan_view const& unpacked(unsigned char const* packed) {
    if (plan_.empty()) planner::unpack(packed, plan_);
    return plan_.view;
  }

  template <class Exec, class T>
  known_schedule& of(execution_context const& w, planner::plan_view const& plan, update<T> const& how,
                     run_functions<Exec, T> const& functions) {
    return of<Exec>(w, plan, how, functions, nullptr, transient_);
  }

  /// The same for blocks with these layouts, which are not dense; valid until the next call.
  template <class Exec, class T>
  known_schedule& of(execution_context const& w, planner::plan_view const& plan, update<T> const& how,
                     run_functions<Exec, T> const& functions, planner::strided_box const* given) {
    return of<Exec>(w, plan, how, functions, given, transient_);
  }

  /// The same for dense blocks, or blocks with the layouts `given`, and for this kind of calls to the carrier. A
  /// schedule that is not kept the cache keeps it for other calls is lowered into `transient`.
  template <class Exec, class T>
  known_schedule& of(execution_context const& w, planner::plan_view const& plan, update<T> const& how,
                     run_functions<Exec, T> const& functions, planner::strided_box const* given,
                     std::unique_ptr<known_schedule>& transient, mpi_calls calls = mpi_calls::blocking) {
    bool const scales = scales_by(how);
    bool const adds = adds_to(how);
    planner::transport const via = transport_for<Exec, T>(calls);
    if (given == nullptr)
      for (auto const& known : schedules_)
        if (known->is_of(w, scales, adds, via)) return *known;
    bool const is_kept = given == nullptr && (is_only_priced(w) || !lists_many_members(w, plan));
    if (!is_kept && transient == nullptr) transient = std::make_unique<known_schedule>();
    known_schedule& known = is_kept ? oldest() : *transient;
    known.is_kept = is_kept;
    lower_for(known, plan, w, scales, adds, via, given, *functions.lowering);
    return known;
  }

 private:
  // Returns the schedule to replace: the oldest one that is not in flight.
  [[gnu::cold]] known_schedule& oldest() {
    if (schedules_.size() >= most)
      for (std::size_t tried = 0; tried < schedules_.size(); ++tried) {
        known_schedule& known = *schedules_[next_];
        next_ = (next_ + 1) % schedules_.size();
        if (known.in_flight == 0) return known;
      }
    schedules_.push_back(std::make_unique<known_schedule>());
    return *schedules_.back();
  }

  // True for exchanges among many devices: an exchange lists the members of its group, unless it is only priced, and
  // the cache must not grow with the job.
  static bool lists_many_members(execution_context const& w, planner::plan_view const& plan) {
    constexpr std::int64_t few = 32;
    for (planner::planned_step const& s : plan.steps)
      if ((s.kind == step::all_to_all || s.kind == step::block_exchange) && w.sizes.ways(s.axes) > few) return true;
    return false;
  }

  template <class T>
  static bool scales_by(update<T> const& how) {
    return !(how.alpha == accumulator_of_t<T>(1));
  }
  template <class T>
  static bool adds_to(update<T> const& how) {
    return !(how.beta == accumulator_of_t<T>(0));
  }

  static constexpr std::size_t most = 32;
  dynamic_array<std::unique_ptr<known_schedule>> schedules_;
  std::unique_ptr<known_schedule> transient_;
  std::size_t next_ = 0;
  planner::unpacked_plan plan_;
};

}  // namespace ostraka::engine
