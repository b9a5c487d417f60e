// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// An MPI that does nothing: this process is device 0 of a mesh of four, two along each of its two axes, and all sends
/// and waits complete at once, so an operation's time is Ostraka's alone. Include it in one file of a program: it
/// defines MPI's functions. MPI_COMM_WORLD has one rank, so that no rank is monitored; its duplicate has four ranks,
/// and the parts of the duplicate have two.

#include <cstring>

#include <ostraka/engine/machine/mpi.hpp>

namespace bench {

inline long mpi_calls = 0;

inline int devices_of(MPI_Comm comm) { return comm == MPI_COMM_WORLD ? 1 : comm == MPI_COMM_SELF ? 4 : 2; }

}  // namespace bench

extern "C" {

int MPI_Initialized(int* yes) {
  *yes = 1;
  return MPI_SUCCESS;
}
int MPI_Finalized(int* yes) {
  *yes = 0;
  return MPI_SUCCESS;
}
int MPI_Query_thread(int* level) { return *level = MPI_THREAD_SERIALIZED, MPI_SUCCESS; }
int MPI_Comm_size(MPI_Comm comm, int* size) { return *size = bench::devices_of(comm), MPI_SUCCESS; }
int MPI_Comm_rank(MPI_Comm, int* rank) { return *rank = 0, MPI_SUCCESS; }
int MPI_Comm_dup(MPI_Comm, MPI_Comm* copy) { return *copy = MPI_COMM_SELF, MPI_SUCCESS; }
int MPI_Comm_split(MPI_Comm, int, int, MPI_Comm* part) { return *part = MPI_COMM_NULL, MPI_SUCCESS; }
// A node has one rank.
int MPI_Comm_split_type(MPI_Comm, int, int, MPI_Info, MPI_Comm* node) { return *node = MPI_COMM_WORLD, MPI_SUCCESS; }
int MPI_Comm_free(MPI_Comm*) { return MPI_SUCCESS; }
int MPI_Comm_group(MPI_Comm, MPI_Group* group) { return *group = MPI_GROUP_EMPTY, MPI_SUCCESS; }
int MPI_Group_incl(MPI_Group, int, int const*, MPI_Group* some) { return *some = MPI_GROUP_EMPTY, MPI_SUCCESS; }
int MPI_Group_free(MPI_Group*) { return MPI_SUCCESS; }
int MPI_Group_size(MPI_Group, int* size) { return *size = 1, MPI_SUCCESS; }  // called only for MPI_COMM_WORLD
int MPI_Comm_create_group(MPI_Comm, MPI_Group, int, MPI_Comm* part) { return *part = MPI_COMM_NULL, MPI_SUCCESS; }
int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler) { return MPI_SUCCESS; }

// The only function that delivers data: making a mesh needs what it gathers. All ranks send the same.
int MPI_Allgather(void const* send, int, MPI_Datatype type, void* recv, int count, MPI_Datatype, MPI_Comm comm) {
  ++bench::mpi_calls;
  if (type == MPI_INT64_T)
    for (int d = 0; d < bench::devices_of(comm); ++d)
      std::memcpy(static_cast<long long*>(recv) + d * count, send, static_cast<unsigned>(count) * sizeof(long long));
  return MPI_SUCCESS;
}
int MPI_Allgatherv(void const*, int, MPI_Datatype, void*, int const*, int const*, MPI_Datatype, MPI_Comm) {
  return ++bench::mpi_calls, MPI_SUCCESS;
}
int MPI_Allreduce(void const*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) { return ++bench::mpi_calls, MPI_SUCCESS; }
int MPI_Reduce_scatter(void const*, void*, int const*, MPI_Datatype, MPI_Op, MPI_Comm) {
  return ++bench::mpi_calls, MPI_SUCCESS;
}
int MPI_Reduce_scatter_block(void const*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) {
  return ++bench::mpi_calls, MPI_SUCCESS;
}
int MPI_Alltoall(void const*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm) {
  return ++bench::mpi_calls, MPI_SUCCESS;
}
int MPI_Alltoallv(void const*, int const*, int const*, MPI_Datatype, void*, int const*, int const*, MPI_Datatype,
                  MPI_Comm) {
  return ++bench::mpi_calls, MPI_SUCCESS;
}
int MPI_Type_create_hvector(int, int, MPI_Aint, MPI_Datatype of, MPI_Datatype* type) { return *type = of, MPI_SUCCESS; }
int MPI_Type_contiguous(int, MPI_Datatype of, MPI_Datatype* type) { return *type = of, MPI_SUCCESS; }
int MPI_Type_commit(MPI_Datatype*) { return MPI_SUCCESS; }
int MPI_Type_free(MPI_Datatype*) { return MPI_SUCCESS; }
int MPI_Irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) { return ++bench::mpi_calls, MPI_SUCCESS; }
int MPI_Isend(void const*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) {
  return ++bench::mpi_calls, MPI_SUCCESS;
}
int MPI_Sendrecv(void const*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*) {
  return ++bench::mpi_calls, MPI_SUCCESS;
}
int MPI_Testall(int, MPI_Request*, int* flag, MPI_Status*) {
  *flag = 1;
  return ++bench::mpi_calls, MPI_SUCCESS;
}
int MPI_Wait(MPI_Request*, MPI_Status*) { return ++bench::mpi_calls, MPI_SUCCESS; }
int MPI_Waitall(int, MPI_Request*, MPI_Status*) { return ++bench::mpi_calls, MPI_SUCCESS; }

}  // extern "C"
