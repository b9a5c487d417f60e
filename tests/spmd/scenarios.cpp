// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Programs that go wrong on one rank, and some that only seem to; the argument names the scenario. CMakeLists.txt
/// beside it has the expected end of each. Rank 1 is the culprit, and reports the moment.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "scenarios.hpp"

namespace {

// Before MPI has begun.
bool is_launched_as_rank_1() {
  for (char const* variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (char const* const said = std::getenv(variable)) return std::string(said) == "1";
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace scenarios;
  scenario_list all{{"nothing", one_does([] {})}};
  for (auto part : {leaving(), calling(), first_runs(), waiting(), host_threads()}) all.merge(part);
  std::string const name = argc > 1 ? argv[1] : "";
  if (name == "returns_traced") ::setenv("OSTRAKA_TRACE_SUMMARY", "1", 1);
  if (name == "throws_and_catches" ||
      name == "all_throw_and_catch") {  // outside of the environment, which the exception destroys
    try {
      os::environment env(argc, argv);
      all.at(name == "throws_and_catches" ? "throws" : "all_throw")(env);
    } catch (std::exception const& e) {
      std::printf("caught outside: %s\n", e.what());
      return 0;
    }
  } else if (name == "goes_on_after_the_end" || name == "asks_after_the_end") {
    {
      os::environment env(argc, argv);
      all.at("tensors_outlive_it")(env);
    }
    if (name == "goes_on_after_the_end") static_cast<void>(os::all_gather<X>(survivor));
    catching([] { static_cast<void>(os::all_gather<X>(survivor)); });
    catching([] { static_cast<void>(os::map(KOKKOS_LAMBDA(float v) { return v; }, survivor)); });
    catching([] { static_cast<void>(a_line(1)); });
    catching([&] { os::environment const again(argc, argv); });
  } else if (name == "finalizes" || name == "adopts") {  // MPI that is not ours
    MPI_Init(&argc, &argv);
    {
      os::environment env(argc, argv);
      if (name == "finalizes") all.at("returns")(env);
      std::printf("%d threads\n", static_cast<int>(Kokkos::DefaultHostExecutionSpace().concurrency()));
    }
    MPI_Finalize();
  } else if (name == "adopts_unlike_threads") {  // rank 1 asks MPI for several, the others for one
    int given = 0;
    MPI_Init_thread(&argc, &argv, is_launched_as_rank_1() ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED, &given);
    {
      os::environment env(argc, argv);
      all.at(name)(env);
    }
    MPI_Finalize();
  } else if (name.rfind("threads", 0) == 0) {
    os::environment env(argc, argv, os::threads::multiple);  // MPI_THREAD_MULTIPLE; os::error if MPI does not give it
    all.at(name)(env);
  } else {
    os::environment env(argc, argv);
    all.at(name)(env);
  }
  std::printf("done\n");
}
