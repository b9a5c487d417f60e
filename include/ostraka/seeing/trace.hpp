// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A part of a program as a timeline, for Perfetto and chrome://tracing: of all ranks on one clock, or of a
/// machine that is not available. OSTRAKA_TRACE=file traces a whole program without changes to it (docs/traces.md).
///
///     {
///       os::trace const traced("step.json");
///       os::trace_region const forward("forward");
///       …
///     }                                              rank 0 writes step.json
///     os::trace_of(os::dry_mesh(X = 256), os::machines::h100, step, "step_on_256.json");

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/engine/trace/predicted_timeline.hpp>
#include <ostraka/engine/trace/tracer.hpp>
#include <ostraka/foresight/machine.hpp>
#include <ostraka/foresight/priced_run.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

/// Records what all ranks do during its lifetime; at its end rank 0 writes the file. Collective over all ranks of the
/// job at its beginning and its end; no other host thread may be in an operation then. If an exception ends the scope,
/// each rank writes a file of its own, `file.rank3`, and does not wait for others.
class trace {
 public:
  /// Rank 0's file name counts. If it is empty, no file is written: use that for os::trace_summary.
  /// @throws ostraka::error if MPI is not running
  explicit trace(std::string file) : tracer_(engine::trace_request::of_part(std::move(file)), true) {}
  ~trace() { tracer_.write(std::uncaught_exceptions() > in_flight_); }
  trace(trace const&) = delete;
  trace& operator=(trace const&) = delete;

 private:
  friend std::string trace_summary(trace const& t);

  int in_flight_ = std::uncaught_exceptions();
  mutable engine::tracer tracer_;
};

/// The time spent so far, and the part of it spent waiting for messages: a line for each outermost operation and each
/// os::trace_region, summed over all ranks. On rank 0; empty elsewhere. Collective over all ranks of the job.
[[nodiscard]] inline std::string trace_summary(trace const& t) { return t.tracer_.table(); }

/// A named part of the program, in traces and for tools of Kokkos.
class trace_region {
 public:
  explicit trace_region(std::string const& name)
      : region_([&] {
          engine::event e;
          e.region = engine::region_kind::program;
          engine::push_named(name, e);
        }) {}

 private:
  engine::profiled region_;
};

/// Writes what f() would do on a machine whose devices are those of the mesh, seen from this process' device, and
/// returns the table. Times are those of os::time_of. On a dry mesh nothing is computed during the call (os::cost_of).
/// Not collective by itself.
/// @param file  empty: no file is written
/// @throws ostraka::error if the file cannot be written, and before f runs for a machine that os::time_of refuses
template <MeshAxis... Ms, class F>
std::string trace_of(mesh<Ms...> const& m, machine const& on, F&& f, std::string const& file) {
  engine::predicted_timeline timeline(on, static_cast<std::size_t>(engine::trace_request::of_this_process().spans));
  timeline.check("trace_of", m.handle()->world().mesh());
  detail::run_priced(m, f);
  timeline.end();
  if (!file.empty() && !timeline.write(file, m.device(), join_text(m.handle()->describe(), " on ", on.name.view())))
    throw_error("trace_of: ", file, " cannot be written; give a path where files may be made");
  return timeline.table(join_text("device ", m.device(), " of ", m.handle()->describe()));
}

}  // namespace ostraka
