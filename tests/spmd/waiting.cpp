// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// One rank is in a call of MPI of the program's own, computes, or is slow, while others wait for it.

#include <chrono>
#include <cstdint>

#include "scenarios.hpp"

namespace {

int milliseconds_of_reduction = 0;  // that an all-reduce takes at least, as if over a slow network

}  // namespace

// In MPI all the time.
extern "C" int MPI_Allreduce(void const* send, void* receive, int count, MPI_Datatype type, MPI_Op operation,
                             MPI_Comm comm) {
  double const end = MPI_Wtime() + milliseconds_of_reduction / 1000.0;
  for (int flag = 0; MPI_Wtime() < end;) MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  return PMPI_Allreduce(send, receive, count, type, operation, comm);
}

namespace scenarios {

scenario_list waiting() {
  return {
    {"is_slow", one_does([] { pause_ms(2500); })},
    {"is_slow_alone",  // the others are at the end
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       work(mesh);
       if (culprit()) pause_ms(2500);
     }},

    {"is_in_a_barrier",  // of the program's own
     one_does([] { MPI_Barrier(MPI_COMM_WORLD); })},
    {"receives",  // from rank 0, which waits for it
     one_does([] { MPI_Recv(nullptr, 0, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); })},
    {"computes",  // and calls MPI now and then
     one_does([] {
       auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
       for (int flag = 0; std::chrono::steady_clock::now() < end; pause_ms(50))
         MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
     })},
    {"waits_for_who_computes",  // the last rank, in MPI: lawful
     [](os::environment& env) {
       auto const mesh = a_line(env.devices());
       int const last = env.devices() - 1;
       if (culprit()) MPI_Recv(nullptr, 0, MPI_BYTE, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
       if (rank_of_job() == last) {
         pause_ms(5000);
         MPI_Send(nullptr, 0, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
       }
       work(mesh);
     }},
    {"waits_for_long_operations",  // rows whose devices differ in how long theirs take: lawful
     [](os::environment& env) {
       auto const mesh = os::make_mesh(X = env.devices() / 2, Y = 2);
       auto const a = os::generate<std::int64_t, I/X, J/Y>(mesh, I = 5, J = 3,
                                                           [](std::int64_t i, std::int64_t j) { return 10 * i + j; });
       if (mesh.coordinate(X) == 1) milliseconds_of_reduction = 6000;
       auto const rows = os::sum<I/X>(a);
       milliseconds_of_reduction = 0;
       static_cast<void>(os::all_gather<X>(rows));
     }},
    {"many_wait_for_a_barrier",  // groups of several meshes' axes, each with one that asks
     [](os::environment&) {
       auto const mesh = os::make_mesh(X = 2, Y = 2, Z = 2);
       auto const a = os::zeros<float, I/X, J/Y, K/Z>(mesh, I = 4, J = 4, K = 4);
       if (rank_of_job() == 0) {
         tell_when();
         MPI_Barrier(MPI_COMM_WORLD);
       }
       static_cast<void>(os::all_gather<X>(a));
       static_cast<void>(os::all_gather<Y>(a));
       static_cast<void>(os::all_gather<Z>(a));
     }},
  };
}

}  // namespace scenarios
