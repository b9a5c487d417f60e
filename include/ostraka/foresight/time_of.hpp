// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The time that a part of a program would take on a machine, which need not be available: seconds of local
/// work and of collectives, by mesh axes, with overlap. Works on a mesh of devices and on a dry mesh.
///
///     auto const mesh = os::dry_mesh(X = 256, Y = 8);
///     os::predicted_time const t = os::time_of(mesh, os::machines::h100.with("X", os::machines::h100_network), step);
///     t.seconds, t.computing, t.waiting, t.seconds_over(X), t.seconds_of(os::collective_kind::all_gather)

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/record/machine_clock.hpp>
#include <ostraka/foresight/machine.hpp>
#include <ostraka/foresight/priced_run.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka {

/// Kinds of collectives, as a predicted time distinguishes them.
using collective_kind = engine::collective;

/// The time that a part of a program would take on a device of a machine.
template <MeshAxis... Ms>
struct predicted_time {
  double seconds = 0;        ///< from beginning to end: computing + waiting
  double computing = 0;      ///< local work, and the overhead of operations
  double waiting = 0;        ///< for communication that no work overlaps
  double communicating = 0;  ///< in all collectives, overlapped or not

  /// The part of `communicating` in collectives over exactly this set of mesh axes.
  template <MeshAxis... Along>
  [[nodiscard]] double seconds_over(Along...) const {
    std::uint32_t const asked = detail::bits_on_mesh(type_list<Ms...>{}, Along{}...);
    double sum = 0;
    for (engine::machine_clock::collectives const& c : by_kind) sum += c.over == asked ? c.seconds : 0;
    return sum;
  }

  /// The part of `communicating` in collectives of one kind: all_gather, reduce_scatter, all_reduce (if MPI does it as
  /// one; else it counts as the other two), exchange (all-to-alls), permute, halo, …
  [[nodiscard]] double seconds_of(collective_kind how) const {
    double sum = 0;
    for (engine::machine_clock::collectives const& c : by_kind) sum += c.how == how ? c.seconds : 0;
    return sum;
  }

  dynamic_array<engine::machine_clock::collectives> by_kind{};  ///< and by bits of mesh axes
};

namespace detail {

class listening_clock final : public engine::listener {
 public:
  explicit listening_clock(machine const& m) : clock(m) { listen(scope::this_thread); }
  ~listening_clock() { leave(); }
  void on_event(engine::event const& e) override { clock.on_event(e); }
  void on_events(engine::event const& e, std::int64_t times) override { clock.on_events(e, times); }
  void on_events(engine::event starts, engine::event, engine::event finishes, std::int64_t times) override {
    clock.on_events(starts, finishes, times);
  }

  engine::machine_clock clock;
};

}  // namespace detail

/// The time that f() would take on a machine whose devices are those of the mesh. f runs: on a dry mesh as in
/// os::cost_of, without computing; on a mesh of devices as usual, where its real time differs. This is a model: peaks
/// and published rates give the least time that a machine can take, rates from bench/calibrate the time that it does
/// take (docs/design/hardware.md). Not collective by itself.
/// @throws ostraka::error, before f runs, if a number of the machine is negative, or if the links along a mesh axis of
/// several devices are not given
template <MeshAxis... Ms, class F>
[[nodiscard]] predicted_time<Ms...> time_of(mesh<Ms...> const& m, machine const& on, F&& f) {
  detail::listening_clock listener(on);
  engine::mesh_axes const* const own = m.handle()->world().mesh();
  listener.clock.check("time_of", own);
  detail::run_priced(m, f);
  engine::machine_clock const& c = listener.clock;
  predicted_time<Ms...> t{c.now(), c.computing(), c.waiting(), c.communicating()};
  for (engine::machine_clock::collectives const& each : c.by_kind())
    if (each.mesh == own && own != nullptr) t.by_kind.push_back(each);
  return t;
}

}  // namespace ostraka
