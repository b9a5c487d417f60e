// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The events that listeners get of operations, on meshes of ranks and on dry ones: regions with names, plans and
/// numbers, computations, and collectives from their start until the wait for them has ended.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/engine/record/events.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/ostraka.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;
using os::engine::event;
using os::engine::event_kind;

namespace {

struct heard_event {
  event what;
  std::string name, plan;
};

class keeps_all final : public os::engine::listener {
 public:
  explicit keeps_all(bool of_all_threads = false) { listen(of_all_threads ? scope::all_threads : scope::this_thread); }
  void on_event(event const& e) override { events.push_back({e, std::string(e.name), std::string(e.plan)}); }

  [[nodiscard]] heard_event const* find(std::string const& begin) const {
    auto const found = std::find_if(events.begin(), events.end(),
                                    [&](heard_event const& h) { return h.name.compare(0, begin.size(), begin) == 0; });
    return found == events.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::int64_t count(event_kind kind) const {
    return std::count_if(events.begin(), events.end(), [&](heard_event const& h) { return h.what.kind == kind; });
  }

  std::vector<heard_event> events;
};

template <class Mesh>
void hears_a_product(Mesh const& mesh, int devices) {
  auto const a = os::random<double, I, J/X>(mesh, I = 8, J = 12);
  auto const b = os::random<double, J/X, K>(mesh, J = 12, K = 16);
  keeps_all const listening;
  auto const c = os::einsum<I/X, K>(a, b);
  auto const* const einsum = listening.find("ostraka einsum C[I_X, K] = A[I, J_X] · B[J_X, K], moves ");
  REQUIRE(einsum != nullptr);
  std::int64_t const moves = 8 * 16 * 8 * (devices - 1) / devices;
  CHECK(einsum->what.bytes == moves);
  CHECK(einsum->plan == "contract, reduce_scatter<X>");
  CHECK(einsum->what.region == os::engine::region_kind::operation);
  auto const* const step = listening.find("ostraka contract");
  REQUIRE(step != nullptr);
  CHECK(step->what.region == os::engine::region_kind::step);
  std::int64_t flops = 0, memory = 0;
  for (heard_event const& h : listening.events) flops += h.what.kind == event_kind::computes ? h.what.flops : 0;
  for (heard_event const& h : listening.events) memory += h.what.memory;
  CHECK(flops == 2 * 8 * 12 * 16 / devices);
  CHECK(memory >= (8 * 12 / devices + 12 * 16 / devices + 8 * 16) * 8);
  CHECK(listening.count(event_kind::begins) == listening.count(event_kind::ends));
  CHECK(listening.count(event_kind::starts) == (devices > 1 ? 1 : 0));
  CHECK(listening.count(event_kind::finishes) == (devices > 1 ? 1 : 0));
  for (heard_event const& h : listening.events) {
    if (h.what.kind != event_kind::finishes) continue;
    CHECK(h.what.how == os::engine::collective::reduce_scatter);
    CHECK(h.what.bytes == moves);
    CHECK(h.what.members == devices);
    REQUIRE(h.what.mesh != nullptr);
    CHECK(std::vector<std::string>(h.what.mesh->names.begin(), h.what.mesh->names.end()) ==
          std::vector<std::string>{"X", "Y"});
    CHECK(h.what.mesh->sizes[0] == devices);
    CHECK(h.what.mesh->device == mesh.device());
    CHECK(h.what.mesh->dry == os::is_dry(mesh));
    CHECK(h.what.over == 1u);
  }
}

}  // namespace

TEST_CASE("an einsum on ranks, and on a dry mesh") {
  int const p = t::ranks();
  hears_a_product(os::make_mesh(X = p, Y = 1), p);
  hears_a_product(os::dry_mesh(X = 4, Y = 1), 4);
}

TEST_CASE("who has left hears nothing, and several hear the same") {
  auto const mesh = os::dry_mesh(X = 4);
  auto const a = os::zeros<float, I/X, J>(mesh, I = 8, J = 12);
  CHECK(!os::engine::has_listeners());
  {
    keeps_all const one;
    keeps_all const all(true);
    static_cast<void>(os::reshard<I, J>(a));
    CHECK(one.events.size() == all.events.size());
    CHECK(one.find("ostraka reshard") != nullptr);
    CHECK(one.find("ostraka all_gather<X>, moves 288 B") != nullptr);
  }
  CHECK(!os::engine::has_listeners());
}

TEST_CASE("what is in flight starts before, and finishes after what is done meanwhile") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::random<float, I/X, J>(mesh, I = 8, J = 12);
  keeps_all const listening;
  auto gathered = os::start_reshard<I, J>(a);
  auto const meanwhile = os::map([](float v) { return 2 * v; }, a);
  auto const whole = std::move(gathered).wait();
  auto const at = [&](auto const& is) {
    return std::find_if(listening.events.begin(), listening.events.end(), is) - listening.events.begin();
  };
  auto const map = at([](heard_event const& h) { return h.name.rfind("ostraka map", 0) == 0; });
  auto const resumed = at([](heard_event const& h) { return h.what.resumed; });
  CHECK(map < resumed);
  CHECK(resumed < static_cast<std::ptrdiff_t>(listening.events.size()));
  if (t::ranks() == 1) return;
  CHECK(at([](heard_event const& h) { return h.what.kind == event_kind::starts; }) < map);
  CHECK(at([](heard_event const& h) { return h.what.kind == event_kind::finishes; }) > map);
}

TEST_CASE("on two levels, each step is waited for once") {
  auto const mesh = os::dry_mesh(os::devices_per_node(2), X = 6);
  auto const a = os::zeros<double, I/X, J>(mesh, I = 96, J = 96);
  auto const b = os::zeros<double, I, J/X>(mesh, I = 96, J = 96);
  keeps_all const listening;
  static_cast<void>(os::reshard<I, J>(a));
  static_cast<void>(os::einsum<I, J>(a, b));
  for (heard_event const& f : listening.events) {
    if (f.what.kind != event_kind::finishes) continue;
    CHECK(std::count_if(listening.events.begin(), listening.events.end(), [&](heard_event const& h) {
            return h.what.kind == event_kind::waits && h.what.number == f.what.number;
          }) == 1);
  }
  CHECK(std::any_of(listening.events.begin(), listening.events.end(),
                    [](heard_event const& h) { return h.what.level == os::engine::mesh_level::between_nodes; }));
}
