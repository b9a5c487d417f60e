// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-reduce of states that are not numbers, such as a value and its position; a function combines two of
/// them. One message carries all parts of the states. Each member combines a share for all, in member order, so that
/// equal runs give equal bits; the shares are then gathered. It moves the bytes of an all-reduce: 2(n−1)/n of the
/// states.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/collectives/exchange_in_flight.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// states[i] <- combined(combined(states[i] of member 0, of member 1), …), the same on all members. `combined` is
/// associative. It may take a third argument: the number of the member whose state comes second.
template <class State, class Combined>
void combine_all(communicator const& members, State* states, std::int64_t count, Combined const& combined) {
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % sizeof(std::int32_t) == 0);
  constexpr auto words = static_cast<std::int64_t>(sizeof(State) / sizeof(std::int32_t));
  std::int64_t const n = members.size(), me = members.rank();
  if (n == 1 || count == 0) return;
  auto const begin = [&](std::int64_t d) { return d * count / n; };
  std::int64_t const share = begin(me + 1) - begin(me);
  kernel_scratch<State, Kokkos::HostSpace> const arrived(n * share), whole(share);
  auto const as_words = [](State* s) { return reinterpret_cast<std::int32_t*>(s); };
  short_array<exchanged<std::int32_t>> parts;
  for (std::int64_t d = 0; d < n; ++d)
    parts.push_back({as_words(states + begin(d)), (begin(d + 1) - begin(d)) * words,
                     as_words(arrived.data() + d * share), share * words});
  exchange(members, parts.data(), [] {});
  State const* const own = states + begin(me);
  for (std::int64_t i = 0; i < share && computes(); ++i) {
    auto const of = [&](std::int64_t d) -> State const& { return d == me ? own[i] : arrived.data()[d * share + i]; };
    State s = of(0);
    for (std::int64_t d = 1; d < n; ++d) {
      if constexpr (std::is_invocable_v<Combined const&, State const&, State const&, std::int64_t>)
        s = combined(s, of(d), d);
      else
        s = combined(s, of(d));
    }
    whole.data()[i] = s;
  }
  short_array<std::int64_t> const counts(static_cast<std::size_t>(n), [&](std::size_t d) {
    auto const at = static_cast<std::int64_t>(d);
    return (begin(at + 1) - begin(at)) * words;
  });
  all_gather(members, static_cast<std::int32_t const*>(as_words(whole.data())), as_words(states), counts);
}

}  // namespace ostraka::engine
