// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The timeline of a device on a machine that is not available. It gets the events of this host thread, and
/// times them with the machine's clock (engine/record/machine_clock.hpp).

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <ostraka/engine/record/machine_clock.hpp>
#include <ostraka/engine/trace/shares.hpp>
#include <ostraka/engine/trace/timeline.hpp>
#include <ostraka/engine/trace/trace_text.hpp>
#include <ostraka/plan/hardware/machine_data.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::engine {

class predicted_timeline final : public listener {
 public:
  predicted_timeline(planner::machine const& m, std::size_t most_spans) : clock_(m), line_(most_spans) {
    listen(scope::this_thread);
  }
  ~predicted_timeline() { leave(); }

  void on_event(event const& e) override {
    double const before = clock_.now();
    // A region begins before the time that the machine adds for an operation.
    if (e.kind == event_kind::begins) line_.on_event(e, 0, as_nanoseconds(before));
    clock_.on_event(e);
    if (e.kind == event_kind::finishes)
      line_.finish(e, 0, as_nanoseconds(clock_.last_collective().begin), as_nanoseconds(clock_.last_collective().end),
                   as_nanoseconds(clock_.now()) - as_nanoseconds(before));
    else if (e.kind != event_kind::begins)
      line_.on_event(e, 0, as_nanoseconds(before));
  }

  /// @throws ostraka::error if times on such a mesh cannot be predicted
  void check(std::string_view operation, mesh_axes const* mesh) const { clock_.check(operation, mesh); }

  /// Stops listening.
  void end() {
    leave();
    line_.close(as_nanoseconds(clock_.now()));
  }

  [[nodiscard]] std::string table(std::string const& who) const {
    trace_shares shares;
    shares.add(line_, as_nanoseconds(clock_.now()));
    return shares.describe(who);
  }

  /// Writes the timeline to a file. False if it cannot be written.
  [[nodiscard]] bool write(std::string const& path, int device, std::string const& where) const {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    traced_process p;
    p.number = device;
    p.name = join_text("device ", device, " of ", where);
    p.labels = "predicted";
    p.end = as_nanoseconds(clock_.now());
    file_sink to_file(file);
    to_file.take("[\n");
    trace_text(line_, p, to_file).write();
    return end_trace_file(file, join_text("predicted, ", p.name), device);
  }

 private:
  static std::int64_t as_nanoseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e9 + 0.5); }

  machine_clock clock_;
  timeline line_;
};

}  // namespace ostraka::engine
