// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Somebody leaves while others wait for it, or all do.

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "scenarios.hpp"

namespace scenarios {

scenario_list leaving() {
  return {
    {"nothing", one_does([] {})},
    {"throws", one_does([] { throw std::runtime_error("no luck"); })},
    {"exits", one_does([] { std::exit(3); })},
    {"exits_well", one_does([] { std::exit(0); })},
    {"aborts", one_does([] { std::abort(); })},
    {"is_killed", one_does([] { std::raise(SIGKILL); })},

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
