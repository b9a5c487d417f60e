// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Tests of floor 2. A device that runs a schedule by plain loops. Its workspace is an arena that is poisoned where
/// buffers are taken and returned, so that elements read too early or too late are wrong.

#include <cstdint>
#include <vector>

#include <ostraka/plan/lowering/kinds.hpp>
#include <ostraka/plan/lowering/schedule.hpp>

#include "simulated_mesh.hpp"

namespace ostraka::testing {

using planner::factor;
using planner::schedule;

inline constexpr std::int64_t poison = std::int64_t{1} << 40;

/// The factors of a call.
struct scalars {
  std::int64_t alpha = 1;
  std::int64_t beta = 0;
};

/// The executor of one device: its blocks, its workspace, and its current message.
class simulated_device {
 public:
  planner::viewpoint here{};
  schedule todo{};
  std::vector<std::vector<std::int64_t>> operands{};
  std::vector<std::int64_t> result{};
  scalars call{};
  std::string error{};
  planner::scheduled_message const* under_way = nullptr;  ///< the message that has been started
  bool waits = false;                                     ///< this device has reached the finish of its message
  std::vector<std::vector<std::int64_t>> sent{};          ///< the array, or the elements of each part that it sends

  /// Runs until the finish of the next message. Returns true if there is more to do.
  bool advance() { return planner::advance(todo, next_, *this); }
  void prepare() {
    workspace_.assign(static_cast<std::size_t>(todo.workspace), poison);
    under_way = nullptr;
    waits = false;
    next_ = 0;
  }

  std::int64_t& at(planner::place p, std::int64_t offset = 0) {
    std::vector<std::int64_t>& block = p.buffer < planner::result_buffer ? operands[static_cast<std::size_t>(p.buffer)]
                                       : p.buffer == planner::result_buffer ? result
                                                                            : workspace_;
    std::int64_t const n = (p.buffer > planner::result_buffer ? todo.in_workspace(p) : p.at) + offset;
    if (n >= 0 && n < static_cast<std::int64_t>(block.size())) return block[static_cast<std::size_t>(n)];
    expect(false, "an action reaches out of a buffer");
    return nowhere_;
  }

  void before_action(schedule const& s, std::size_t i) { poison_those(s, i, true); }
  void after_action(schedule const& s, std::size_t i) { poison_those(s, i, false); }

  void copy(planner::buffer_block const& to, planner::buffer_block const& from, planner::scaling how) {
    expect(to.where.rank == from.where.rank, "a copy changes the rank");
    for (int i = 0; i < to.where.rank; ++i)
      expect(to.where.at[i].size() == from.where.at[i].size(), "a copy changes the extents");
    if (!error.empty()) return;
    for_each_element(to, [&](position const& n) { write(at_index(to, n), at_index(from, n), how); });
  }

  void fill(planner::buffer_block const& to, factor beta, reduction kind) {
    expect(kind == reduction::sum, "a fill for another reduction than a sum");
    for_each_element(to, [&](position const& n) { write(at_index(to, n), 0, {factor::zero, beta}); });
  }

  void multiply(planner::product const& p, planner::scaling how) {
    walk(p, [&](bool first, std::int64_t const(&at_element)[3]) {
      std::int64_t& c = at(p.begin[2], at_element[2]);
      if (first) return write(c, 0, {factor::zero, how.beta});
      c += times(how.alpha, call.alpha) * at(p.begin[0], at_element[0]) * at(p.begin[1], at_element[1]);
    });
  }

  void reduce(planner::product const& p, reduction kind, planner::scaling how) {
    expect(kind == reduction::sum, "another reduction than a sum");
    walk(p, [&](bool first, std::int64_t const(&at_element)[3]) {
      std::int64_t& c = at(p.begin[2], at_element[2]);
      if (first) return write(c, 0, {factor::zero, how.beta});
      c += times(how.alpha, call.alpha) * at(p.begin[0], at_element[0]);
    });
  }

  void start(schedule const& s, planner::scheduled_message const& m) {
    expect(under_way == nullptr, "a message is started while another one is under way");
    under_way = &m;
    sent = what_is_sent(s, m);
  }

  void finish(schedule const& s, planner::scheduled_message const& m) {
    expect(under_way == &m, "a message is finished that has not been started");
    expect(sent == what_is_sent(s, m), "what is sent changes while it is under way");
    waits = true;
  }

  /// Checks that the schedule needs only functions of these kinds: a program has no others.
  void expect_kinds(unsigned of_plan) {
    namespace kinds = planner::kinds;
    for (planner::scheduled_message const& m : todo.messages)
      expect((planner::kinds_of(m.kind) & of_plan) != 0, "a message is of a kind that the plan does not name");
    for (planner::action const& a : todo.actions) {
      if (a.what == planner::verb::reduce)
        expect((of_plan & kinds::folds) != 0, "a reduction that the plan does not name");
      if (a.what != planner::verb::multiply) continue;
      expect((of_plan & kinds::products) != 0, "a product that the plan does not name");
      planner::contraction const& p = todo.products[static_cast<std::size_t>(a.item)].loops;
      bool sums = false;
      for (int l = 0; l < p.labels; ++l) {
        bool const in_a = p.in_a[l], in_b = p.in_b[l], in_c = p.in_c[l];
        sums = sums || (in_a && in_b && !in_c);
        if (in_a && in_b && in_c) expect((of_plan & kinds::batches) != 0, "a batch that the plan does not name");
        if (in_a != in_b && !in_c)
          expect((of_plan & kinds::unshared_labels) != 0, "an unshared label that it does not name");
      }
      expect(sums || (of_plan & kinds::unsummed) != 0, "a product without a sum that the plan does not name");
    }
  }

  /// Elements of the part of member number `d`.
  [[nodiscard]] std::int64_t count_of(planner::scheduled_message const& m, std::int64_t d) const {
    return m.even ? m.own : todo.counts[static_cast<std::size_t>(m.first_count + d)];
  }

  /// The element whose indices are `n` after the first of a block: indices in units of devices use their strides, the
  /// largest unit first.
  [[nodiscard]] std::int64_t& at_index(planner::buffer_block const& r, position const& n) {
    std::int64_t offset = 0;
    for (int i = 0; i < r.where.rank; ++i) {
      std::int64_t rest = n[i];
      for (std::int64_t below = INT64_MAX; below > 1;) {
        planner::device_stride const* largest = nullptr;
        for (planner::device_stride const& d : r.across)
          if (d.dimension == i && d.unit < below && (largest == nullptr || d.unit > largest->unit)) largest = &d;
        if (largest == nullptr) break;
        offset += rest / largest->unit * largest->stride;
        rest %= largest->unit;
        below = largest->unit;
      }
      offset += rest * r.stride[i];
    }
    return at(r.data, offset);
  }

  template <class F>
  static void for_each_element(planner::buffer_block const& r, F const& f) {
    box b;
    b.rank = r.where.rank;
    for (int i = 0; i < b.rank; ++i) b.end[i] = r.where.at[i].size();
    for_each(b, f);
  }

  void write(std::int64_t& to, std::int64_t from, planner::scaling how) const {
    to = times(how.alpha, call.alpha) * from + (how.beta == factor::zero ? 0 : times(how.beta, call.beta) * to);
  }

  void expect(bool fine, char const* sentence) {
    if (!fine && error.empty()) error = sentence;
  }

 private:
  static std::int64_t times(factor f, std::int64_t given) {
    return f == factor::zero ? 0 : f == factor::one ? 1 : given;
  }

  // Poisons the buffers that are taken before action number i, or returned after it.
  void poison_those(schedule const& s, std::size_t i, bool taken) {
    for (planner::buffer const& b : s.buffers)
      if ((taken ? b.taken : b.given_back - 1) == static_cast<int>(i))
        for (std::int64_t n = b.at; n < b.end(); ++n) workspace_[static_cast<std::size_t>(n)] = poison;
  }

  // Calls use(true, offsets) for each element of the result, then use(false, offsets) for each product.
  template <class Use>
  static void walk(planner::product const& p, Use const& use) {
    for (bool first : {true, false}) {
      numbered<std::int64_t, planner::max_loops> end{};
      bool any = true;
      for (int l = 0; l < p.loops.labels; ++l) {
        end[l] = first && !p.loops.in_c[l] ? 1 : p.loops.extent[l];
        any = any && end[l] > 0;
      }
      numbered<std::int64_t, planner::max_loops> n{};
      for (int l = 0; any && l >= 0;) {
        std::int64_t offset[3] = {0, 0, 0};
        for (int k = 0; k < p.loops.labels; ++k)
          for (planner::operand const t : {planner::operand::a, planner::operand::b, planner::operand::c})
            if (presence_of(p.loops, t)[k]) offset[static_cast<int>(t)] += n[k] * strides_of(p.loops, t)[k];
        use(first, offset);
        for (l = p.loops.labels - 1; l >= 0 && ++n[l] == end[l]; --l) n[l] = 0;
      }
    }
  }

  std::vector<std::int64_t> elements(planner::place p, std::int64_t count) {
    std::vector<std::int64_t> all;
    for (std::int64_t n = 0; n < count; ++n) all.push_back(at(p, n));
    return all;
  }

  std::vector<std::vector<std::int64_t>> what_is_sent(schedule const& s, planner::scheduled_message const& m) {
    if (m.kind == step::all_gather || m.kind == step::all_reduce) return {elements(m.sent, m.own)};
    if (m.kind == step::reduce_scatter) {
      std::int64_t total = m.own_left_out ? -m.own : 0;
      for (std::int64_t d = 0; d < m.members; ++d) total += count_of(m, d);
      return {elements(m.sent, total)};
    }
    std::vector<std::vector<std::int64_t>> all(static_cast<std::size_t>(m.members));
    for (int k = m.first_part; k < m.first_part + m.parts; ++k) {
      planner::message_part const& p = s.parts[static_cast<std::size_t>(k)];
      for_each_element(
          p.sent, [&](position const& n) { all[static_cast<std::size_t>(p.member)].push_back(at_index(p.sent, n)); });
    }
    return all;
  }

  std::vector<std::int64_t> workspace_{};
  std::size_t next_ = 0;
  std::int64_t nowhere_ = 0;
};

}  // namespace ostraka::testing
