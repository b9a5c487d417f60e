// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The work of a device, with times: spans of regions and collectives, and, for the outermost regions of each
/// name, the sums of all calls. It works with any clock: nanoseconds come with the events. Memory is bounded: when the
/// list of spans is full, later spans are only counted, and the sums continue.
///
///     ostraka einsum C[I_X, K] = …   |─────────────────────────────|
///     ostraka contract               |───────────────|
///     ostraka reduce_scatter<X>                      |─────────────|
///     reduce_scatter, lane 0                          |───────────|    `waited`: the device's wait for it

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <ostraka/engine/record/events.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// A set of texts, numbered from 0.
class text_table {
 public:
  static constexpr std::size_t most = 1 << 16;  // all others then share one text

  [[gnu::cold, gnu::noinline]] int number_of(std::string_view text) {
    if (2 * (texts_.size() + 1) > slots_.size()) grow();
    std::size_t at = slot_of(text);
    if (slots_[at] >= 0) return slots_[at];
    if (texts_.size() >= most) {
      text = "(names beyond the first 65,536)";
      at = slot_of(text);
      if (slots_[at] >= 0) return slots_[at];
    }
    texts_.push_back(std::string(text));
    return slots_[at] = static_cast<int>(texts_.size()) - 1;
  }
  [[nodiscard]] std::string const& operator[](int number) const { return texts_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  [[nodiscard, gnu::cold, gnu::noinline]] std::size_t slot_of(std::string_view text) const {
    std::uint64_t h = 14695981039346656037u;  // FNV-1a
    for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
    std::size_t at = static_cast<std::size_t>(h) & (slots_.size() - 1);
    while (slots_[at] >= 0 && texts_[static_cast<std::size_t>(slots_[at])] != text) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  [[gnu::cold, gnu::noinline]] void grow() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), -1);
    for (std::size_t i = 0; i < texts_.size(); ++i) slots_[slot_of(texts_[i])] = static_cast<int>(i);
  }

  dynamic_array<std::string> texts_;
  dynamic_array<int> slots_;  // a power of two; -1: free
};

/// The numbers of a span, or of all calls of a region.
struct trace_numbers {
  std::int64_t bytes = 0;  ///< sent by this device
  std::int64_t messages = 0;
  std::int64_t flops = 0;
  std::int64_t memory = 0;  ///< bytes read and written, as reported by operations
  std::int64_t waited = 0;  ///< nanoseconds of waiting for collectives

  [[gnu::cold, gnu::noinline]] void add(trace_numbers const& n) {
    bytes += n.bytes;
    messages += n.messages;
    flops += n.flops;
    memory += n.memory;
    waited += n.waited;
  }
};

struct trace_span {
  enum class kind : std::uint8_t { operation, step, program, message };

  std::int64_t begin = 0;  ///< in nanoseconds
  std::int64_t end = -1;   ///< -1: not yet
  int name = 0;
  int plan = -1;   ///< number of a text, for an operation with a plan
  int thread = 0;  ///< the thread that it ran on; for a message, its lane
  kind what = kind::operation;
  bool outermost = false;
  bool resumed = false;
  int members = 0;           ///< members of a message's group
  std::int64_t planned = 0;  ///< bytes per device in the plan
  trace_numbers numbers{};
};

/// The sum of all calls of an outermost region, or of a region that the program named.
struct trace_sum {
  std::int64_t calls = 0;
  std::int64_t time = 0;  ///< in nanoseconds
  bool of_program = false;
  trace_numbers numbers{};

  void add(trace_sum const& s) {
    calls += s.calls;
    time += s.time;
    of_program = s.of_program;
    numbers.add(s.numbers);
  }
};

class timeline {
 public:
  [[gnu::cold]] explicit timeline(std::size_t most_spans) : most_(most_spans) {}
  [[gnu::cold]] ~timeline() = default;

  dynamic_array<trace_span> spans;
  text_table texts;
  dynamic_array<trace_sum> sums;  ///< by number of the name; calls 0: none
  trace_sum operations;           ///< all outermost operations of the first thread
  trace_numbers all;              ///< everything, inside regions and outside
  std::int64_t dropped = 0;       ///< spans left out for lack of space
  std::int64_t full_since = -1;   ///< the time when the first of these began
  int lanes = 0;                  ///< of messages

  /// Records an event of a thread that happens now. If a model of a machine times the collectives, `finish` ends them,
  /// with their times on the links.
  [[gnu::cold, gnu::noinline]] void on_event(event const& e, int thread, std::int64_t now) {
    running& t = of(thread);
    ++t.events;
    switch (e.kind) {
      case event_kind::begins:
        return begin(e, t, thread, now);
      case event_kind::ends:
        return end(t, now);
      case event_kind::computes: {
        trace_numbers n;
        n.flops = e.flops;
        n.memory = e.memory;
        return add(t, n);
      }
      case event_kind::starts:
        return start(e, t, thread, now);
      case event_kind::waits:
        return wait(e, t, thread, now);
      case event_kind::finishes: {
        message const m = take(e, thread, now);
        bool const at_once = m.waits_at == m.started_at + 1;  // no work overlapped with it
        std::int64_t const since = m.waits < 0 ? now : at_once ? m.begin : m.waits;
        return finish(e, t, m, m.begin, now, now - since);
      }
    }
  }

  /// Records the end of a collective that a model of a machine times: it was on the links from `begin` to `end`, and
  /// the device waited for it as long as `waited`.
  [[gnu::cold, gnu::noinline]] void finish(event const& e, int thread, std::int64_t begin, std::int64_t end,
                                           std::int64_t waited) {
    finish(e, of(thread), take(e, thread, begin), begin, end, waited);
  }

  /// Ends all open regions now.
  [[gnu::cold, gnu::noinline]] void close(std::int64_t now) {
    for (running& t : threads_)
      while (!t.open.empty()) end(t, now);
  }

 private:
  struct open_region {
    std::int64_t begin;
    std::ptrdiff_t span;  // -1: left out for lack of space
    int name;
    region_kind kind;
    bool outermost, resumed;
    trace_numbers numbers;
  };
  struct running {
    dynamic_array<open_region> open;
    int operations = 0;  // number of open operations
    std::int64_t events = 0;
  };
  struct message {
    std::uint64_t number;
    int thread;
    int lane;
    std::int64_t begin, waits, started_at, waits_at;  // the last two count events
  };

  [[gnu::cold]] running& of(int thread) {
    while (threads_.size() <= static_cast<std::size_t>(thread)) threads_.push_back({});
    return threads_[static_cast<std::size_t>(thread)];
  }

  [[gnu::cold, gnu::noinline]] void begin(event const& e, running& t, int thread, std::int64_t now) {
    open_region r{now, -1, texts.number_of(e.name), e.region, false, e.resumed, {}};
    r.outermost = e.region == region_kind::operation && t.operations == 0;
    if (e.region != region_kind::program) ++t.operations;
    trace_span s;
    s.begin = now;
    s.name = r.name;
    s.plan = e.plan.empty() ? -1 : texts.number_of(e.plan);
    s.thread = thread;
    s.what = e.region == region_kind::operation ? trace_span::kind::operation
             : e.region == region_kind::step    ? trace_span::kind::step
                                                : trace_span::kind::program;
    s.outermost = t.open.empty();
    s.resumed = e.resumed;
    s.planned = e.bytes;
    r.span = keep(s);
    t.open.push_back(r);
  }

  [[gnu::cold, gnu::noinline]] void end(running& t, std::int64_t now) {
    if (t.open.empty()) return;  // the region began before the timeline listened
    open_region const r = t.open.back();
    t.open.pop_back();
    if (r.kind != region_kind::program) --t.operations;
    if (r.span >= 0) {
      trace_span& s = spans[static_cast<std::size_t>(r.span)];
      s.end = now;
      s.numbers = r.numbers;
    }
    if (!t.open.empty()) t.open.back().numbers.add(r.numbers);
    trace_sum one{r.resumed ? 0 : 1, now - r.begin, r.kind == region_kind::program, r.numbers};
    if (r.outermost && &t == &threads_.front()) operations.add(one);
    if (!r.outermost && !one.of_program) return;
    if (sums.size() <= static_cast<std::size_t>(r.name)) sums.resize(static_cast<std::size_t>(r.name) + 1);
    sums[static_cast<std::size_t>(r.name)].add(one);
  }

  void add(running& t, trace_numbers const& n) {
    all.add(n);
    if (!t.open.empty()) t.open.back().numbers.add(n);
  }

  [[gnu::cold, gnu::noinline]] void start(event const& e, running& t, int thread, std::int64_t now) {
    int lane = 0;
    for (std::size_t i = 0; i < flying_.size(); ++i)
      if (flying_[i].lane == lane) ++lane, i = static_cast<std::size_t>(-1);  // from the first again
    lanes = lane < lanes ? lanes : lane + 1;
    flying_.push_back({e.number, thread, lane, now, -1, t.events, -1});
  }

  [[gnu::cold, gnu::noinline]] void wait(event const& e, running& t, int thread, std::int64_t now) {
    for (message& m : flying_)
      if (m.number == e.number && m.thread == thread && m.waits < 0) m.waits = now, m.waits_at = t.events;
  }

  // Removes a collective. One that started before the timeline listened begins now.
  [[gnu::cold, gnu::noinline]] message take(event const& e, int thread, std::int64_t now) {
    for (std::size_t i = 0; i < flying_.size(); ++i)
      if (flying_[i].number == e.number && flying_[i].thread == thread) {
        message const m = flying_[i];
        flying_[i] = flying_.back();
        flying_.pop_back();
        return m;
      }
    return {e.number, thread, 0, now, -1, 0, -1};
  }

  [[gnu::cold, gnu::noinline]] void finish(event const& e, running& t, message const& m, std::int64_t begin,
                                           std::int64_t end, std::int64_t waited) {
    trace_span s;
    s.begin = begin;
    s.end = end;
    s.name = texts.number_of(name_of_collective(e));
    s.thread = m.lane;
    s.what = trace_span::kind::message;
    s.members = e.members;
    s.numbers = {e.bytes, e.messages, 0, 0, waited};
    keep(s);
    add(t, s.numbers);
  }

  // Returns `all_gather<X, Y>`, like the names of steps.
  [[gnu::cold, gnu::noinline]] static std::string name_of_collective(event const& e) {
    std::string text = name_of(e.how);
    if (e.mesh == nullptr) return text;
    text += '<';
    bool any = false;
    for (std::size_t a = 0; a < e.mesh->names.size(); ++a) {
      if ((e.over >> a & 1u) == 0) continue;
      append_text(text, any ? ", " : "", e.mesh->names[a]);
      any = true;
    }
    return join_text(text, '>');
  }

  [[gnu::cold, gnu::noinline]] std::ptrdiff_t keep(trace_span const& s) {
    if (spans.size() < most_) {
      spans.push_back(s);
      return static_cast<std::ptrdiff_t>(spans.size()) - 1;
    }
    if (dropped++ == 0) full_since = s.begin;
    return -1;
  }

  std::size_t most_;
  dynamic_array<running> threads_;
  dynamic_array<message> flying_;
};

}  // namespace ostraka::engine
