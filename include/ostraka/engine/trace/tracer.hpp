// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Traces a job. It gets the events of all host threads of this rank, timed with this rank's clock. At the end
/// rank 0 writes one file of all ranks, on one clock, and the table of time shares. A rank sends its events in pieces,
/// so that rank 0 holds one piece at a time. Ranks meet before they exchange messages, so a rank that waits in an
/// operation for one at the end of the trace is reported, and no rank hangs.

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include <ostraka/engine/call_check/observe_groups.hpp>
#include <ostraka/engine/call_check/same_calls.hpp>
#include <ostraka/engine/carriers/control.hpp>
#include <ostraka/engine/groups/communicator.hpp>
#include <ostraka/engine/machine/job_of_mpi.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/memory/computing.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/spmd/peer_monitor.hpp>
#include <ostraka/engine/trace/clock.hpp>
#include <ostraka/engine/trace/shares.hpp>
#include <ostraka/engine/trace/timeline.hpp>
#include <ostraka/engine/trace/trace_text.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

/// The trace that a program asks for.
struct trace_request {
  static constexpr std::int64_t usual_spans = std::int64_t{1} << 18;  // 23 MB of memory, about 60 MB of file
  std::string file{};                                                 ///< empty: none
  bool table = false;                                                 ///< on stderr
  std::int64_t spans = usual_spans;                                   ///< spans that each rank keeps
  [[nodiscard]] bool any() const { return table || !file.empty(); }

  /// Returns the request in the environment of this process.
  [[gnu::cold, gnu::noinline]] static trace_request of_this_process() {
    trace_request r;
    if (char const* const file = std::getenv("OSTRAKA_TRACE")) r.file = file;
    if (char const* const table = std::getenv("OSTRAKA_TRACE_SUMMARY")) r.table = std::string(table) != "0";
    if (char const* const spans = std::getenv("OSTRAKA_TRACE_SPANS")) r.spans = std::max(0LL, std::atoll(spans));
    return r;
  }

  /// Returns rank 0's request, since launchers need not pass environment variables on to all ranks. Collective over all
  /// ranks of the job.
  [[gnu::cold, gnu::noinline]] static trace_request of_job(trace_request r) {
#if OSTRAKA_ENABLE_MPI
    std::int64_t numbers[3] = {static_cast<std::int64_t>(r.file.size()), r.table ? 1 : 0, r.spans};
    control::broadcast(all_ranks(), numbers, sizeof(numbers), 0);
    r.file.resize(static_cast<std::size_t>(numbers[0]));
    r.table = numbers[1] != 0;
    r.spans = numbers[2];
    if (!r.file.empty()) control::broadcast(all_ranks(), r.file.data(), r.file.size(), 0);
#endif
    return r;
  }

  /// Returns the request for a part of the program. Collective over all ranks of the job. @throws ostraka::error if MPI
  /// does not run
  [[gnu::cold, gnu::noinline]] static trace_request of_part(std::string file) {
    if (!mpi_runs()) throw_error("trace: MPI is not running; make a trace while an os::environment lives");
    observe_groups();
    require_agreement_to_create("trace");
    // This group shows other ranks that this rank waits here, since they do not see the broadcast. A rank that has left
    // a trace by an exception may be the only one that begins another, while the others are at the end of the first.
    communicator const seen(all_ranks());
    trace_request r = of_this_process();
    r.file = std::move(file);
    r.table = false;
    return of_job(std::move(r));
  }
};

class tracer final : public listener {
 public:
  [[gnu::visibility("default")]] inline static bool traces_all = false;  ///< true if an environment traces the program

  /// Begins to trace. @param together all ranks of the job call it with the same request, and end the trace together;
  /// it is then collective
  [[gnu::cold, gnu::noinline]] tracer(trace_request request, bool together)
      : request_(std::move(request)),
        together_(together),
        here_(find_place_in_job()),
        line_(static_cast<std::size_t>(request_.spans)) {
    if (together_) job_ = communicator(all_ranks());
    if (together_) clock_.first = read_clock(job_);
    number_of_this_thread();
    begin_ = nanoseconds();
    listen(scope::all_threads);
  }
  [[gnu::cold, gnu::noinline]] ~tracer() { leave(); }

  [[gnu::cold, gnu::noinline]] void on_event(event const& e) override {
    if (!computes() || e.dry) return;  // time has no meaning while a program is priced, or on a dry mesh
    if constexpr (has_gpu)
      if (e.kind == event_kind::ends) Kokkos::fence();  // otherwise its kernels would count for later regions
    std::int64_t const now = nanoseconds();
    short_lock const alone(lock_);
    line_.on_event(e, number_of_this_thread(), now);
  }

  /// Returns the table so far: of all ranks on rank 0, empty on other ranks. Collective if the ranks are together.
  [[nodiscard, gnu::cold, gnu::noinline]] std::string table() {
    trace_shares shares = this_rank_so_far();
    if (!together_ || here_.ranks == 1) return shares.describe(rank_name());
    meet();
    if (here_.rank != 0) {
      send(shares.text());
      return "";
    }
    for (int r = 1; r < here_.ranks; ++r) shares.read(receive(r));
    return shares.describe(join_text(here_.ranks, " ranks"));
  }

  /// Stops listening.
  [[gnu::cold, gnu::noinline]] void stop() {
    if (end_ != not_yet) return;
    leave();
    end_ = nanoseconds();
    line_.close(end_);
  }

  /// Ends the trace and writes the requested output. Collective if the ranks are together. With `alone`, for a rank
  /// that leaves the others, it is not: the rank writes a file of its own, as it does if the ranks are not together.
  [[gnu::cold, gnu::noinline]] void write(bool alone = false) {
    stop();
    if (!together_ || (alone && here_.ranks > 1)) return write_own();
    if (request_.table) {
      std::string const text = table();
      std::fputs(text.c_str(), stderr);
    }
    if (request_.file.empty()) return;
    meet();
    clock_.last = read_clock(job_);
    write_all();
  }

 private:
  static constexpr std::int64_t not_yet = -1;

  // Other host threads may be in operations meanwhile.
  [[nodiscard, gnu::cold, gnu::noinline]] trace_shares this_rank_so_far() {
    trace_shares shares;
    short_lock const alone(lock_);
    shares.add(line_, (end_ == not_yet ? nanoseconds() : end_) - begin_);
    return shares;
  }

  [[gnu::cold, gnu::noinline]] void meet() const {
#if OSTRAKA_ENABLE_MPI
    if (here_.ranks == 1) return;
    job_.enter();
    peer_monitor::meet(job_, "a trace");
#endif
  }

  [[gnu::cold, gnu::noinline]] std::string rank_name() const { return join_text("rank ", here_.rank); }

  [[nodiscard, gnu::cold, gnu::noinline]] traced_process process(std::int64_t origin, std::string const& labels) const {
    traced_process p;
    p.number = here_.rank;
    p.name = rank_name();
    p.labels = labels;
    p.origin = origin;
    p.begin = begin_;
    p.end = end_;
    p.clock = clock_;
    return p;
  }

  // Writes the output of this rank alone, with times on its own clock.
  [[gnu::cold, gnu::noinline]] void write_own() {
    if (request_.table) std::fputs(this_rank_so_far().describe(rank_name()).c_str(), stderr);
    if (request_.file.empty()) return;
    clock_ = {};
    std::string const path = join_text(request_.file, ".rank", here_.rank);
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return say("cannot be written", path);
    std::fputs("[\n", file);
    write_events(process(begin_, "by its own clock"), file);
    end_file(file, path, "the times of this rank alone, by its own clock", line_.dropped);
  }

  [[gnu::cold, gnu::noinline]] void write_all() {
    std::int64_t numbers[2] = {begin_, 1};  // the time origin, and 1 if there is a file
    std::FILE* file = nullptr;
    if (here_.rank == 0) {
      file = std::fopen(request_.file.c_str(), "w");
      numbers[1] = file != nullptr ? 1 : 0;
      if (file == nullptr) say("cannot be written", request_.file);
    }
    std::int64_t within = clock_.within(), dropped = line_.dropped;
    job_.carried()->broadcast(numbers, 2, 0);
    job_.carried()->all_reduce(&within, 1, reduction::max);
    job_.carried()->all_reduce(&dropped, 1, reduction::sum);
    if (numbers[1] == 0) return;
    text_buffer labels;
    labels.put("clock within %.1f us of rank 0's", 1e-3 * static_cast<double>(clock_.within()));
    traced_process const mine = process(numbers[0], labels.text);
    if (here_.rank != 0) {
      root_sink to_root(*this);
      trace_text(line_, mine, to_root).write();
      return send("");  // the end
    }
    std::fputs("[\n", file);
    write_events(mine, file);
    for (int r = 1; r < here_.ranks; ++r)
      for (std::string text = receive(r); !text.empty(); text = receive(r))
        std::fwrite(text.data(), 1, text.size(), file);
    text_buffer note;
    note.put("%d rank%s on one clock, within %.1f us", here_.ranks, here_.ranks == 1 ? "" : "s",
             1e-3 * static_cast<double>(within));
    end_file(file, request_.file, note.text, dropped);
  }

  class root_sink final : public text_sink {
   public:
    explicit root_sink(tracer const& t) : t_(t) {}
    void take(std::string const& text) override { t_.send(text); }

   private:
    tracer const& t_;
  };

  [[gnu::cold, gnu::noinline]] void write_events(traced_process const& p, std::FILE* file) {
    file_sink to_file(file);
    trace_text(line_, p, to_file).write();
  }

  // The last event has no comma after it.
  [[gnu::cold, gnu::noinline]] void end_file(std::FILE* file, std::string const& path, std::string const& note,
                                             std::int64_t dropped) const {
    bool const whole = end_trace_file(file, note, here_.rank);
    if (!whole) return say("is not whole: a write failed", path);
    say(join_text("written, ", note), path);
    if (dropped > 0)
      say(join_text(dropped, " later spans found no room and are not in it; OSTRAKA_TRACE_SPANS=", request_.spans,
                    " is what each rank keeps"),
          path);
  }
  [[gnu::cold, gnu::noinline]] static void say(std::string const& what, std::string const& path) {
    std::fprintf(stderr, "ostraka: trace %s: %s\n", path.c_str(), what.c_str());
  }

  // Sends a text, after its length.
  [[gnu::cold, gnu::noinline]] void send(std::string const& text) const {
    carrier::group::requests begun;
    auto const length = static_cast<std::int64_t>(text.size());
    job_.carried()->send(0, tag_of_text, &length, 1, begun);
    job_.carried()->send(0, tag_of_text, reinterpret_cast<std::int8_t const*>(text.data()), length, begun);
    begun.wait();
  }
  [[nodiscard, gnu::cold, gnu::noinline]] std::string receive(int rank) const {
    carrier::group::requests begun;
    std::int64_t length = 0;
    job_.carried()->receive(rank, tag_of_text, &length, 1, begun);
    begun.wait();
    std::string text(static_cast<std::size_t>(length), '\0');
    job_.carried()->receive(rank, tag_of_text, reinterpret_cast<std::int8_t*>(text.data()), length, begun);
    begun.wait();
    return text;
  }
  static constexpr int tag_of_text = 1;

  // The thread that begins is the first.
  [[gnu::visibility("default"), gnu::cold, gnu::noinline]] int number_of_this_thread() {
    static thread_local char place = 0;
    for (std::size_t i = 0; i < threads_.size(); ++i)
      if (threads_[i] == &place) return static_cast<int>(i);
    threads_.push_back(&place);
    return static_cast<int>(threads_.size()) - 1;
  }

  trace_request request_;
  bool together_;
  place_in_job here_;
  communicator job_;
  common_clock clock_{};
  std::int64_t begin_ = 0, end_ = not_yet;
  dynamic_array<char const*> threads_;
  timeline line_;
  std::atomic_flag lock_{};
};

}  // namespace ostraka::engine
