// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. All-reduce of states that are not numbers, such as a value and its position; a function combines two of
/// them. One message carries all parts of the states. Each member combines one share for all members, in member order,
/// so that equal runs give equal bits; an all-gather of the shares follows. It moves the bytes of an all-reduce:
/// 2(n−1)/n of the states. On a GPU a kernel combines them.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/engine/collectives/all_gather_in_flight.hpp>
#include <ostraka/engine/collectives/exchange_in_flight.hpp>
#include <ostraka/engine/groups/device_arrays.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

namespace detail {

/// to[i] <- the states i of all members, combined in member order.
template <class State, class Combined>
struct combine_states {
  State const* arrived;  // by member
  State const* own;
  State* to;
  std::int64_t share, members, me;
  Combined combined;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION State const& of(std::int64_t member, std::int64_t i) const {
    return member == me ? own[i] : arrived[member * share + i];
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    State s = of(0, i);
    for (std::int64_t d = 1; d < members; ++d) {
      if constexpr (std::is_invocable_v<Combined const&, State const&, State const&, std::int64_t>)
        s = combined(s, of(d, i), d);
      else
        s = combined(s, of(d, i));
    }
    to[i] = s;
  }
};

template <class State, class Combined>
void combine_in(host_arrays const&, combine_states<State, Combined> const& all) {
  for (std::int64_t i = 0; i < all.share && computes(); ++i) all(i);
}
template <class Exec, class State, class Combined>
void combine_in(device_arrays<Exec> const& arrays, combine_states<State, Combined> const& all) {
  for_each_item("ostraka combine states", arrays.exec(), all.share, all.share * all.members, all);
}

}  // namespace detail

/// states[i] <- combined(combined(states[i] of member 0, of member 1), …), the same on all members. `combined` is
/// associative, and callable in kernels. It may take a third argument: the number of the member that the second state
/// comes from. The caller fences `arrays`.
template <class Arrays, class State, class Combined>
void combine_all(communicator const& members, Arrays& arrays, State* states, std::int64_t count,
                 Combined const& combined) {
  static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % sizeof(std::int32_t) == 0);
  constexpr auto words = static_cast<std::int64_t>(sizeof(State) / sizeof(std::int32_t));
  using buffer = kernel_scratch<State, typename Arrays::memory_space>;
  std::int64_t const n = members.size(), me = members.rank();
  if (n == 1 || count == 0) return;
  auto const begin = [&](std::int64_t d) { return d * count / n; };
  std::int64_t const share = begin(me + 1) - begin(me);
  buffer const arrived(n * share), whole(share);
  auto const as_words = [](State* s) { return reinterpret_cast<std::int32_t*>(s); };
  short_array<exchanged<std::int32_t>> parts;
  for (std::int64_t d = 0; d < n; ++d)
    parts.push_back({as_words(states + begin(d)), (begin(d + 1) - begin(d)) * words,
                     as_words(arrived.data() + d * share), share * words});
  exchange(members, arrays, static_cast<exchanged<std::int32_t> const*>(parts.data()), [] {});
  detail::combine_in(arrays, detail::combine_states<State, Combined>{arrived.data(), states + begin(me), whole.data(),
                                                                     share, n, me, combined});
  short_array<std::int64_t> const counts(static_cast<std::size_t>(n), [&](std::size_t d) {
    auto const at = static_cast<std::int64_t>(d);
    return (begin(at + 1) - begin(at)) * words;
  });
  all_gather(members, arrays, static_cast<std::int32_t const*>(as_words(whole.data())), as_words(states), counts);
}

}  // namespace ostraka::engine
