// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. The price of a program (program.hpp) under a set of rules: the seconds of a step, the bytes that it moves
/// over each set of mesh axes, and its memory. The library's own planner plans each statement and its backward, as on
/// the tape: for C = A · B the cotangent of A is the product of C's with B, with the sharding of A's cotangent
/// (shardings.hpp).
///
/// Prices add up: a step takes the sum of its statements' times, and nothing overlaps.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/plan/pricing/plan_cache.hpp>
#include <ostraka/plan/pricing/settings.hpp>
#include <ostraka/plan/pricing/shardings.hpp>
#include <ostraka/plan/program/program.hpp>

namespace ostraka::planner {

/// One collective of a step.
struct priced_collective {
  int statement = 0;
  bool backward = false;
  step kind = step::all_gather;
  mesh_set axes{};
  double bytes = 0;    ///< bytes that each device sends in all repetitions together
  double seconds = 0;  ///< seconds of all repetitions together
};

/// The price of statements.
struct statement_price {
  bool feasible = true;
  double flops = 0;          ///< of products and sums on a device, as os::cost_of counts them
  double computing = 0;      ///< seconds
  double moving = 0;         ///< seconds
  double cotangents = 0;     ///< bytes of the cotangents of its result and operands
  double workspace = 0;      ///< the most bytes of a statement beyond the kept tensors: cotangents, and intermediates
                             ///< of moves and products
  std::vector<priced_collective> collectives;

  [[nodiscard]] double seconds() const { return computing + moving; }
  [[nodiscard]] double bytes() const {
    double n = 0;
    for (priced_collective const& c : collectives) n += c.bytes;
    return n;
  }
};

/// Prices the statements of one program on one mesh.
class statement_prices {
 public:
  statement_prices(program_flow const& flow, device_mesh const& mesh, machine const& on, step_settings const& how,
                   plan_table& plans)
      : flow_(flow),
        p_(flow.of()),
        mesh_(mesh),
        machine_(on),
        how_(how),
        plans_(plans, extents_of(flow.of()), mesh.sizes) {}

  /// The logical axes on which the price of a statement depends.
  [[nodiscard]] std::vector<int> axes_of(int statement) const {
    program_statement const& s = p_.statements[index(statement)];
    std::vector<int> axes;
    flow_.add_axes(s.result, axes);
    for (program_operand const& o : s.operands) flow_.add_axes(o.tensor, axes);
    if (how_.training) {
      flow_.add_axes_of_cotangent(s.result, axes);
      for (program_operand const& o : s.operands) flow_.add_axes_of_cotangent(o.tensor, axes);
    }
    return axes;
  }

  statement_price price(int statement, axis_rules const& rules) {
    program_statement const& s = p_.statements[index(statement)];
    statement_price total;
    bool const again = how_.training && recomputed(s, rules);
    for (bool backward : {false, true}) {
      if (backward && !how_.training) break;
      if (!backward || again) forward(s, rules, total, statement, backward);
      if (backward && flow_.has_gradient(s.result)) pull(s, rules, total, statement);
    }
    if (total.feasible)
      for (priced_collective& c : total.collectives) {
        c.seconds *= s.repeat;
        c.bytes *= s.repeat;
        total.moving += c.seconds;
      }
    total.workspace += total.cotangents;
    total.flops *= s.repeat;
    total.computing *= s.repeat;
    return total;
  }

  /// True if a move gathers under these rules.
  bool gathers(program_statement const& move, axis_rules const& rules) {
    return plans_.reshard(sharding(move.operands[0], rules), result_of(move, rules)).gathers;
  }

  [[nodiscard]] double block_bytes(int tensor, spec const& s) const {
    double n = p_.tensors[index(tensor)].element_bytes;
    for (int d = 0; d < s.rank; ++d) n *= static_cast<double>(block_extent(s, d));
    return n;
  }

 private:
  static constexpr std::size_t index(int i) { return program_flow::index(i); }

  static std::vector<std::int64_t> extents_of(program const& p) {
    std::vector<std::int64_t> all;
    for (program_axis const& a : p.axes) all.push_back(a.extent);
    return all;
  }

  [[nodiscard]] std::int64_t extent(int axis) const { return p_.axes[index(axis)].extent; }
  [[nodiscard]] std::int64_t block_extent(spec const& s, int d) const {
    return largest_size(extent(s.label[d]), mesh_.ways(s.over[d].axes()));
  }

  [[nodiscard]] spec sharding(program_operand const& o, axis_rules const& rules) const {
    return flow_.sharding(o.tensor, o.axes, rules);
  }
  [[nodiscard]] spec result_of(program_statement const& s, axis_rules const& rules) const {
    return flow_.sharding(s.result, p_.tensors[index(s.result)].axes, rules);
  }
  [[nodiscard]] spec cotangent_of_result(program_statement const& s, axis_rules const& rules) const {
    return flow_.cotangent(s.result, p_.tensors[index(s.result)].axes, rules);
  }

  bool recomputed(program_statement const& s, axis_rules const& rules) {
    if (how_.kept == keeping::layers) return s.repeat > 1;
    return how_.kept == keeping::all_but_gathers && s.kind == statement_kind::move && flow_.is_needed(s.result) &&
           gathers(s, rules);
  }

  void forward(program_statement const& s, axis_rules const& rules, statement_price& total, int statement,
               bool backward) {
    int const bytes = element_bytes(s.result);
    if (s.kind == statement_kind::einsum) {
      std::vector<spec> operands;
      for (program_operand const& o : s.operands) operands.push_back(sharding(o, rules));
      spec const result = result_of(s, rules);
      add(plans_.einsum(operands, result), total, statement, backward, bytes, touched(s, rules));
    } else if (s.kind == statement_kind::move) {
      add(plans_.reshard(sharding(s.operands[0], rules), result_of(s, rules)), total, statement, backward, bytes, 0);
    } else {
      operation_space const m = meet(s, rules);
      if (!m.feasible) {
        total.feasible = false;
        return;
      }
      for (std::size_t k = 0; k < s.operands.size(); ++k)
        add(plans_.reshard(sharding(s.operands[k], rules), m.operands[k]), total, statement, backward, bytes, 0);
      reduce_rows(s, m, total, statement, backward);
      compute(m.flops, bytes, touched(s, rules), total);
    }
  }

  // Prices the cotangents of a statement's operands.
  void pull(program_statement const& s, axis_rules const& rules, statement_price& total, int statement) {
    spec const g = cotangent_of_result(s, rules);
    int const bytes = element_bytes(s.result);
    total.cotangents = elements(g) * bytes;
    for (program_operand const& o : s.operands)
      if (flow_.has_gradient(o.tensor) && p_.tensors[index(o.tensor)].role != tensor_role::parameter)
        total.cotangents += elements(flow_.cotangent(o.tensor, o.axes, rules)) * element_bytes(o.tensor);
    if (s.kind == statement_kind::move) {
      if (!s.deferred) return;
      program_operand const& o = s.operands[0];
      add(plans_.reshard(g, flow_.cotangent(o.tensor, o.axes, rules)), total, statement, true, bytes, 0);
      return;
    }
    operation_space m;
    if (s.kind == statement_kind::operation) {
      m = meet(s, rules);
      if (!m.feasible) return;
      reduce_rows(s, m, total, statement, true);
      compute(s.pulled * m.flops, bytes, 2 * touched(s, rules), total);
    }
    for (std::size_t k = 0; k < s.operands.size(); ++k) {
      program_operand const& o = s.operands[k];
      if (!flow_.has_gradient(o.tensor)) continue;
      spec const wanted = flow_.cotangent(o.tensor, o.axes, rules);
      if (s.kind == statement_kind::einsum) {
        pull_product(s, rules, k, g, wanted, total, statement);
      } else if (s.whole.empty() && s.rows.empty() && wanted.rank < g.rank) {  // the operand was repeated along axes
                                                                               // that it lacks
        add(plans_.einsum({m.operands_as_one}, wanted), total, statement, true, bytes, 0);
      } else {
        spec made = m.operands[k];
        made.partial = m.divided - made.splits();
        add(plans_.reshard(made, wanted), total, statement, true, bytes, 0);
      }
    }
  }

  // Prices the cotangent of operand k: the product of the result's cotangent with the other operands. Axes that only
  // operand k has were summed, and are repeated.
  void pull_product(program_statement const& s, axis_rules const& rules, std::size_t k, spec const& g,
                    spec const& wanted, statement_price& total, int statement) {
    std::vector<spec> factors{g};
    for (std::size_t j = 0; j < s.operands.size(); ++j)
      if (j != k) factors.push_back(sharding(s.operands[j], rules));
    spec asked;
    asked.partial = wanted.partial;
    for (int d = 0; d < wanted.rank; ++d)
      if (std::any_of(factors.begin(), factors.end(), [&](spec const& f) { return f.find(wanted.label[d]) >= 0; }))
        asked.push_back(wanted.label[d], wanted.over[d]);
    bool same = factors.size() == 1 && g.rank == asked.rank;
    for (int d = 0; same && d < g.rank; ++d) same = g.label[d] == asked.label[d];
    double bytes = 0;
    for (spec const& f : factors) bytes += elements(f);
    int const size = element_bytes(s.operands[k].tensor);
    add(same ? plans_.reshard(g, asked) : plans_.einsum(factors, asked), total, statement, true, size,
        (bytes + elements(asked)) * size);
  }

  // The common layout of an operation's operands: divided as the result is, with the axes whole that have to be.
  struct operation_space {
    bool feasible = true;
    std::vector<spec> operands;
    spec operands_as_one{};  // all operands as one, with all their axes
    mesh_set divided{};
    mesh_set rows{};     // mesh axes that divide axes along which the operation reduces
    double flops = 1;    // per device
  };

  [[nodiscard]] operation_space meet(program_statement const& s, axis_rules const& rules) const {
    spec const result = result_of(s, rules);
    operation_space m;
    spec space = result;
    space.partial = {};
    for (program_operand const& o : s.operands) {
      spec used = sharding(o, rules);
      for (int d = 0; d < used.rank; ++d) {
        int const l = used.label[d];
        if (has(s.whole, l)) used.over[d] = {};
        if (int const at = space.find(l); at >= 0)
          used.over[d] = space.over[at];
        else
          space.push_back(l, used.over[d]);
        if (has(s.rows, l)) m.rows = m.rows | used.over[d].axes();
      }
      used.partial = {};
      m.operands.push_back(used);
    }
    for (int d = 0; d < space.rank; ++d) {
      mesh_set const axes = space.over[d].axes();
      if (has(s.whole, space.label[d]) && !axes.empty()) m.feasible = false;
      if (!(m.divided & axes).empty()) m.feasible = false;
      m.divided = m.divided | axes;
      m.flops *= static_cast<double>(block_extent(space, d));
    }
    m.flops *= s.flops;
    m.operands_as_one = space;
    return m;
  }

  static bool has(std::vector<int> const& all, int one) { return std::find(all.begin(), all.end(), one) != all.end(); }

  // Prices the all-reduce of each row's numbers, if rows are divided.
  void reduce_rows(program_statement const& s, operation_space const& m, statement_price& total, int statement,
                   bool backward) const {
    if (m.rows.empty() || s.row_numbers == 0) return;
    spec const& first = m.operands[0];
    double n = s.row_numbers;
    for (int d = 0; d < first.rank; ++d)
      if (!has(s.rows, first.label[d])) n *= static_cast<double>(block_extent(first, d));
    double const ways = static_cast<double>(mesh_.ways(m.rows));
    send(step::all_reduce, m.rows, 2 * (ways - 1) / ways * n * element_bytes(s.operands[0].tensor), total,
                  statement, backward);
  }

  void send(step kind, mesh_set axes, double bytes, statement_price& total, int statement,
                     bool backward) const {
    if (bytes <= 0) return;
    total.collectives.push_back(
        {statement, backward, kind, axes, bytes, seconds_of(machine_, mesh_, kind, axes, bytes)});
  }

  void add(priced_plan const& plan, statement_price& total, int statement, bool backward, int bytes,
           double touched_bytes) const {
    if (!plan.feasible) {
      total.feasible = false;
      return;
    }
    for (priced_move const& m : plan.moves)
      send(m.kind, m.axes, m.elements * bytes, total, statement, backward);
    total.flops += plan.flops;
    total.workspace = std::max(total.workspace, plan.held * bytes);
    if (plan.flops > 0) compute(plan.flops, bytes, touched_bytes, total);
  }

  void compute(double flops, int bytes, double touched_bytes, statement_price& total) const {
    total.computing += local_seconds(machine_, flops, bytes, touched_bytes) + machine_.operation_seconds;
  }

  [[nodiscard]] int element_bytes(int tensor) const { return p_.tensors[index(tensor)].element_bytes; }
  [[nodiscard]] double elements(spec const& s) const {
    double n = 1;
    for (int d = 0; d < s.rank; ++d) n *= static_cast<double>(block_extent(s, d));
    return n;
  }
  // The least number of bytes that a statement reads and writes.
  [[nodiscard]] double touched(program_statement const& s, axis_rules const& rules) const {
    double n = elements(result_of(s, rules)) * element_bytes(s.result);
    for (program_operand const& o : s.operands) n += elements(sharding(o, rules)) * element_bytes(o.tensor);
    return n;
  }

  program_flow const& flow_;
  program const& p_;
  device_mesh const& mesh_;
  machine machine_;
  step_settings how_;
  plan_cache plans_;
};

}  // namespace ostraka::planner
