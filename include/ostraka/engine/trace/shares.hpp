// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A table of time shares, with a line for each region: its time, and the share of communication, for one
/// process or summed over several.
///
///     ostraka: 4 ranks, 1.26 s: 81.2 % in operations, 18.8 % in the program's own code; 23.4 % waits for messages
///          time   share   waits        sent per rank     calls  region
///       0.512 s  41.5 %  12.3 %            1,572,864 B     120  ostraka einsum C[I_X, K] = …

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <ostraka/engine/trace/text_buffer.hpp>
#include <ostraka/engine/trace/timeline.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The sums of several processes.
class trace_shares {
 public:
  /// Adds the sums of a process whose trace covers `wall` nanoseconds.
  [[gnu::cold, gnu::noinline]] void add(timeline const& t, std::int64_t wall) {
    all_.add(t.all);
    operations_ += t.operations.time;
    wall_ += wall;
    ++processes_;
    for (std::size_t i = 0; i < t.sums.size(); ++i)
      if (t.sums[i].calls > 0 || t.sums[i].time > 0) add(t.texts[static_cast<int>(i)], t.sums[i]);
  }

  /// Returns the sums as text, which another process can read.
  [[nodiscard, gnu::cold, gnu::noinline]] std::string text() const {
    text_buffer to;
    to.put("%lld %lld %lld\n", as_long(operations_), as_long(wall_), as_long(processes_));
    put(to, {0, 0, false, all_}, "");
    for (std::size_t i = 0; i < sums_.size(); ++i) put(to, sums_[i], names_[static_cast<int>(i)]);
    return to.text;
  }
  [[gnu::cold, gnu::noinline]] void read(std::string const& text) {
    char const* at = text.c_str();
    operations_ += number(at);
    wall_ += number(at);
    processes_ += number(at);
    for (bool first = true; *at != 0; first = false) {
      trace_sum s;
      s.calls = number(at);
      s.time = number(at);
      s.of_program = number(at) != 0;
      trace_numbers& n = s.numbers;
      for (std::int64_t* to : {&n.bytes, &n.messages, &n.flops, &n.memory, &n.waited}) *to = number(at);
      char const* const end = std::strchr(at, '\n');
      first ? all_.add(n) : add(std::string(at, static_cast<std::size_t>(end - at)), s);
      at = end + 1;
    }
  }

  /// Returns the table of the regions that took most time; `who`: `4 ranks`.
  [[nodiscard, gnu::cold, gnu::noinline]] std::string describe(std::string const& who, int most = 20) const {
    text_buffer to;
    to.text = join_text("ostraka: ", who, ", ");
    put_seconds(to, wall_ / processes_);
    double const wall = static_cast<double>(wall_ > 0 ? wall_ : 1);
    to.put(": %.1f %% in operations, %.1f %% in the program's own code; %.1f %% waits for messages\n",
           100 * static_cast<double>(operations_) / wall, 100 * static_cast<double>(wall_ - operations_) / wall,
           100 * static_cast<double>(all_.waited) / wall);
    to.put("      time    share    waits           sent each     calls  region\n");
    dynamic_array<char> done(sums_.size());
    for (int i = 0; i < most && i < static_cast<int>(sums_.size()); ++i) {
      std::size_t const next = largest(done);
      done[next] = 1;
      put_row(to, sums_[next], names_[static_cast<int>(next)], wall);
    }
    trace_sum rest;
    std::int64_t others = 0;
    for (std::size_t i = 0; i < sums_.size(); ++i)
      if (done[i] == 0) rest.add(sums_[i]), ++others;
    if (others > 0) put_row(to, rest, join_text('(', others, " other regions)"), wall);
    return to.text;
  }

 private:
  static long long as_long(std::int64_t n) { return n; }

  // Adds the sums of a region. Its name must fit one line.
  [[gnu::cold, gnu::noinline]] void add(std::string name, trace_sum const& s) {
    for (char& c : name) c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    std::size_t const at = static_cast<std::size_t>(names_.number_of(name));
    if (at >= sums_.size()) sums_.resize(at + 1);
    sums_[at].add(s);
  }

  [[gnu::cold, gnu::noinline]] static void put(text_buffer& to, trace_sum const& s, std::string const& name) {
    trace_numbers const& n = s.numbers;
    to.put("%lld %lld %d %lld %lld %lld %lld %lld ", as_long(s.calls), as_long(s.time), s.of_program ? 1 : 0,
           as_long(n.bytes), as_long(n.messages), as_long(n.flops), as_long(n.memory), as_long(n.waited));
    append_text(to.text, name, '\n');
  }
  // Reads a number and the character after it.
  [[gnu::cold, gnu::noinline]] static std::int64_t number(char const*& at) {
    char* end = nullptr;
    std::int64_t const n = std::strtoll(at, &end, 10);
    at = end + 1;
    return n;
  }

  // Returns the next region: the program's own regions first, then those of operations; within each, the one that took
  // longest.
  [[nodiscard, gnu::cold, gnu::noinline]] std::size_t largest(dynamic_array<char> const& done) const {
    std::size_t best = sums_.size();
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (done[i] != 0) continue;
      trace_sum const& s = sums_[i];
      if (best == sums_.size() || (s.of_program != sums_[best].of_program ? s.of_program : s.time > sums_[best].time))
        best = i;
    }
    return best;
  }

  [[gnu::cold, gnu::noinline]] void put_row(text_buffer& to, trace_sum const& s, std::string const& name,
                                            double wall) const {
    to.put(" ");
    put_seconds(to, s.time / processes_);
    to.put(" %6.1f %% %6.1f %% %19s %9lld  ", 100 * static_cast<double>(s.time) / wall,
           s.time > 0 ? 100 * static_cast<double>(s.numbers.waited) / static_cast<double>(s.time) : 0,
           planner::describe_bytes(s.numbers.bytes / processes_).c_str(), as_long(s.calls / processes_));
    append_text(to.text, name, '\n');
  }
  [[gnu::cold, gnu::noinline]] static void put_seconds(text_buffer& to, std::int64_t nanoseconds) {
    double const s = 1e-9 * static_cast<double>(nanoseconds);
    to.put(s >= 1 ? "%7.2f s " : s >= 1e-3 ? "%6.2f ms" : "%6.2f us", s >= 1 ? s : s >= 1e-3 ? 1e3 * s : 1e6 * s);
  }

  text_table names_;
  dynamic_array<trace_sum> sums_;  // by number of the name
  trace_numbers all_{};
  std::int64_t operations_ = 0, wall_ = 0, processes_ = 0;  // times in nanoseconds
};

}  // namespace ostraka::engine
