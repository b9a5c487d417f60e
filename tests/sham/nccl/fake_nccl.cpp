// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// NCCL's functions on the sham device, made of MPI and loops: a group's messages, and each collective, go into the
/// device's queue, so that they see what earlier kernels wrote and nothing later. Memory that is not the device's is
/// reported. Sums are in the reverse order of ranks, which is not ours.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <nccl.h>

#include "support/sham/device.hpp"

struct ncclComm {
  MPI_Comm comm = MPI_COMM_NULL;
  int ranks = 1;
  int rank = 0;
};

namespace {

struct message {
  void* data;
  int bytes;
  int peer;
  MPI_Comm comm;
  bool sent;
};

int depth = 0;
std::vector<message> posted;
int made = 0;  // by this process as the first of a group

void exchange(std::vector<message> const& all) {
  std::vector<MPI_Request> requests;
  for (message const& m : all) {
    requests.push_back(MPI_REQUEST_NULL);
    if (m.sent)
      MPI_Isend(m.data, m.bytes, MPI_BYTE, m.peer, 0, m.comm, &requests.back());
    else
      MPI_Irecv(m.data, m.bytes, MPI_BYTE, m.peer, 0, m.comm, &requests.back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

int bytes_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
      return 4;
    default:
      return 8;
  }
}

ncclResult_t post(message const& m) {
  sham::require_device_memory(m.data, "NCCL");
  ncclGroupStart();
  posted.push_back(m);
  return ncclGroupEnd();
}

template <class T>
void reduce(std::vector<char> const& all, int ranks, std::size_t count, ncclRedOp_t how, void* to) {
  T const* const from = reinterpret_cast<T const*>(all.data());
  for (std::size_t i = 0; i < count; ++i) {
    T sum = from[static_cast<std::size_t>(ranks - 1) * count + i];
    for (int r = ranks - 2; r >= 0; --r) {
      T const x = from[static_cast<std::size_t>(r) * count + i];
      sum = how == ncclSum    ? static_cast<T>(sum + x)
            : how == ncclProd ? static_cast<T>(sum * x)
            : how == ncclMax  ? std::max(sum, x)
                              : std::min(sum, x);
    }
    static_cast<T*>(to)[i] = sum;
  }
}

}  // namespace

extern "C" {

char const* ncclGetErrorString(ncclResult_t result) { return result == ncclSuccess ? "no error" : "an error"; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int const words[] = {rank, ++made};
  std::memcpy(id->internal, words, sizeof words);
  return ncclSuccess;
}

// Ranks of the job are found through the first one: it and each other member exchange their numbers. MPI makes a group
// of known members only, so the first tells all of them who they are.
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  int words[2];
  std::memcpy(words, id.internal, sizeof words);
  int const tag = 20000 + words[1];
  int me = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  std::vector<int> members(static_cast<std::size_t>(ranks));
  if (rank == 0) {
    members[0] = me;
    for (int r = 1; r < ranks; ++r) {
      MPI_Status status;
      int number = 0;
      MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
      members[static_cast<std::size_t>(number)] = status.MPI_SOURCE;
    }
    for (int r = 1; r < ranks; ++r)
      MPI_Send(members.data(), ranks, MPI_INT, members[static_cast<std::size_t>(r)], tag, MPI_COMM_WORLD);
  } else {
    MPI_Send(&rank, 1, MPI_INT, words[0], tag, MPI_COMM_WORLD);
    MPI_Recv(members.data(), ranks, MPI_INT, words[0], tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Group world, some;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, ranks, members.data(), &some);
  *comm = new ncclComm{MPI_COMM_NULL, ranks, rank};
  MPI_Comm_create_group(MPI_COMM_WORLD, some, tag, &(*comm)->comm);
  MPI_Group_free(&some);
  MPI_Group_free(&world);
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  sham::fence("ncclCommDestroy");
  MPI_Comm_free(&comm->comm);
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  if (--depth == 0 && !posted.empty())
    sham::launch("a group of NCCL", [all = std::exchange(posted, {})] { exchange(all); });
  return ncclSuccess;
}

ncclResult_t ncclSend(void const* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t) {
  return post({const_cast<void*>(data), static_cast<int>(count) * bytes_of(type), peer, comm->comm, true});
}

ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t) {
  return post({data, static_cast<int>(count) * bytes_of(type), peer, comm->comm, false});
}

ncclResult_t ncclBroadcast(void const* from, void* to, std::size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t) {
  if (from != to) return ncclInvalidArgument;
  sham::require_device_memory(to, "NCCL");
  sham::launch("ncclBroadcast",
               [=, mpi = comm->comm] { MPI_Bcast(to, static_cast<int>(count) * bytes_of(type), MPI_BYTE, root, mpi); });
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(void const* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t how,
                           ncclComm_t comm, cudaStream_t) {
  if (type != ncclFloat32 && type != ncclFloat64 && type != ncclInt32 && type != ncclInt64) return ncclInvalidArgument;
  sham::require_device_memory(to, "NCCL");
  sham::launch("ncclAllReduce", [=, mpi = comm->comm, ranks = comm->ranks] {
    int const bytes = static_cast<int>(count) * bytes_of(type);
    std::vector<char> all(static_cast<std::size_t>(bytes) * static_cast<std::size_t>(ranks));
    MPI_Allgather(from, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, mpi);
    switch (type) {
      case ncclFloat32:
        return reduce<float>(all, ranks, count, how, to);
      case ncclFloat64:
        return reduce<double>(all, ranks, count, how, to);
      case ncclInt32:
        return reduce<std::int32_t>(all, ranks, count, how, to);
      default:
        return reduce<std::int64_t>(all, ranks, count, how, to);
    }
  });
  return ncclSuccess;
}
}
