// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. MPI as the carrier of messages (groups/carrier.hpp has the requirements). A group is an MPI communicator,
/// and each function is a call of MPI.

#include <ostraka/engine/machine/mpi.hpp>

#if OSTRAKA_ENABLE_MPI

#  include <cstddef>
#  include <cstdint>

#  include <ostraka/engine/carriers/block_types.hpp>
#  include <ostraka/engine/carriers/message_types.hpp>
#  include <ostraka/engine/carriers/mpi_processes.hpp>
#  include <ostraka/engine/carriers/reduced_by_mpi.hpp>
#  include <ostraka/engine/kernels/loops/loop_nest.hpp>
#  include <ostraka/engine/machine/job_of_mpi.hpp>
#  include <ostraka/engine/memory/short_array.hpp>
#  include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// Calls in flight.
class mpi_requests {
 public:
  mpi_requests() = default;
  mpi_requests(mpi_requests const&) = delete;
  mpi_requests& operator=(mpi_requests const&) = delete;

  /// Waits until all calls are done.
  void wait() {
    if (!all_.empty()) MPI_Waitall(static_cast<int>(all_.size()), all_.data(), MPI_STATUSES_IGNORE);
    all_.clear();
  }

  /// Lets the calls progress. True if all of them are done.
  bool test() {
    if (all_.empty()) return true;
    int done = 0;
    MPI_Testall(static_cast<int>(all_.size()), all_.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) all_.clear();
    return done != 0;
  }

  /// Returns a request for the next call.
  MPI_Request* next() { return &all_.push_back(MPI_REQUEST_NULL); }

 private:
  short_array<MPI_Request, 64> all_;
};

/// An MPI communicator of our own. The destructor frees it, unless MPI has ended.
class mpi_group {
 public:
  using handle = MPI_Comm;
  using requests = mpi_requests;

  mpi_group() = default;

  // An error returned on one device only would hang the others, whatever handler the user's communicator has.
  explicit mpi_group(MPI_Comm ours) : comm_(ours) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_ARE_FATAL);
    size_ = size_of(comm_);
    MPI_Comm_rank(comm_, &rank_);
  }
  mpi_group(mpi_group const&) = delete;
  mpi_group& operator=(mpi_group const&) = delete;
  [[gnu::cold]] ~mpi_group() {
    if (comm_ != MPI_COMM_NULL && !mpi_has_ended()) MPI_Comm_free(&comm_);
  }

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] mpi_processes members() const { return mpi_processes(comm_); }
  [[nodiscard]] MPI_Comm native() const { return comm_; }

  static MPI_Comm duplicate_of(MPI_Comm theirs) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(theirs, &made);
    return made;
  }
  [[nodiscard]] MPI_Comm duplicate() const { return duplicate_of(comm_); }
  [[nodiscard]] MPI_Comm split(int colour, int key) const {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_split(comm_, colour, key, &made);
    return made;
  }
  [[nodiscard]] MPI_Comm split_by_machine() const {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    return made;
  }
  [[nodiscard]] MPI_Comm part(mpi_processes const& some) const {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_create_group(comm_, some.group(), 0, &made);
    return made;
  }

  template <class T>
  void send(int to, int tag, T const* data, std::int64_t count, mpi_requests& with) const {
    MPI_Isend(data, static_cast<int>(count), detail::message_type<T>(), to, tag, comm_, with.next());
  }
  template <class T>
  void receive(int from, int tag, T* data, std::int64_t count, mpi_requests& with) const {
    MPI_Irecv(data, static_cast<int>(count), detail::message_type<T>(), from, tag, comm_, with.next());
  }
  template <class T>
  void send(int to, int tag, T const* data, strided const& block, mpi_requests& with) const {
    MPI_Isend(data, 1, type_of<T>(block), to, tag, comm_, with.next());
  }
  template <class T>
  void receive(int from, int tag, T* data, strided const& block, mpi_requests& with) const {
    MPI_Irecv(data, 1, type_of<T>(block), from, tag, comm_, with.next());
  }

  void barrier() const { MPI_Barrier(comm_); }

  template <class T>
  void broadcast(T* data, std::int64_t count, int root) const {
    MPI_Bcast(data, static_cast<int>(count), detail::message_type<T>(), root, comm_);
  }
  template <class T>
  void broadcast(T* data, std::int64_t count, int root, mpi_requests& with) const {
    MPI_Ibcast(data, static_cast<int>(count), detail::message_type<T>(), root, comm_, with.next());
  }

  template <class T>
  void all_reduce(T* data, std::int64_t count, reduction how) const {
    MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count), detail::message_type<T>(), detail::operation_of(how),
                  comm_);
  }
  template <class T>
  void all_reduce(T* data, std::int64_t count, reduction how, mpi_requests& with) const {
    MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count), detail::message_type<T>(), detail::operation_of(how),
                   comm_, with.next());
  }

  template <class T>
  void all_gather(T const* send, T* recv, std::int64_t each) const {
    MPI_Datatype const type = detail::message_type<T>();
    int const count = static_cast<int>(each);
    MPI_Allgather(send == recv + rank_ * each ? MPI_IN_PLACE : send, count, type, recv, count, type, comm_);
  }
  template <class T>
  void all_gather(T* recv, counts_view const& counts) const {
    MPI_Datatype const type = detail::message_type<T>();
    uneven const parts(counts);
    MPI_Allgatherv(MPI_IN_PLACE, own(parts), type, recv, parts.count.data(), parts.place.data(), type, comm_);
  }
  template <class T>
  void gather(T const* send, T* recv, counts_view const& counts, int root) const {
    MPI_Datatype const type = detail::message_type<T>();
    uneven const parts(counts);
    MPI_Gatherv(send, own(parts), type, recv, parts.count.data(), parts.place.data(), type, root, comm_);
  }
  template <class T>
  void scatter(T const* send, T* recv, counts_view const& counts, int root) const {
    MPI_Datatype const type = detail::message_type<T>();
    uneven const parts(counts);
    MPI_Scatterv(send, parts.count.data(), parts.place.data(), type, recv, own(parts), type, root, comm_);
  }
  template <class T>
  void all_to_all(T const* send, T* recv, std::int64_t each) const {
    MPI_Datatype const type = detail::message_type<T>();
    MPI_Alltoall(send, static_cast<int>(each), type, recv, static_cast<int>(each), type, comm_);
  }

 private:
  /// Counts and offsets in the form that MPI takes.
  struct uneven {
    short_array<int> count;
    short_array<int> place;
    explicit uneven(counts_view const& counts)
        : count(counts.size(), [&](std::size_t d) { return static_cast<int>(counts[d]); }),
          place(counts.size(), [&, next = 0](std::size_t d) mutable {
            int const begin = next;
            next += static_cast<int>(counts[d]);
            return begin;
          }) {}
  };
  [[nodiscard]] int own(uneven const& parts) const { return parts.count[static_cast<std::size_t>(rank_)]; }

  template <class T>
  MPI_Datatype type_of(strided const& block) const {
    return types_.of(block, detail::message_type<T>(), MPI_Aint{sizeof(T)});
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int size_ = 1;
  int rank_ = 0;
  mutable block_types types_{};
};

struct mpi_carrier {
  using processes = mpi_processes;
  using group = mpi_group;

  template <class T>
  static constexpr bool reduces(reduction how) {
    return reduced_by_mpi<T>(how);
  }
};

}  // namespace ostraka::engine

#endif
