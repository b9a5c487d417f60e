// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Reduce-scatter: reduces the members' arrays, and each member gets its part of the result. A[I, J]{U_X} ->
/// A[I_X, J]. It begins, and is finished later; in between, a device may compute and begin other collectives.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/collectives/combine_members.hpp>
#include <ostraka/engine/groups/device_messages.hpp>
#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/plan/decisions/machine_constants.hpp>

namespace ostraka::engine {

/// The parts in the array that a member sends: for all members, or for all but itself.
enum class parts_sent : std::uint8_t { all, all_but_own };

/// The total bytes of the pieces in flight to a device whose kernels reduce them: a GPU starts a kernel in the time in
/// which it adds some hundred KB. Tests lower it.
[[gnu::visibility("default")]] inline std::int64_t bytes_arriving_on_gpu = 8 << 20;

/// A reduce-scatter in flight. Each member sends each other its part, in pieces; while one piece is reduced the next
/// travels. Members begin the collectives of a group in the same order, and finish them in the same order. In between,
/// do not change the data sent, and do not access the memory received.
template <class T, class Arrays = host_arrays>
class reduce_scatter_in_flight {
 public:
  /// Sets the arrays, pieces included. Call it before the reduce-scatter begins, unless the arrays are on the host.
  void on(Arrays& arrays) {
    pending_[0].on(arrays);
    pending_[1].on(arrays);
  }

  /// Returns the number of elements to allocate for arriving pieces, if this member's part has `own` elements and the
  /// longest part `longest`.
  static std::int64_t pieces_of(communicator const& members, std::int64_t own, std::int64_t longest,
                                mpi_calls calls = mpi_calls::blocking) {
    std::int64_t const peers = members.size() - 1;
    return peers == 0 ? 0 : 2 * peers * std::min(own, piece_of(peers, longest, calls));
  }
  static std::int64_t pieces_of(communicator const& members, std::int64_t own) { return pieces_of(members, own, own); }

  /// recv gets the reduction over the members of part `rank` of their send arrays, which hold the parts in member
  /// order; counts are the same on all members. If the own part is left out, only the others' are reduced. It reduces
  /// in member order, so equal runs give equal bits. send and recv do not overlap. With `into`, a sum is added to the
  /// contents of recv. `pieces` has pieces_of(members, counts[rank], the longest, calls) elements, and like counts it
  /// stays until the end. With `tag`, it is a part of a collective that has begun.
  [[gnu::cold]] void begin(communicator const& members, T const* send, T* recv, counts_view const& counts, T* pieces,
                           reduction how, update<T> const& into = {}, parts_sent sent = parts_sent::all,
                           mpi_calls calls = mpi_calls::blocking, int tag = new_tag) {
    require_reducible<T>(how);
    if (members.size() == 1) {
      return write_own(send, recv, counts[0], into);
    }
    int const its_tag = tag_of_collective(members, tag);
    counted_.begin(members, collective::reduce_scatter);
    pending_[0].begin(members, its_tag, counted_);
    pending_[1].begin(members, pending_[0].tag(), counted_);
    with_own_ = sent == parts_sent::all;
    if (arrives_in_place(members, sent, into)) {  // the sum of one part is that part
      pending_[0].receive(1 - members.rank(), recv, counts[static_cast<std::size_t>(members.rank())]);
      pending_[0].send(1 - members.rank(), send, counts[static_cast<std::size_t>(1 - members.rank())]);
      return pending_[0].flush();
    }
    members_ = &members;
    send_ = send;
    recv_ = recv;
    counts_ = counts;
    how_ = how;
    into_ = into;
    longest_ = counts.largest();
    piece_ = piece_of(peers(), longest_, calls);
    if (members.is_dry() && !computes()) return count_messages();
    at_.clear();
    std::int64_t next = 0;
    for (std::size_t d = 0; d < counts.size(); ++d) {
      at_.push_back(next);
      next += d == me() && !with_own_ ? 0 : counts[d];
    }
    pieces_[0] = pieces;
    pieces_[1] = pieces + std::min(piece_, counts[me()]) * peers();
    next_ = 0;
    post(0);
    post(piece_);
    if (pending_[0].in_order) test();  // all steps are launched now, in the same order on all members
  }

  /// Makes progress without waiting. True if finish() would not wait either.
  [[gnu::cold]] bool test() {
    if (members_ == nullptr) return pending_[0].test();
    while (next_ < longest_) {
      if (!pending_[slot_of(next_)].test()) return false;
      take_next();
    }
    return true;
  }

  [[gnu::cold]] void finish() {
    counted_.wait();
    if (members_ == nullptr) {
      pending_[0].wait();
      return counted_.end();
    }
    while (next_ < longest_) {
      pending_[slot_of(next_)].wait();
      take_next();
    }
    members_ = nullptr;
    counted_.end();
  }

  /// Returns the tag of its messages.
  [[nodiscard]] int tag() const { return pending_[0].tag(); }

  /// True if the arriving data are the result, so that no pieces are needed.
  static bool arrives_in_place(communicator const& members, parts_sent sent, update<T> const& into) {
    return members.size() == 2 && sent == parts_sent::all_but_own && into.overwrites();
  }

 private:
  static constexpr bool on_host = std::is_same_v<Arrays, host_arrays>;

  // Returns the elements of a piece. A piece should stay in a cache while it is reduced. A device that computes
  // meanwhile tests for pieces only now and then, so there must be few.
  static std::int64_t piece_of(std::int64_t peers, std::int64_t longest, mpi_calls calls) {
    if constexpr (!on_host) {
      constexpr std::int64_t width = sizeof(T), shortest = 1024;
      return std::min(chunk_limit, std::max(shortest, bytes_arriving_on_gpu / (2 * peers * width)));
    }
    constexpr std::int64_t inspected_array = 8;
    std::int64_t const cached = planner::measured.piece_of_reduction(peers);
    return std::min(chunk_limit, calls == mpi_calls::blocking
                                     ? cached
                                     : std::max(cached, (longest + inspected_array - 1) / inspected_array));
  }

  // Counts what all pieces would send, and sends nothing.
  [[gnu::cold]] void count_messages() {
    auto const pieces = [&](std::int64_t n) -> std::int64_t {
      return n <= piece_ ? n > 0 : (n + piece_ - 1) / piece_;
    };
    std::int64_t const messages = counts_.sum_of(pieces);
    std::int64_t const own = counts_[me()];
    auto const bytes_of = [&](std::int64_t n) { return n * static_cast<std::int64_t>(sizeof(T)); };
    counted_.add_of_each(bytes_of(counts_.total() - own),
                         [&](int d) { return bytes_of(counts_[static_cast<std::size_t>(d)]); }, messages - pieces(own));
    members_ = nullptr;
  }

  int peers() const { return members_->size() - 1; }
  std::size_t me() const { return static_cast<std::size_t>(members_->rank()); }
  bool leaves_out(int d) const { return d == members_->rank() && !with_own_; }
  int first_summand() const { return leaves_out(0) ? 1 : 0; }

  /// Returns the elements of member d's part in the piece that begins here.
  std::int64_t length(std::size_t d, std::int64_t begin) const {
    return std::max<std::int64_t>(0, std::min(piece_, counts_[d] - begin));
  }

  // Returns the slot, of two in flight, of the piece that begins here.
  int slot_of(std::int64_t begin) const { return static_cast<int>(begin / piece_ % 2); }

  // Reduces the next piece, which has arrived.
  void take_next() {
    reduce(next_, pieces_[slot_of(next_)]);
    next_ += piece_;
    post(next_ + piece_);
  }

  /// Posts the messages of the piece that begins here, if there is one.
  [[gnu::cold]] void post(std::int64_t begin) {
    if (begin >= longest_) return;
    int const turn = slot_of(begin);
    T* const arriving = pieces_[turn];
    int const n = members_->size();
    for (int step = 1; step < n; ++step) {
      int const before = (members_->rank() + n - step) % n;
      std::size_t const after = static_cast<std::size_t>((members_->rank() + step) % n);
      int const slot = before < members_->rank() ? before : before - 1;
      pending_[turn].receive(before, arriving + slot * length(me(), begin), length(me(), begin));
      pending_[turn].send(static_cast<int>(after), send_ + at_[after] + begin, length(after, begin));
    }
    pending_[turn].flush();
  }

  void write_own([[maybe_unused]] T const* send, T* recv, std::int64_t count, update<T> const& into) {
    if constexpr (on_host) {
      if (computes()) into.write(recv, 1, send, count);
    } else {
      combine_members(pending_[0].arrays().exec(), parts_of_members<T>{nullptr, send, 1, 0}, recv, count,
                      reduction::sum, into);
    }
  }

  /// Reduces in member order, whichever message arrived first: the result depends on the values and the mesh alone.
  [[gnu::noinline]] void reduce(std::int64_t begin, T const* arriving) const {
    if (!computes()) return;
    std::int64_t const count = length(me(), begin);
    T const* const own = send_ + at_[me()] + begin;
    T* const recv = recv_ + begin;
    if constexpr (!on_host) {
      parts_of_members<T> const parts{arriving, with_own_ ? own : nullptr, members_->size(), members_->rank()};
      return combine_members(pending_[0].arrays().exec(), parts, recv, count, how_, into_);
    }
    if constexpr (is_narrow<T>) return reduce_as_floats(count, arriving, own, recv);
    int const first = first_summand();
    for (int d = first; d < members_->size(); ++d) {
      if (leaves_out(d)) continue;
      T const* const part = d == members_->rank() ? own : arriving + (d < members_->rank() ? d : d - 1) * count;
      if (d == first)
        into_.write(recv, 1, part, count);
      else if (into_.alpha == T(1))
        combine_run(how_, recv, part, count);
      else
        update<T>{into_.alpha, T(1)}.write(recv, 1, part, count);
    }
  }

  /// The same, rounded once.
  void reduce_as_floats(std::int64_t count, T const* arriving, T const* own, T* recv) const {
    constexpr std::int64_t run = 256;
    float sums[run];
    float part[run];
    for (std::int64_t begin = 0; begin < count; begin += run) {
      std::int64_t const n = std::min(run, count - begin);
      int const first = first_summand();
      for (int d = first; d < members_->size(); ++d) {
        if (leaves_out(d)) continue;
        T const* const from =
            (d == members_->rank() ? own : arriving + (d < members_->rank() ? d : d - 1) * count) + begin;
        float* const to = d == first ? sums : part;
        for (std::int64_t i = 0; i < n; ++i) to[i] = float(from[i]);
        if (d != first) combine_run(how_, sums, static_cast<float const*>(part), n);
      }
      into_.write(recv + begin, 1, sums, n);
    }
  }

  communicator const* members_ = nullptr;  // null if there are no pieces
  T const* send_ = nullptr;
  T* recv_ = nullptr;
  counts_view counts_{nullptr, 0};
  reduction how_ = reduction::sum;
  update<T> into_;
  bool with_own_ = true;
  short_array<std::int64_t> at_;  // where the part for each member begins
  std::int64_t piece_ = 0;
  std::int64_t longest_ = 0;
  std::int64_t next_ = 0;  // where the piece to reduce next begins
  T* pieces_[2] = {nullptr, nullptr};
  counted_collective counted_;
  detail::messages_on<Arrays> pending_[2];
};

/// Runs a whole reduce-scatter.
template <class T>
void reduce_scatter(communicator const& members, T const* send, T* recv, counts_view const& counts, reduction how,
                    update<T> const& into = {}, parts_sent sent = parts_sent::all) {
  using flight = reduce_scatter_in_flight<T>;
  scratch<T, Kokkos::HostSpace> const pieces(
      flight::arrives_in_place(members, sent, into)
          ? 0
          : flight::pieces_of(members, counts[static_cast<std::size_t>(members.rank())]));
  flight scatter;
  scatter.begin(members, send, recv, counts, pieces.data(), how, into, sent);
  scatter.finish();
}

}  // namespace ostraka::engine
