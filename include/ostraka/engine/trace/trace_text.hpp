// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A timeline as events of the Trace Event Format, which Perfetto and chrome://tracing read: a JSON array of
/// objects, here those of one process. A span is a complete event, {"ph": "X", "ts": …, "dur": …} in microseconds; a
/// host thread is a row, and so is each lane of collectives in flight.

#include <cstdint>
#include <cstdio>
#include <string>

#include <ostraka/engine/trace/clock.hpp>
#include <ostraka/engine/trace/text_buffer.hpp>
#include <ostraka/engine/trace/timeline.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The process of a timeline.
struct traced_process {
  int number = 0;                   ///< number of the rank, or of the device of a dry mesh
  std::string name{};               ///< `rank 3`
  std::string labels{};             ///< text that a viewer shows beside the name
  std::int64_t origin = 0;          ///< time 0, on the common clock
  std::int64_t begin = 0, end = 0;  ///< of the trace, on the process' own clock
  common_clock clock{};
};

/// A destination of text that arrives in pieces.
class text_sink {
 public:
  virtual void take(std::string const& text) = 0;

 protected:
  ~text_sink() = default;
};

class file_sink final : public text_sink {
 public:
  explicit file_sink(std::FILE* file) : file_(file) {}
  void take(std::string const& text) override { std::fwrite(text.data(), 1, text.size(), file_); }

 private:
  std::FILE* file_;
};

/// Ends a file of events with a note at time 0, without a comma after it. True if the whole file was written.
[[gnu::cold, gnu::noinline]] inline bool end_trace_file(std::FILE* file, std::string const& note, int process) {
  text_buffer end;
  end.put("{\"ph\":\"i\",\"s\":\"g\",\"name\":");
  end.put_quoted(join_text("ostraka: ", note));
  end.put(",\"pid\":%d,\"tid\":0,\"ts\":0}\n]\n", process);
  std::fputs(end.text.c_str(), file);
  bool const failed = std::ferror(file) != 0;
  return std::fclose(file) == 0 && !failed;
}

/// Writes the events of a process, each with ",\n" after it.
class trace_text {
 public:
  trace_text(timeline const& t, traced_process const& p, text_sink& sink) : t_(t), p_(p), sink_(sink) {}

  [[gnu::cold, gnu::noinline]] void write() {
    names();
    gaps();
    for (trace_span const& s : t_.spans) span(s);
    if (t_.dropped > 0) write_dropped_note();
    if (!out_.text.empty()) sink_.take(out_.text);
  }

 private:
  static constexpr int first_lane = 1000;  // rows of messages follow those of threads
  static constexpr std::size_t piece = std::size_t{1} << 20;

  [[gnu::cold, gnu::noinline]] void names() {
    metadata("process_name", 0, "name", p_.name);
    metadata("process_labels", 0, "labels", p_.labels);
    int threads = 1;
    for (trace_span const& s : t_.spans)
      if (s.what != trace_span::kind::message && s.thread >= threads) threads = s.thread + 1;
    for (int i = 0; i < threads; ++i)
      metadata("thread_name", i, "name", i == 0 ? "operations" : join_text("operations of thread ", i));
    for (int i = 0; i < t_.lanes; ++i)
      metadata("thread_name", first_lane + i, "name", i == 0 ? "messages" : join_text("messages ", i));
  }

  // Writes spans for the time that the first thread spends outside operations.
  [[gnu::cold, gnu::noinline]] void gaps() {
    std::int64_t const full = t_.dropped > 0 ? t_.full_since : p_.end;
    std::int64_t at = p_.begin;
    for (trace_span const& s : t_.spans)
      if (s.outermost && s.thread == 0) {
        gap("program", at, s.begin);
        at = end_of(s);
      }
    gap("program", at, full);
    gap("not recorded", at > full ? at : full, p_.end);
  }
  [[gnu::cold, gnu::noinline]] void gap(char const* what, std::int64_t begin, std::int64_t end) {
    if (end > begin) begin_event(what, "program", 0, begin, end), end_event();
  }

  [[gnu::cold, gnu::noinline]] void span(trace_span const& s) {
    constexpr char const* categories[] = {"operation", "step", "region", "message"};
    bool const message = s.what == trace_span::kind::message;
    begin_event(t_.texts[s.name], categories[static_cast<int>(s.what)], message ? first_lane + s.thread : s.thread,
                s.begin, end_of(s));
    if (message) number("members", s.members, true);
    number("bytes", s.numbers.bytes, message);
    number("messages", s.numbers.messages, message);
    number("planned_bytes", s.planned);
    number("flops", s.numbers.flops);
    number("memory", s.numbers.memory);
    if (s.numbers.waited > 0) {
      out_.put(",\"waited_us\":");
      out_.put_microseconds(s.numbers.waited);
    }
    number("resumed", s.resumed ? 1 : 0);
    if (s.plan >= 0) {
      out_.put(",\"plan\":");
      out_.put_quoted(t_.texts[s.plan]);
    }
    end_event();
  }

  [[gnu::cold, gnu::noinline]] void write_dropped_note() {
    out_.put(R"({"ph":"i","s":"p","name":"no room: %lld spans from here on were left out; OSTRAKA_TRACE_SPANS is the )"
             R"(number that is kept","pid":%d,"tid":0,"ts":)",
             static_cast<long long>(t_.dropped), p_.number);
    out_.put_microseconds(p_.clock.of(t_.full_since) - p_.origin);
    out_.put("},\n");
  }

  [[gnu::cold, gnu::noinline]] void metadata(char const* what, int thread, char const* key, std::string const& value) {
    out_.put(R"({"ph":"M","name":"%s","pid":%d,"tid":%d,"args":{"%s":)", what, p_.number, thread, key);
    out_.put_quoted(value);
    out_.put("}},\n");
  }

  [[gnu::cold, gnu::noinline]] void begin_event(std::string const& name, char const* what, int thread,
                                                std::int64_t begin, std::int64_t end) {
    std::int64_t const from = p_.clock.of(begin);
    out_.put("{\"ph\":\"X\",\"name\":");
    out_.put_quoted(name);
    out_.put(R"(,"cat":"%s","pid":%d,"tid":%d,"ts":)", what, p_.number, thread);
    out_.put_microseconds(from - p_.origin);
    out_.put(",\"dur\":");
    out_.put_microseconds(p_.clock.of(end) - from);
    out_.put(",\"args\":{\"device\":%d", p_.number);
  }
  [[gnu::cold, gnu::noinline]] void end_event() {
    out_.put("}},\n");
    if (out_.text.size() < piece) return;
    sink_.take(out_.text);
    out_.text.clear();
  }
  [[gnu::cold, gnu::noinline]] void number(char const* name, std::int64_t value, bool always = false) {
    if (value != 0 || always) out_.put(",\"%s\":%lld", name, static_cast<long long>(value));
  }

  [[nodiscard]] static std::int64_t end_of(trace_span const& s) { return s.end < s.begin ? s.begin : s.end; }

  timeline const& t_;
  traced_process const& p_;
  text_sink& sink_;
  text_buffer out_;
};

}  // namespace ostraka::engine
