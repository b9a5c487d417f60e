// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Sends rows to the experts that are chosen for them, and back. Devices exchange the number of rows for each
/// expert once. From then on, lists name the source of each row of each move, so that every pass over memory is a
/// gather.
///
///     choice     expert that is chosen, in the order of the tokens; a number that is no expert sends nothing
///     sent       choices that are sent, sorted by expert, stable
///     received   on the device of an expert: by expert, then by sender, then in the sender's order

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include <ostraka/engine/block_collectives/exchange_blocks.hpp>
#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/collectives/counts.hpp>
#include <ostraka/engine/kernels/rows/lookup.hpp>
#include <ostraka/engine/memory/kept_blocks.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/moves/on_host.hpp>
#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/types/support/dynamic_array.hpp>

namespace ostraka::engine {

/// A list of rows in the memory of `Space`.
template <class Space>
using row_list = Kokkos::View<std::int64_t*, Space>;

/// Copies numbers from the host into the memory of `Space`.
template <class Space>
void write_numbers(dynamic_array<std::int64_t> const& numbers, std::int64_t* to) {
  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(Kokkos::View<std::int64_t*, Space, unmanaged>(to, numbers.size()),
                    Kokkos::View<std::int64_t const*, Kokkos::HostSpace, unmanaged>(numbers.data(), numbers.size()));
}
template <class Space>
row_list<Space> list_of(dynamic_array<std::int64_t> const& numbers) {
  row_list<Space> const list = new_view<row_list<Space>>(typename row_list<Space>::array_layout(numbers.size()),
                                                         numbers.size() * sizeof(std::int64_t));
  write_numbers<Space>(numbers, list.data());
  return list;
}

/// Returns a block of integers as numbers on the host.
template <class View>
dynamic_array<std::int64_t> numbers_on_host(View const& block) {
  auto const there = on_host(block);
  dynamic_array<std::int64_t> numbers(there.size());
  for (std::size_t i = 0; i < there.size(); ++i) numbers[i] = static_cast<std::int64_t>(there.data()[i]);
  return numbers;
}

/// out[i] <- from[list[i]], rows of `row` elements; zeros where the list has −1.
template <class Exec, class T, class Space>
void gather_rows(Exec const& exec, row_list<Space> const& list, std::int64_t row, T* out, T const* from,
                 std::int64_t rows_there) {
  loop_nest<3> loops;
  loops.add(static_cast<std::int64_t>(list.extent(0)), row, 0, 1);
  loops.add(row, 1, 1, 0);
  look_up(exec, loops, index_window{0, rows_there, row}, out, from, list.data());
}

/// The destinations of this device's rows, and of the rows that arrive on it.
template <class Space>
struct row_routes {
  std::int64_t choices = 0;                         ///< on this device
  std::int64_t repeats = 1;                         ///< choices of a token
  dynamic_array<std::int64_t> experts;              ///< rows received, by expert of this device
  dynamic_array<std::int64_t> sent, sent_begin;     ///< rows by member, and where they begin
  dynamic_array<std::int64_t> received, received_begin;
  row_list<Space> choice_sent, token_sent;  ///< for each row that is sent: its choice, its token
  row_list<Space> row_of_choice;            ///< for each choice: its place among those sent; −1: none
  row_list<Space> from, to;                 ///< place of each result row among those received, and vice versa

  [[nodiscard]] std::int64_t rows_sent() const { return static_cast<std::int64_t>(choice_sent.extent(0)); }
  [[nodiscard]] std::int64_t rows_received() const { return static_cast<std::int64_t>(from.extent(0)); }
};

/// The devices among which experts are divided: `count` of them, in the order of the experts' blocks. `member[d]` is
/// the number of device d in the group.
struct expert_owners {
  int count = 1;
  dynamic_array<int> member;
};

/// Returns the routes of the chosen experts. Devices tell each other how many rows each expert gets: 8 bytes for each
/// expert of another device. Collective over the mesh axes, if there are any.
template <class Space>
row_routes<Space> make_row_routes(execution_context const& w, planner::mesh_set axes, expert_owners const& owners,
                                  std::int64_t experts, dynamic_array<std::int64_t> const& chosen,
                                  std::int64_t repeats) {
  row_routes<Space> r;
  r.choices = static_cast<std::int64_t>(chosen.size());
  r.repeats = repeats;
  auto const n = static_cast<std::size_t>(owners.count);
  auto const is_expert = [&](std::int64_t e) { return e >= 0 && e < experts; };

  // By expert, stable.
  dynamic_array<std::int64_t> count(static_cast<std::size_t>(experts), 0), next(static_cast<std::size_t>(experts), 0);
  std::int64_t all = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (is_expert(chosen[i])) ++count[static_cast<std::size_t>(chosen[i])], ++all;
  for (std::size_t e = 1; e < next.size(); ++e) next[e] = next[e - 1] + count[e - 1];
  dynamic_array<std::int64_t> choice(static_cast<std::size_t>(all)), token(static_cast<std::size_t>(all)),
      row(chosen.size(), -1);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!is_expert(chosen[i])) continue;
    std::int64_t const at = next[static_cast<std::size_t>(chosen[i])]++;
    row[i] = at;
    choice[static_cast<std::size_t>(at)] = static_cast<std::int64_t>(i);
    token[static_cast<std::size_t>(at)] = static_cast<std::int64_t>(i) / repeats;
  }

  // Each device tells every other how many rows that one's experts get; devices with fewer experts get zeros at the
  // end.
  std::int64_t const each = (experts + owners.count - 1) / owners.count;
  dynamic_array<std::int64_t> sent_counts(n * static_cast<std::size_t>(each), 0), received_counts = sent_counts;
  r.sent.assign(n, 0), r.sent_begin.assign(n, 0), r.received.assign(n, 0), r.received_begin.assign(n, 0);
  std::int64_t begin = 0, own = 0;
  for (int d = 0; d < owners.count; ++d) {
    auto const m = static_cast<std::size_t>(owners.member[static_cast<std::size_t>(d)]);
    planner::range const block = planner::block(experts, d, owners.count);
    r.sent_begin[m] = begin;
    for (std::int64_t e = block.begin; e < block.end; ++e) {
      std::int64_t const rows = count[static_cast<std::size_t>(e)];
      sent_counts[m * static_cast<std::size_t>(each) + static_cast<std::size_t>(e - block.begin)] = rows;
      r.sent[m] += rows;
      begin += rows;
    }
  }
  if (owners.count == 1) {
    received_counts = sent_counts;
    own = experts;
  } else {
    communicator const& members = w.group(axes);
    for (int d = 0; d < owners.count; ++d)
      if (owners.member[static_cast<std::size_t>(d)] == members.rank())
        own = planner::block(experts, d, owners.count).size();
    exchange_counts(members, sent_counts.data(), received_counts.data(), static_cast<int>(each));
  }

  // Received rows are sorted by sender, in the order of expert_owners, then by expert.
  r.experts.assign(static_cast<std::size_t>(own), 0);
  std::int64_t arrived = 0;
  for (int d = 0; d < owners.count; ++d) {
    auto const m = static_cast<std::size_t>(owners.member[static_cast<std::size_t>(d)]);
    r.received_begin[m] = arrived;
    for (std::size_t e = 0; e < r.experts.size(); ++e) {
      std::int64_t const rows = received_counts[m * static_cast<std::size_t>(each) + e];
      r.experts[e] += rows;
      r.received[m] += rows;
    }
    arrived += r.received[m];
  }
  dynamic_array<std::int64_t> from(static_cast<std::size_t>(arrived)), to(static_cast<std::size_t>(arrived));
  dynamic_array<std::int64_t> at = r.received_begin;
  std::int64_t place = 0;
  for (std::size_t e = 0; e < r.experts.size(); ++e)
    for (int d = 0; d < owners.count; ++d) {
      auto const m = static_cast<std::size_t>(owners.member[static_cast<std::size_t>(d)]);
      for (std::int64_t k = received_counts[m * static_cast<std::size_t>(each) + e]; k > 0; --k, ++place, ++at[m]) {
        from[static_cast<std::size_t>(place)] = at[m];
        to[static_cast<std::size_t>(at[m])] = place;
      }
    }
  r.choice_sent = list_of<Space>(choice);
  r.token_sent = repeats == 1 ? r.choice_sent : list_of<Space>(token);
  r.row_of_choice = list_of<Space>(row);
  r.from = list_of<Space>(from);
  r.to = list_of<Space>(to);
  return r;
}

namespace detail {

// Exchanges the rows of each member in one message; `sent` and `received` by member.
template <class Exec, class T>
void exchange_rows(Exec const& exec, execution_context const& w, planner::mesh_set axes, std::int64_t row,
                   T const* out, dynamic_array<std::int64_t> const& sent_begin,
                   dynamic_array<std::int64_t> const& sent, T* in, dynamic_array<std::int64_t> const& received_begin,
                   dynamic_array<std::int64_t> const& received) {
  auto const run = [](std::int64_t elements) {
    box b;
    b.rank = 1;
    b.at[0] = {0, elements};
    return b;
  };
  begin_exchange<T>(exec, w, axes, [&](int m) {
    auto const k = static_cast<std::size_t>(m);
    return block_exchanged<T>{dense_block(out + sent_begin[k] * row, run(sent[k] * row)),
                              dense_block(in + received_begin[k] * row, run(received[k] * row))};
  }).wait();
}

}  // namespace detail

/// Sends rows to their experts: `x` has a row for each token, or for each choice; `out` gets those that arrive here, by
/// expert. Collective over the mesh axes, if there are any. On the host, it returns when all rows are written.
template <class Exec, class T, class Space>
void send_rows(Exec const& exec, execution_context const& w, planner::spec const& block, planner::mesh_set axes,
               row_routes<Space> const& r, bool of_choices, std::int64_t row, T const* x, T* out) {
  auto const& list = of_choices ? r.choice_sent : r.token_sent;
  std::int64_t const there = of_choices ? r.choices : r.choices / r.repeats;
  if (axes.empty()) {
    gather_rows(exec, list, row, out, x, there);
  } else {
    require_same_call<T>(w, block, axes, [] { return std::string(); });
    kernel_scratch<T, typename Exec::memory_space> const packed(r.rows_sent() * row), come(r.rows_received() * row);
    gather_rows(exec, list, row, packed.data(), x, there);
    fence_on_host(exec);
    detail::exchange_rows(exec, w, axes, row, static_cast<T const*>(packed.data()), r.sent_begin, r.sent, come.data(),
                          r.received_begin, r.received);
    gather_rows(exec, r.from, row, out, static_cast<T const*>(come.data()), r.rows_received());
  }
  fence_on_host(exec);
}

/// Sends the rows of experts back: `rows` are in the order of send_rows' output; `out` gets a row for each choice, with
/// zeros for choices that were not sent.
template <class Exec, class T, class Space>
void return_rows(Exec const& exec, execution_context const& w, planner::spec const& block, planner::mesh_set axes,
                 row_routes<Space> const& r, std::int64_t row, T const* rows, T* out) {
  if (axes.empty()) {
    gather_rows(exec, r.row_of_choice, row, out, rows, r.rows_sent());
  } else {
    require_same_call<T>(w, block, axes, [] { return std::string(); });
    kernel_scratch<T, typename Exec::memory_space> const packed(r.rows_received() * row), come(r.rows_sent() * row);
    gather_rows(exec, r.to, row, packed.data(), rows, r.rows_received());
    fence_on_host(exec);
    detail::exchange_rows(exec, w, axes, row, static_cast<T const*>(packed.data()), r.received_begin, r.received,
                          come.data(), r.sent_begin, r.sent);
    gather_rows(exec, r.row_of_choice, row, out, static_cast<T const*>(come.data()), r.rows_sent());
  }
  fence_on_host(exec);
}

}  // namespace ostraka::engine
