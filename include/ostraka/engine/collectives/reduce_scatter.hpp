// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Reduce-scatter: the members' arrays are reduced and each keeps its part. A[I, J]{U_X} -> A[I_X, J].

#include <ostraka/engine/collectives/message.hpp>
#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/update.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/plan/lowering/memory_use.hpp>

namespace ostraka::engine {

namespace detail {

#if OSTRAKA_ENABLE_MPI

/// The pairwise algorithm: everyone sends everyone its part, in pieces; while one piece is reduced the next travels.
/// `sent` counts what lies at `send`, where the own part may be left out: then the others' are reduced alone.
template <class T>
class pairwise_reduction {
 public:
  pairwise_reduction(communicator const& members, T const* send, counts_view counts, counts_view sent, reduction how)
      : members_(members),
        send_(send),
        counts_(counts),
        at_(offsets_of(sent)),
        how_(how),
        with_own_(sent[me()] == counts[me()]) {
    piece_ = std::min(chunk_limit, planner::piece_of_reduction(peers()));
    longest_ = *std::max_element(counts.begin(), counts.end());
  }

  void run(T* recv, update<T> const& into) {
    std::int64_t const room = std::min(piece_, counts_[me()]) * peers();
    scratch<T, Kokkos::HostSpace> const even(room);
    scratch<T, Kokkos::HostSpace> const odd(room);
    T* const arriving[2] = {even.data(), odd.data()};
    messages even_messages(members_);
    messages odd_messages(members_);
    messages* const pending[2] = {&even_messages, &odd_messages};

    start(0, arriving[0], *pending[0]);
    for (std::int64_t begin = 0, turn = 0; begin < longest_; begin += piece_, turn ^= 1) {
      start(begin + piece_, arriving[turn ^ 1], *pending[turn ^ 1]);
      pending[turn]->wait();
      reduce(begin, arriving[turn], recv, into);
    }
  }

 private:
  int peers() const { return members_.size() - 1; }
  std::size_t me() const { return static_cast<std::size_t>(members_.rank()); }
  bool leaves_out(int d) const { return d == members_.rank() && !with_own_; }
  int first_summand() const { return leaves_out(0) ? 1 : 0; }

  /// Elements of member d's part in the piece that begins here.
  std::int64_t length(std::size_t d, std::int64_t begin) const {
    return std::max<std::int64_t>(0, std::min(piece_, counts_[d] - begin));
  }

  void start(std::int64_t begin, T* arriving, messages& pending) const {
    int const n = members_.size();
    for (int step = 1; step < n; ++step) {
      int const before = (members_.rank() + n - step) % n;
      int const after = (members_.rank() + step) % n;
      std::size_t const target = static_cast<std::size_t>(after);
      int const slot = before < members_.rank() ? before : before - 1;
      pending.receive(before, arriving + slot * length(me(), begin), length(me(), begin));
      pending.send(after, send_ + at_[target] + begin, length(target, begin));
    }
  }

  /// In member order, whichever arrived first: the result depends on the values and the mesh alone.
  void reduce(std::int64_t begin, T const* arriving, T* recv, update<T> const& into) const {
    std::int64_t const count = length(me(), begin);
    T const* const own = send_ + at_[me()] + begin;
    if constexpr (is_narrow<T>) return reduce_as_floats(count, arriving, own, recv + begin, into);
    int const first = first_summand();
    for (int d = first; d < members_.size(); ++d) {
      if (leaves_out(d)) continue;
      T const* const part = d == members_.rank() ? own : arriving + (d < members_.rank() ? d : d - 1) * count;
      if (d == first)
        into.write(recv + begin, 1, part, count);
      else if (into.alpha == T(1))
        combine_run(how_, recv + begin, part, count);
      else
        update<T>{into.alpha, T(1)}.write(recv + begin, 1, part, count);
    }
  }

  /// The same, rounded once.
  void reduce_as_floats(std::int64_t count, T const* arriving, T const* own, T* recv, update<T> const& into) const {
    constexpr std::int64_t run = 256;
    float sums[run];
    float part[run];
    for (std::int64_t begin = 0; begin < count; begin += run) {
      std::int64_t const n = std::min(run, count - begin);
      int const first = first_summand();
      for (int d = first; d < members_.size(); ++d) {
        if (leaves_out(d)) continue;
        T const* const from =
            (d == members_.rank() ? own : arriving + (d < members_.rank() ? d : d - 1) * count) + begin;
        float* const to = d == first ? sums : part;
        for (std::int64_t i = 0; i < n; ++i) to[i] = float(from[i]);
        if (d != first) combine_run(how_, sums, static_cast<float const*>(part), n);
      }
      into.write(recv + begin, 1, sums, n);
    }
  }

  communicator const& members_;
  T const* send_;
  counts_view counts_;
  short_array<std::int64_t> at_;
  reduction how_;
  bool with_own_;
  std::int64_t piece_;
  std::int64_t longest_;
};

#endif

}  // namespace detail

/// recv gets the reduction over the members of part `rank` of their send arrays, which hold the parts in member order;
/// counts are the same on all members. Reduced in member order, so equal runs give equal bits. No overlap of send and
/// recv. With `into`, a sum is added to what recv holds.
template <class T>
void reduce_scatter(communicator const& members, T const* send, T* recv, counts_view counts, reduction how,
                    update<T> const& into = {}) {
  require_reducible<T>(how);
  if (members.size() == 1) {
    into.write(recv, 1, send, counts[0]);
    return;
  }
  members.enter();
#if OSTRAKA_ENABLE_MPI
  detail::pairwise_reduction<T>(members, send, counts, counts, how).run(recv, into);
#endif
}

/// The sum over the other members of part `rank`, parts being of `count` elements each; `send` has the parts for the
/// others in member order, without the own one between them. As reduce_scatter else. @pre more than one member
template <class T>
void reduce_scatter_of_others(communicator const& members, [[maybe_unused]] T const* send, [[maybe_unused]] T* recv,
                              [[maybe_unused]] std::int64_t count, [[maybe_unused]] update<T> const& into = {}) {
  members.enter();
#if OSTRAKA_ENABLE_MPI
  if (members.size() == 2 && into.overwrites()) {
    detail::messages pending(members);
    pending.receive(1 - members.rank(), recv, count);
    pending.send(1 - members.rank(), send, count);
    return;
  }
  std::size_t const n = static_cast<std::size_t>(members.size());
  short_array<std::int64_t> const counts(n, [&](std::size_t) { return count; });
  short_array<std::int64_t> const sent(
      n, [&](std::size_t d) { return d == static_cast<std::size_t>(members.rank()) ? 0 : count; });
  if (count > 0) detail::pairwise_reduction<T>(members, send, counts, sent, reduction::sum).run(recv, into);
#endif
}

}  // namespace ostraka::engine
