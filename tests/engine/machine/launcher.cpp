// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A program of one MPI under the launcher of another: the launchers' variables, and the message about them. tests/spmd
/// has programs that are started in this way.
// ranks: 1 2

#include <doctest/doctest.h>

#include <map>
#include <string>

#include <ostraka/engine/machine/launcher.hpp>

#include "support/mpi_main.hpp"

namespace e = ostraka::engine;

namespace {

e::launcher_facts facts_from(std::map<std::string, std::string> const& variables) {
  return e::launcher_of([&](char const* name) {
    auto const found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("launchers are known by their variables") {
  CHECK(facts_from({}).processes == 1);
  CHECK(facts_from({}).name.empty());
  CHECK(facts_from({{"PMI_RANK", "3"}}).name.empty());
  CHECK(facts_from({{"PMI_SIZE", ""}}).name.empty());
  CHECK(facts_from({{"PMI_SIZE", "many"}}).name.empty());

  e::launcher_facts const open_mpi = facts_from({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "2"}});
  CHECK(open_mpi.name == "Open MPI");
  CHECK(open_mpi.variable == "OMPI_COMM_WORLD_SIZE");
  CHECK(open_mpi.processes == 4);
  CHECK(open_mpi.rank == 2);

  e::launcher_facts const mpich = facts_from({{"PMI_SIZE", "3"}});
  CHECK(mpich.name == "MPICH or Slurm");
  CHECK(mpich.processes == 3);
  CHECK(mpich.rank == 0);
}

TEST_CASE("what is wrong is that several were started and each is alone") {
  e::launcher_facts const four = facts_from({{"OMPI_COMM_WORLD_SIZE", "4"}});
  CHECK(
      e::launcher_mismatch(four, 1, "MPICH") ==
      "a launcher starts the ranks of one job, but the launcher of Open MPI started 4 processes "
      "(OMPI_COMM_WORLD_SIZE) and each is a job of one rank of MPICH; start the program with the mpiexec of the MPICH "
      "that it was compiled with");
  CHECK(e::launcher_mismatch(four, 1, "") ==
        "a launcher starts the ranks of one job, but the launcher of Open MPI started 4 processes "
        "(OMPI_COMM_WORLD_SIZE) and each is a job of one rank without MPI; compile the program with "
        "OSTRAKA_ENABLE_MPI=ON, or start one process");
  CHECK(e::launcher_mismatch(four, 4, "Open MPI").empty());
  CHECK(e::launcher_mismatch(four, 2, "Open MPI").empty());  // a job that was split by hand
  CHECK(e::launcher_mismatch(facts_from({{"PMI_SIZE", "1"}}), 1, "Open MPI").empty());
  CHECK(e::launcher_mismatch(facts_from({}), 1, "Open MPI").empty());
}

TEST_CASE("this test was started as it should be") {
  CHECK(e::launcher_mismatch().empty());
  CHECK(e::mpi_of_this_program().empty() == (OSTRAKA_ENABLE_MPI == 0));
}
