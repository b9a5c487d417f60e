// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The parts that the scenarios share: axes, meshes, correct work that needs all ranks, and rank 1 as the culprit.

#include <ostraka/ostraka.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(L);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);

namespace os = ostraka;

namespace scenarios {

inline void pause_ms(int n) { std::this_thread::sleep_for(std::chrono::milliseconds(n)); }

inline int rank_of_job() {
  int r = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r;
}

inline bool culprit() { return rank_of_job() == 1; }

// The script takes the time from here.
inline void tell_when() {
  auto const now = std::chrono::system_clock::now().time_since_epoch();
  std::printf("at %lld us\n",
              static_cast<long long>(std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
  std::fflush(stdout);
  pause_ms(100);  // so that the launcher has read it
}

inline auto a_line(int ranks) { return os::make_mesh(X = ranks); }

// The work of all ranks: it needs all of them, and is correct.
template <class Mesh>
void work(Mesh const& mesh) {
  auto const a = os::generate<std::int64_t, I/X>(mesh, I = 11, KOKKOS_LAMBDA(std::int64_t i) { return i + 1; });
  if (os::value(os::sum<>(a)) != 66) throw std::logic_error("a wrong sum");
}

// All ranks report the error that they caught, and continue.
template <class F>
void catching(F const& f) {
  try {
    f();
    std::printf("nothing caught\n");
  } catch (os::error const& e) {
    std::printf("caught: %s\n", e.what());
  }
  std::fflush(stdout);
}

// Before any communication, on all ranks alike.
template <class Mesh>
void disagree(Mesh const& mesh) {
  auto const a = os::zeros<float, I, J/X>(mesh, I = 8, J = 7);
  auto const b = os::zeros<float, J/X, K>(mesh, J = 6, K = 2);
  static_cast<void>(os::einsum<I, K>(a, b));
}

using scenario = std::function<void(os::environment&)>;

// Rank 1 does this while the others work.
inline scenario one_does(std::function<void()> const& act) {
  return [act](os::environment& env) {
    auto const mesh = a_line(env.devices());
    work(mesh);
    if (culprit()) {
      tell_when();
      act();
    }
    work(mesh);
  };
}

/// By name.
using scenario_list = std::map<std::string, scenario>;

scenario_list leaving();       // one rank leaves, or all do
scenario_list calling();       // one rank calls something else
scenario_list first_runs();    // … and only the first run of a call is compared
scenario_list waiting();       // one rank is in MPI, computes, or is slow
scenario_list host_threads();  // operations by several threads of a rank

/// A tensor that outlives its environment.
inline os::tensor<float, I/X, J> survivor;

}  // namespace scenarios
