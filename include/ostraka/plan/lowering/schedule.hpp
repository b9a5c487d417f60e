// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. A schedule: a plan lowered for a device, stored as actions, and every buffer with its size and place. It
/// contains no address and no communicator, so it is made once and run on any number of blocks. `advance` is the only
/// loop that runs one. Its caller provides an executor: Kokkos and MPI, a simulated mesh, or a list that only records.
///
/// A schedule that is only priced does not list copies and the parts of exchanges one by one. It keeps the number of
/// consecutive equal ones. So the parts of 65,536 devices take a few entries instead of 65,536 blocks.

#include <cstddef>
#include <cstdint>

#include <ostraka/plan/lowering/lower.hpp>
#include <ostraka/plan/lowering/place.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::planner {

/// One verb. Its numbers are indices into the lists of its schedule.
struct action {
  verb what = verb::copy;
  reduction kind = reduction::sum;  ///< of a reduce, or of a fill with the neutral element
  scaling how{};
  int stage = 0;
  int to = -1;    ///< block, of a copy or a fill
  int from = -1;  ///< block, of a copy
  int item = -1;  ///< product, message, or the first of the runs written
  int items = 0;  ///< the number of runs written
};

/// A message, its parts in an exchange, and the elements of each part in member order if they are uneven.
struct scheduled_message : message {
  int first_part = 0;
  int parts = 0;
  int first_count = 0;
  int counts = 0;
  int first_sent = 0;  ///< of an exchange that is only priced
  int sent_runs = 0;
};

/// The actions of a step of the plan, and of the move that is fused with it.
struct stage {
  int step = 0;    ///< equal to the number of steps for the copy of the result to its place
  int fused = -1;  ///< none
  std::int64_t copied = 0;
  std::int64_t moved = 0;
};

/// The actions of a device. Clearing keeps its memory.
class schedule {
 public:
  static constexpr bool keeps = true;

  dynamic_array<action> actions{};
  dynamic_array<buffer_block> blocks{};
  dynamic_array<product> products{};
  dynamic_array<scheduled_message> messages{};
  dynamic_array<message_part> parts{};
  dynamic_array<std::int64_t> counts{};
  dynamic_array<buffer> buffers{};
  dynamic_array<stage> stages{};
  dynamic_array<repeated_writes> written{};  ///< replaces copies and fills if the schedule is only priced
  dynamic_array<repeated_sends> sent{};      ///< replaces parts
  std::int64_t workspace = 0;            ///< number of elements, once all buffers are placed
  bool priced_only = false;              ///< set before lowering; outlives clear()

  void clear() {
    actions.clear();
    blocks.clear();
    products.clear();
    messages.clear();
    parts.clear();
    counts.clear();
    buffers.clear();
    stages.clear();
    written.clear();
    sent.clear();
    workspace = 0;
    parts_before_ = counts_before_ = sent_before_ = 0;
    numbered_ = 0;
  }

  /// Frees unused memory; call it if the schedule is kept for long.
  [[gnu::cold]] void shrink() {
    actions.shrink_to_fit();
    blocks.shrink_to_fit();
    products.shrink_to_fit();
    messages.shrink_to_fit();
    parts.shrink_to_fit();
    counts.shrink_to_fit();
    buffers.shrink_to_fit();
    stages.shrink_to_fit();
    written.shrink_to_fit();
    sent.shrink_to_fit();
  }

  /// The position of an element of a buffer in the workspace.
  /// @pre the buffer is the schedule's own, and has its place
  [[nodiscard]] std::int64_t in_workspace(place p) const {
    return buffers[static_cast<std::size_t>(p.buffer - first_own_buffer)].at + p.at;
  }

  // The functions that `lower` calls.
  [[gnu::cold]] void begin_stage(int step, int fused) { stages.push_back({step, fused}); }
  [[gnu::cold]] buffer_taken take(std::int64_t elements) {
    buffers.push_back({elements, numbered_, numbered_});
    return {first_own_buffer + static_cast<int>(buffers.size()) - 1, elements};
  }
  [[gnu::cold]] void give_back(buffer_taken const& b) {
    buffers[static_cast<std::size_t>(b.number - first_own_buffer)].given_back = numbered_;
  }
  [[gnu::cold]] void copy(buffer_block const& to, buffer_block const& from, scaling how) {
    stages.back().copied += to.where.size();
    if (priced_only) return write(to.where.size(), true);
    action& a = add(verb::copy, how);
    a.to = keep(to);
    a.from = keep(from);
  }
  [[gnu::cold]] void fill(buffer_block const& to, factor beta, reduction kind) {
    if (priced_only) return write(to.where.size(), false);
    action& a = add(verb::fill, {factor::one, beta});
    a.to = keep(to);
    a.kind = kind;
  }
  void multiply(product const& p, scaling how) { add_product(verb::multiply, p, how); }
  void reduce(product const& p, reduction kind, scaling how) { add_product(verb::reduce, p, how).kind = kind; }
  /// Adds a part of the exchange that is started next; `packed` if its source is going to be packed.
  [[gnu::cold]] void part(message_part const& p, bool packed = false) {
    if (!priced_only) return parts.push_back(p);
    std::int64_t const elements = p.sent.where.size();
    bool const at_once = !packed && !p.sent.gapless();
    if (elements == 0) return;
    if (static_cast<int>(sent.size()) > sent_before_)
      if (repeated_sends& r = sent.back(); r.elements == elements && r.at_once == at_once && p.member > r.first) {
        if (r.members == 1) r.step = p.member - r.first;
        if (p.member == r.first + r.members * r.step) {
          ++r.members;
          return;
        }
      }
    sent.push_back({p.member, 1, elements, at_once});
  }
  [[gnu::cold]] void count(std::int64_t elements) { counts.push_back(elements); }
  [[gnu::cold]] void start(message const& m) {
    messages.push_back({m, parts_before_, static_cast<int>(parts.size()) - parts_before_, counts_before_,
                        static_cast<int>(counts.size()) - counts_before_, sent_before_,
                        static_cast<int>(sent.size()) - sent_before_});
    parts_before_ = static_cast<int>(parts.size());
    counts_before_ = static_cast<int>(counts.size());
    sent_before_ = static_cast<int>(sent.size());
    stages.back().moved += m.moved;
    add(verb::start, {}).item = static_cast<int>(messages.size()) - 1;
  }
  void finish() { add(verb::finish, {}).item = static_cast<int>(messages.size()) - 1; }

  /// Ends the recording: buffers get their places.
  void end(std::int64_t line) { workspace = place_buffers(buffers, line); }

 private:
  // Records a copy or a fill by its number of elements alone.
  [[gnu::cold]] void write(std::int64_t elements, bool reads) {
    bool const continues = !actions.empty() && actions.back().what == verb::price &&
                           actions.back().stage == static_cast<int>(stages.size()) - 1;
    if (continues)
      ++numbered_;
    else
      add(verb::price, {}).item = static_cast<int>(written.size());
    if (continues && written.back().elements == elements && written.back().reads == reads) {
      ++written.back().number;
      return;
    }
    written.push_back({elements, 1, reads});
    ++actions.back().items;
  }

  [[gnu::cold]] action& add(verb what, scaling how) {
    ++numbered_;
    action a;
    a.what = what;
    a.how = how;
    a.stage = static_cast<int>(stages.size()) - 1;
    actions.push_back(a);
    return actions.back();
  }
  [[gnu::cold]] action& add_product(verb what, product const& p, scaling how) {
    products.push_back(p);
    action& a = add(what, how);
    a.item = static_cast<int>(products.size()) - 1;
    return a;
  }
  [[gnu::cold]] int keep(buffer_block const& r) {
    blocks.push_back(r);
    return static_cast<int>(blocks.size()) - 1;
  }

  int parts_before_ = 0;
  int counts_before_ = 0;
  int sent_before_ = 0;
  int numbered_ = 0;  // actions so far; a repeated entry of a priced schedule counts as all its actions
};

/// The lowering functions of all kinds.
template <class Writer = schedule>
[[nodiscard]] constexpr lowering_functions<Writer> const& every_lowering() {
  return lowering_functions_of<kinds::lowered, Writer>;
}

/// Lowers a plan into a schedule and places its buffers. A cache line has `line` elements.
template <class Plan>
[[gnu::cold]] void lower_to(schedule& s, Plan const& plan, decisions const& decided, viewpoint const& v,
                            std::int64_t line, machine_constants const& machine = measured,
                            lowering_functions<schedule> const& functions = every_lowering()) {
  s.clear();
  lower(plan, decided, v, s, machine, functions);
  s.end(line);
}

/// Runs the schedule from action number `next` on until a message has been finished, or started. Returns true if there
/// is more to do. It calls `executor.before_action(s, i)` before action number i and `executor.after_action(s, i)`
/// after it. An executor that can run a schedule that is only priced has `executor.price(s, a)`.
template <class Executor>
bool advance(schedule const& s, std::size_t& next, Executor& executor, verb until = verb::finish) {
  while (next < s.actions.size()) {
    std::size_t const i = next++;
    action const& a = s.actions[i];
    auto const block_number = [&](int k) -> buffer_block const& { return s.blocks[static_cast<std::size_t>(k)]; };
    auto const item = static_cast<std::size_t>(a.item);
    executor.before_action(s, i);
    switch (a.what) {
      case verb::copy:
        executor.copy(block_number(a.to), block_number(a.from), a.how);
        break;
      case verb::fill:
        executor.fill(block_number(a.to), a.how.beta, a.kind);
        break;
      case verb::multiply:
        executor.multiply(s.products[item], a.how);
        break;
      case verb::reduce:
        executor.reduce(s.products[item], a.kind, a.how);
        break;
      case verb::start:
        executor.start(s, s.messages[item]);
        break;
      case verb::finish:
        executor.finish(s, s.messages[item]);
        break;
      case verb::price:
        if constexpr (requires { executor.price(s, a); }) executor.price(s, a);
        break;
    }
    executor.after_action(s, i);
    if (a.what == until) return next < s.actions.size();
  }
  return false;
}

}  // namespace ostraka::planner
