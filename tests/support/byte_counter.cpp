// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Floor 0 of the tests: replaces the MPI functions that the library calls by functions that count and pass on to PMPI.
/// A function that is missing here moves bytes unseen; a test that compares with a plan then fails, since the plan has
/// them.

#include "support/byte_counter.hpp"

#include <cstddef>
#include <cstring>

#if OSTRAKA_ENABLE_MPI
#include <mpi.h>

namespace {

ostraka::testing::traffic counted;
long communicators = 0;

std::int64_t bytes_in(std::int64_t count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return count * size;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  return size;
}

void count(std::int64_t bytes) {
  counted.bytes += bytes;
  ++counted.calls;
}

// The number of elements that come from other ranks, in a buffer of parts of these lengths.
std::int64_t from_others(int const* counts, MPI_Comm comm) {
  std::int64_t elements = 0;
  for (int d = 0; d < size_of(comm); ++d)
    if (d != rank_in(comm)) elements += counts[d];
  return elements;
}

}  // namespace

extern "C" {

int MPI_Isend(void const* data, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  count(to == rank_in(comm) ? 0 : bytes_in(elements, type));
  return PMPI_Isend(data, elements, type, to, tag, comm, request);
}

int MPI_Send(void const* data, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  count(to == rank_in(comm) ? 0 : bytes_in(elements, type));
  return PMPI_Send(data, elements, type, to, tag, comm);
}

int MPI_Allgather(void const* send, int sent, MPI_Datatype send_type, void* recv, int received, MPI_Datatype recv_type,
                  MPI_Comm comm) {
  count(bytes_in(std::int64_t(received) * (size_of(comm) - 1), recv_type));
  return PMPI_Allgather(send, sent, send_type, recv, received, recv_type, comm);
}

int MPI_Allgatherv(void const* send, int sent, MPI_Datatype send_type, void* recv, int const* received,
                   int const* places, MPI_Datatype recv_type, MPI_Comm comm) {
  count(bytes_in(from_others(received, comm), recv_type));
  return PMPI_Allgatherv(send, sent, send_type, recv, received, places, recv_type, comm);
}

int MPI_Allreduce(void const* send, void* recv, int elements, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  count(rank_in(comm) == 0 ? 2 * (size_of(comm) - 1) * bytes_in(elements, type) : 0);
  return PMPI_Allreduce(send, recv, elements, type, operation, comm);
}

int MPI_Reduce_scatter_block(void const* send, void* recv, int received, MPI_Datatype type, MPI_Op operation,
                             MPI_Comm comm) {
  count(bytes_in(std::int64_t(received) * (size_of(comm) - 1), type));
  return PMPI_Reduce_scatter_block(send, recv, received, type, operation, comm);
}

int MPI_Alltoall(void const* send, int sent, MPI_Datatype send_type, void* recv, int received, MPI_Datatype recv_type,
                 MPI_Comm comm) {
  count(bytes_in(std::int64_t(received) * (size_of(comm) - 1), recv_type));
  return PMPI_Alltoall(send, sent, send_type, recv, received, recv_type, comm);
}

int MPI_Sendrecv(void const* send, int sent, MPI_Datatype send_type, int to, int send_tag, void* recv, int received,
                 MPI_Datatype recv_type, int from, int recv_tag, MPI_Comm comm, MPI_Status* status) {
  count(to == rank_in(comm) ? 0 : bytes_in(sent, send_type));
  return PMPI_Sendrecv(send, sent, send_type, to, send_tag, recv, received, recv_type, from, recv_tag, comm, status);
}

int MPI_Gatherv(void const* send, int sent, MPI_Datatype send_type, void* recv, int const* received, int const* places,
                MPI_Datatype recv_type, int root, MPI_Comm comm) {
  count(rank_in(comm) == root ? bytes_in(from_others(received, comm), recv_type) : 0);
  return PMPI_Gatherv(send, sent, send_type, recv, received, places, recv_type, root, comm);
}

int MPI_Scatterv(void const* send, int const* sent, int const* places, MPI_Datatype send_type, void* recv, int received,
                 MPI_Datatype recv_type, int root, MPI_Comm comm) {
  count(rank_in(comm) == root ? bytes_in(from_others(sent, comm), send_type) : 0);
  return PMPI_Scatterv(send, sent, places, send_type, recv, received, recv_type, root, comm);
}

int MPI_Bcast(void* data, int elements, MPI_Datatype type, int root, MPI_Comm comm) {
  count(rank_in(comm) == root ? (size_of(comm) - 1) * bytes_in(elements, type) : 0);
  return PMPI_Bcast(data, elements, type, root, comm);
}

int MPI_Iallreduce(void const* send, void* recv, int elements, MPI_Datatype type, MPI_Op operation, MPI_Comm comm,
                   MPI_Request* request) {
  count(rank_in(comm) == 0 ? 2 * (size_of(comm) - 1) * bytes_in(elements, type) : 0);
  return PMPI_Iallreduce(send, recv, elements, type, operation, comm, request);
}

int MPI_Ibcast(void* data, int elements, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  count(rank_in(comm) == root ? (size_of(comm) - 1) * bytes_in(elements, type) : 0);
  return PMPI_Ibcast(data, elements, type, root, comm, request);
}

// These move nothing that a plan counts, but an operation that is to fail before it communicates must not reach them.
int MPI_Barrier(MPI_Comm comm) {
  count(0);
  return PMPI_Barrier(comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* duplicate) {
  count(0);
  ++communicators;
  return PMPI_Comm_dup(comm, duplicate);
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm* part) {
  count(0);
  ++communicators;
  return PMPI_Comm_split(comm, colour, key, part);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part) {
  count(0);
  ++communicators;
  return PMPI_Comm_split_type(comm, type, key, info, part);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* part) {
  ++communicators;
  return PMPI_Comm_create_group(comm, group, tag, part);
}

int MPI_Comm_free(MPI_Comm* comm) {
  --communicators;
  return PMPI_Comm_free(comm);
}

}  // extern "C"

namespace ostraka::testing {

traffic traffic_so_far() { return counted; }

long communicators_alive() { return communicators; }

traffic sum_over_ranks(traffic mine) {
  std::int64_t sums[2] = {mine.bytes, mine.calls};
  PMPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return {sums[0], sums[1]};
}

std::vector<std::int64_t> numbers_of_ranks(std::int64_t mine) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
  PMPI_Allgather(&mine, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, MPI_COMM_WORLD);
  return all;
}

std::vector<std::vector<char>> bytes_of_ranks(std::vector<char> const& mine) {
  std::vector<int> lengths;
  std::vector<int> places;
  int total = 0;
  for (std::int64_t n : numbers_of_ranks(static_cast<std::int64_t>(mine.size()))) {
    lengths.push_back(static_cast<int>(n));
    places.push_back(total);
    total += static_cast<int>(n);
  }
  std::vector<char> together(static_cast<std::size_t>(total));
  PMPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, together.data(), lengths.data(), places.data(),
                  MPI_BYTE, MPI_COMM_WORLD);
  std::vector<std::vector<char>> all;
  for (std::size_t d = 0; d < lengths.size(); ++d)
    all.emplace_back(together.begin() + places[d], together.begin() + places[d] + lengths[d]);
  return all;
}

}  // namespace ostraka::testing

#else

namespace ostraka::testing {

traffic traffic_so_far() { return {}; }
long communicators_alive() { return 0; }
traffic sum_over_ranks(traffic mine) { return mine; }
std::vector<std::int64_t> numbers_of_ranks(std::int64_t mine) { return {mine}; }
std::vector<std::vector<char>> bytes_of_ranks(std::vector<char> const& mine) { return {mine}; }

}  // namespace ostraka::testing

#endif
