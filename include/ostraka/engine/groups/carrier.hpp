// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The interface to communication: the requirements on a back end, which carries messages between the
/// processes of a job. Collectives, meshes and schedules use only this interface, and name no library. A back end is a
/// struct in engine/carriers/, chosen here at compile time: MPI, or without it one process. If OSTRAKA_CARRIER is a
/// header, in quotation marks, that header defines the carrier. docs/design/communication.md.

#include <concepts>
#include <cstdint>

#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/machine/mpi.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/types/support/dynamic_array.hpp>
#include <ostraka/types/values/reduction.hpp>

#if defined(OSTRAKA_CARRIER)
#  ifdef OSTRAKA_COMPILED
#    error "ostraka: ostraka::compiled was compiled with another carrier than OSTRAKA_CARRIER; link ostraka::ostraka"
#  endif
#  include OSTRAKA_CARRIER
#elif OSTRAKA_ENABLE_NCCL
#  ifdef OSTRAKA_COMPILED
#    error "ostraka: ostraka::compiled was compiled without NCCL; link ostraka::ostraka"
#  endif
#  include <ostraka/engine/carriers/nccl_carrier.hpp>
namespace ostraka::engine {
using carrier = nccl_carrier;
}
#elif OSTRAKA_ENABLE_MPI
#  include <ostraka/engine/carriers/mpi_carrier.hpp>
namespace ostraka::engine {
using carrier = mpi_carrier;
}
#else
#  include <ostraka/engine/carriers/one_process.hpp>
namespace ostraka::engine {
using carrier = one_process;
}
#endif

namespace ostraka::engine {

/// Ordered processes: all of a program's communicator, or some of another set. In processes(all, {3, 1}), number 3 of
/// `all` is the first.
template <class P>
concept ProcessSet = requires(P const& set, native_communicator theirs, dynamic_array<int> const& numbers) {
  P(theirs);
  P(set, numbers);
  { set.size() } -> std::same_as<int>;
  { set.numbers_in(set) } -> std::same_as<dynamic_array<int>>;  // the number of each in another set; -1 for none
};

/// Calls in flight. wait() returns when all of them are done; test() lets them progress, and is true once all are done.
template <class R>
concept CarrierRequests = std::default_initializable<R> && requires(R& begun) {
  begun.wait();
  { begun.test() } -> std::same_as<bool>;
};

/// Processes with messages of their own; this process has number rank(). A group is constructed from a handle, which
/// can be copied, and ends the handle when it is destroyed. A default-constructed group carries nothing, and no
/// function of it is called.
///
/// Point to point: messages between two members with the same tag arrive in the order in which they were sent. Until
/// the requests are done, the sender does not change its data, and the receiver does not access its buffer. A member
/// sends only messages that another receives. A block in host memory is passed without a copy.
///
/// Collectives: all members call them in the same order. Calls with requests return at once. Elements are in memory
/// that the back end takes; counts sum to at most chunk_limit.
template <class G, class T>
concept CarriesElements =
    requires(G const& group, typename G::requests& with, T* data, T const* from, std::int64_t count,
             strided const& block, counts_view const& counts, reduction how, int member, int tag) {
      group.send(member, tag, from, count, with);
      group.receive(member, tag, data, count, with);
      group.send(member, tag, from, block, with);
      group.receive(member, tag, data, block, with);
      group.broadcast(data, count, member);  // data of member `member` → data of all
      group.broadcast(data, count, member, with);
      group.all_reduce(data, count, how);  // if the carrier reduces such elements
      group.all_reduce(data, count, how, with);
      group.all_gather(from, data, count);  // `count` of each member; from may be this member's part of data
      group.all_gather(data, counts);       // this member's part is in place
      group.gather(from, data, counts, member);
      group.scatter(from, data, counts, member);
      group.all_to_all(from, data, count);  // `count` for each member
    };

template <class G, class Processes>
concept CarrierGroup =
    CarrierRequests<typename G::requests> && std::copyable<typename G::handle> && CarriesElements<G, float> &&
    std::default_initializable<G> && std::constructible_from<G, typename G::handle> &&
    requires(G const& group, native_communicator theirs, Processes const& some, int number) {
      { group.size() } -> std::same_as<int>;
      { group.rank() } -> std::same_as<int>;
      { group.members() } -> std::same_as<Processes>;
      { group.native() } -> std::same_as<native_communicator>;          // the program's handle of the same processes
      { G::duplicate_of(theirs) } -> std::same_as<typename G::handle>;  // of the same processes; collective
      { group.duplicate() } -> std::same_as<typename G::handle>;        // the same
      { group.split(number, number) } -> std::same_as<typename G::handle>;  // by colour, in order of keys; collective
      { group.split_by_machine() } -> std::same_as<typename G::handle>;     // by shared memory; collective
      { group.part(some) } -> std::same_as<typename G::handle>;             // collective over these alone
      group.barrier();
    };

/// A back end. reduces<T>(how) is true if its all_reduce returns the same bits on all members. Otherwise the engine
/// adds in member order.
template <class C>
concept Carrier = ProcessSet<typename C::processes> && CarrierGroup<typename C::group, typename C::processes> &&
                  std::same_as<decltype(C::template reduces<float>(reduction::sum)), bool>;

static_assert(Carrier<carrier>);

/// Groups that also carry arrays in the memory of Exec, in the order of an instance: the work of the instance before a
/// step is done when the step's messages leave, and its work after the step sees the data that have arrived. The host
/// waits for neither. Messages between begin_step and end_step leave together; members call the steps and collectives
/// of a group in the same order, and messages between two of them match in that order.
template <class G, class Exec>
concept CarriesInOrder = requires(G const& group, Exec const& exec, void* data, std::int64_t bytes, int member,
                                  float* elements, reduction how) {
  group.begin_step();
  group.send(exec, member, static_cast<void const*>(data), bytes);
  group.receive(exec, member, data, bytes);
  group.end_step();
  group.broadcast(exec, data, bytes, member);
  { G::template reduces_in_order<float>(how) } -> std::same_as<bool>;  // if asked to: the order of sums is its own
  group.all_reduce(exec, elements, bytes, how);
};

}  // namespace ostraka::engine
