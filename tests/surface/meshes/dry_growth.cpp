// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The work of pricing an operation does not grow with the devices: a plan is lowered once, and a clock gets equal
/// parts at once, on one level and on nodes. Other listeners get each part, and a clock that does so has the same time
/// to the last bit.
// ranks: 1
// sham:

#include <doctest/doctest.h>

#include <cstdint>

#include <ostraka/algebra/einsum.hpp>
#include <ostraka/creation/zeros.hpp>
#include <ostraka/engine/run/known_schedule.hpp>
#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/foresight/time_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/moves/reshard.hpp>

namespace os = ostraka;
namespace engine = ostraka::engine;

namespace {

OSTRAKA_AXIS(row);
OSTRAKA_AXIS(column);
OSTRAKA_AXIS(inner);
OSTRAKA_MESH_AXIS(P);
OSTRAKA_MESH_AXIS(Q);

using mesh_of_two = os::mesh<P_mesh, Q_mesh>;

/// Gets every event one by one.
class patient final : public engine::listener {
 public:
  patient() { listen(scope::this_thread); }
  void on_event(engine::event const& e) override {
    ++events;
    clock.on_event(e);
  }

  std::int64_t events = 0;
  engine::machine_clock clock{os::machines::h100};
};

/// Gets equal events at once, as os::time_of does.
class brief final : public engine::listener {
 public:
  brief() { listen(scope::this_thread); }
  void on_event(engine::event const& e) override {
    ++events;
    ++calls;
    clock.on_event(e);
  }
  void on_events(engine::event const& e, std::int64_t times) override {
    events += times;
    ++calls;
    clock.on_events(e, times);
  }
  void on_events(engine::event starts, engine::event, engine::event finishes, std::int64_t times) override {
    events += 3 * times;
    ++calls;
    clock.on_events(starts, finishes, times);
  }

  std::int64_t events = 0, calls = 0;
  engine::machine_clock clock{os::machines::h100};
};

// Calls of a listener for f, priced, after it has been priced before.
template <class F>
std::int64_t calls_for(mesh_of_two const& m, F const& f) {
  static_cast<void>(os::cost_of(m, f));
  std::int64_t const lowered = engine::lowered_schedules;
  patient each;
  brief some;
  for (int i = 0; i < 3; ++i) static_cast<void>(os::cost_of(m, f));
  CHECK(engine::lowered_schedules == lowered);
  CHECK(some.events == each.events);
  CHECK(some.clock.now() == each.clock.now());
  CHECK(some.clock.computing() == each.clock.computing());
  CHECK(some.clock.waiting() == each.clock.waiting());
  CHECK(some.clock.communicating() == each.clock.communicating());
  CHECK(some.clock.by_kind().size() == each.clock.by_kind().size());
  return some.calls;
}

// Uneven parts, of half as many rows as there are devices along P: a gather, an exchange, an all-to-all, and products
// whose results are scattered and summed.
std::int64_t calls_on(mesh_of_two const& m) {
  std::int64_t const n = m.size(P) / 2;
  std::int64_t calls = 0;
  static_cast<void>(os::cost_of(m, [&] {
    auto const a = os::zeros<float, row/P, column>(m, row = n, column = 4096);
    auto const b = os::zeros<float, row, inner/P>(m, row = 3 * n, inner = n);
    auto const c = os::zeros<float, inner/P, column>(m, inner = n, column = 4096);
    calls += calls_for(m, [&] { static_cast<void>(os::reshard<row, column>(a)); });
    calls += calls_for(m, [&] { static_cast<void>(os::reshard<row/Q, column>(a)); });
    calls += calls_for(m, [&] { static_cast<void>(os::reshard<row, column/P>(a)); });
    calls += calls_for(m, [&] { static_cast<void>(os::einsum<row/P, column>(b, c)); });
    calls += calls_for(m, [&] { static_cast<void>(os::einsum<row, column>(b, c)); });
  }));
  return calls;
}

}  // namespace

TEST_CASE("what pricing does does not grow with the devices") {
  std::int64_t const few = calls_on(os::dry_mesh(os::as_device(127), P = 64, Q = 2));
  CHECK(few > 0);
  CHECK(calls_on(os::dry_mesh(os::as_device(1023), P = 512, Q = 2)) == few);
  CHECK(calls_on(os::dry_mesh(os::as_device(8191), P = 4096, Q = 2)) == few);
}

TEST_CASE("nor does it on nodes") {
  auto const on_nodes = [](int p) {
    return calls_on(os::dry_mesh(os::as_device(2 * p - 1), os::within_node(P = 4, Q = 2), P = p, Q = 2));
  };
  std::int64_t const few = on_nodes(64);
  CHECK(on_nodes(512) == few);
  CHECK(on_nodes(4096) == few);
}
