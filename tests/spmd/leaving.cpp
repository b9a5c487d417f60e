// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// One rank leaves while others wait for it, or all do.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <type_traits>

#include <ostraka/seeing/trace.hpp>

#include "scenarios.hpp"

namespace scenarios {

// Layers that communicate along Y, where there is one.
template <class Mesh>
void throw_in_a_layer(Mesh const& mesh) {
  auto const x = os::zeros<float, I, J>(mesh, I = 8, J = 2);
  auto const w = os::zeros<float, L/X, J>(mesh, L = 4, J = 2);
  static_cast<void>(os::pipeline<os::gpipe, L/X, I>(
      os::microbatches = 4,
      [](auto const& h, auto const& v) {
        if (culprit()) throw std::runtime_error("no luck");
        if constexpr (std::is_same_v<Mesh, os::mesh<X_mesh, Y_mesh>>)
          return os::reshard<I, J>(os::reshard<I, J/Y>(os::multiply(h, os::sum<J>(v))));
        else
          return os::multiply(h, os::sum<J>(v));
      },
      x, w));
}

// Only rank 1 leaves before the others: it catches what it threw.
void leave_a_trace() {
  try {
    os::trace const traced("left.trace");
    if (culprit()) throw std::runtime_error("no luck");
  } catch (std::exception const&) {
    std::remove("left.trace.rank1");
    tell_when();
  }
}

scenario_list leaving() {
  return {
    {"nothing", one_does([] {})},
    {"throws", one_does([] { throw std::runtime_error("no luck"); })},
    {"exits", one_does([] { std::exit(3); })},
    {"exits_well", one_does([] { std::exit(0); })},
    {"aborts", one_does([] { std::abort(); })},
    {"is_killed", one_does([] { std::raise(SIGKILL); })},

    {"throws_in_a_body",
     [](os::environment& env) {
       auto const a = os::zeros<float, I/X>(a_line(env.devices()), I = 8);
       tell_when();
       static_cast<void>(os::shard_map<I>([](auto const& block) {
         if (culprit()) throw std::runtime_error("no luck");
         return os::all_gather<I/X>(block);
       }, a));
     }},
    {"throws_in_a_layer",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       tell_when();
       throw_in_a_layer(mesh);
     }},
    {"throws_in_a_layer_and_catches",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       catching([&] { throw_in_a_layer(mesh); });
       work(mesh);
     }},
    {"throws_alone_in_a_layer",  // the other device of its stage waits for it
     [](os::environment& env) {
       auto const mesh = os::make_mesh(X = env.devices() / 2, Y = 2);
       os::engine::patience_after_fault = 1;
       tell_when();
       throw_in_a_layer(mesh);
     }},

    // All ranks, or several, do the same.
    {"all_throw", [](os::environment& env) { disagree(a_line(env.devices())); }},
    {"all_but_rank_1_throw",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       tell_when();
       if (!culprit()) throw std::runtime_error("no luck");
       work(mesh);
     }},
    {"all_throw_differently",
     [](os::environment& env) {
       work(a_line(env.devices()));
       tell_when();
       throw std::runtime_error(culprit() ? "no luck" : "no money");
     }},
    {"all_exit",
     [](os::environment& env) {
       work(a_line(env.devices()));
       tell_when();
       std::exit(3);
     }},
    {"tensors_outlive_it",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       survivor = os::zeros<float, I/X, J>(mesh, I = 8, J = 6);
       new auto(os::zeros<float, I, J>(mesh, I = 8, J = 6));  // a leak is no survivor
     }},
    {"tensors_are_let_go",
     [](os::environment& env) {
       survivor = os::zeros<float, I/X, J>(a_line(env.devices()), I = 8, J = 6);
       survivor = {};
     }},

    {"returns",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       if (culprit()) return tell_when();
       work(mesh);
     }},
    {"returns_traced",  // as "returns", by a variable of main's
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       if (culprit()) return tell_when();
       work(mesh);
     }},
    {"returns_from_a_trace",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       os::trace const traced("/dev/null");
       if (culprit()) return tell_when();
       work(mesh);
     }},
    {"leaves_a_trace_and_returns",  // by an exception that it catches
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       work(mesh);
       leave_a_trace();
     }},
    {"leaves_a_trace_and_works",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       leave_a_trace();
       work(mesh);
     }},
    {"leaves_a_trace_and_traces",
     [](os::environment& env) {
       work(a_line(env.devices()));
       leave_a_trace();
       os::trace const another("");
     }},
    {"returns_before_a_trace",
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       work(mesh);
       if (culprit()) return tell_when();
       os::trace const traced("/dev/null");
     }},
    {"returns_before_a_mesh",
     [](os::environment& env) {
       work(a_line(env.devices()));
       if (culprit()) return tell_when();
       work(a_line(env.devices()));
     }},
    {"returns_before_a_group",  // which its column makes when it first needs it
     [](os::environment& env) {
       auto const mesh = os::make_mesh(X = 2, Y = env.devices() / 2);
       if (culprit()) return tell_when();
       static_cast<void>(os::all_gather<X>(os::zeros<float, I/X, J>(mesh, I = 8, J = 6)));
     }},
  };
}

}  // namespace scenarios
