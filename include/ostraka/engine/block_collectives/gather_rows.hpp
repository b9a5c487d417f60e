// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. An all-gather of blocks whose lengths do not follow from a block distribution, in flight: the devices have
/// exchanged the lengths (gather_counts), and the blocks are stored one after the other.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/collectives/counts.hpp>
#include <ostraka/engine/levels/levelled_gather.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/memory/short_array.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/moves/copy_block.hpp>
#include <ostraka/engine/moves/flight.hpp>

namespace ostraka::engine {

namespace detail {

template <class Exec, class T>
class gather_record final : public flight_on<Exec> {
 public:
  void begin(Exec const& exec, execution_context const& w, communicator const& members, int along, counts_view rows,
             strided_block<T const*> const& own, strided_block<T*> const& whole) {
    along_ = along;
    whole_ = whole;
    counts_.clear();
    std::int64_t const row = elements_of_a_row(whole, along);
    std::int64_t before = 0;
    for (std::size_t d = 0; d < rows.size(); ++d) {
      counts_.push_back(rows[d] * row);
      if (d < static_cast<std::size_t>(members.rank())) before += counts_.back();
    }
    in_place_ = whole.gapless() && parts_follow(whole, along);
    buffer_ = buffer(in_place_ ? 0 : whole.where.size());
    T* const message = in_place_ ? whole.data : buffer_.data();
    if (own.where.size() > 0) copy(exec, dense_block(message + before, own.where), own);
    arrays_.begin(this->exec());
    gather_.on(arrays_);
    if (members.size() > 1) {
      fence_before_messages(exec);
      gather_.begin(members, static_cast<T const*>(message + before), message, counts_, mpi_calls::nonblocking);
    }
    this->enlist(*w.mesh, w.operation);
  }

  gather_record* next_free = nullptr;

 private:
  using buffer = kernel_scratch<T, typename Exec::memory_space>;

  static std::int64_t elements_of_a_row(strided_block<T*> const& whole, int along) {
    std::int64_t n = 1;
    for (int i = 0; i < whole.where.rank; ++i) n *= i == along ? 1 : whole.where.at[i].size();
    return n;
  }

  // True if each block is one run of the whole.
  static bool parts_follow(strided_block<T*> const& whole, int along) {
    for (int i = 0; i < along; ++i)
      if (whole.where.at[i].size() != 1) return false;
    return true;
  }

  bool arrived() noexcept override { return gather_.test(); }
  void finish() override {
    gather_.finish();
    if (!in_place_) {
      T const* message = buffer_.data();
      std::int64_t const row = elements_of_a_row(whole_, along_);
      box part = whole_.where;
      counts_view const counts(counts_);
      for (std::size_t d = 0; d < counts.size(); ++d) {
        std::int64_t const count = counts[d];
        part.at[along_].end = part.at[along_].begin + (row > 0 ? count / row : 0);
        if (count > 0) copy(this->exec(), whole_.part(part), dense_block(message, part));
        part.at[along_].begin = part.at[along_].end;
        message += count;
      }
    }
    fence_on_host(this->exec(), arrays_);
  }
  void give_back() noexcept override {
    buffer_ = buffer();
    flight_records<gather_record>::instance().give_back(*this);
  }

  int along_ = 0;
  bool in_place_ = false;
  strided_block<T*> whole_{};
  buffer buffer_;
  short_array<std::int64_t> counts_;
  [[no_unique_address]] arrays_of<Exec> arrays_;
  levelled_all_gather<T, arrays_of<Exec>> gather_;
};

}  // namespace detail

/// Begins an all-gather along mesh axes. `whole` gets the blocks of all members, one after the other along dimension
/// `along`; member d has rows[d] indices. `own` is this device's block, and does not overlap it. `block` describes the
/// blocks to check mode. Collective over the mesh axes.
template <class Exec, class T>
run_in_flight begin_gather_rows(Exec const& exec, execution_context const& w, planner::spec const& block,
                                planner::mesh_set axes, int along, counts_view rows, strided_block<T const*> const& own,
                                strided_block<T*> const& whole) {
  require_same_call<T>(w, block, axes, [] { return std::string(); });
  communicator const& members = w.group(axes);
  using record = detail::gather_record<Exec, T>;
  return detail::begin_record<record>(exec, [&](record& r) { r.begin(exec, w, members, along, rows, own, whole); });
}

}  // namespace ostraka::engine
