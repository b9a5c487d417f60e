// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Slots of experts: each expert takes the first `capacity` tokens of a group that choose it. Lists name the
/// token that fills each row of [experts, groups, slots], and the row of each choice.
///
///     choice (g, s, k) of expert e, the c-th of its group       row (e, g, c) of the slots; none if c is the capacity

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>

#include <ostraka/engine/block_collectives/expert_rows.hpp>

namespace ostraka::engine {

/// The slots of the choices on this device.
template <class Space>
struct slot_lists {
  std::int64_t tokens = 0, repeats = 1;
  row_list<Space> choice_of_slot, token_of_slot;  ///< −1: the slot is empty
  row_list<Space> slot_of_choice;                 ///< −1: dropped, or no expert
  dynamic_array<std::int64_t> numbers;            ///< for each choice: expert · capacity + slot, or −1
};

/// Returns the slots of `groups` groups of tokens with `repeats` choices each, in the order of tokens, then of choices.
template <class Space>
slot_lists<Space> assign_slots(dynamic_array<std::int64_t> const& chosen, std::int64_t groups, std::int64_t repeats,
                               std::int64_t experts, std::int64_t capacity) {
  slot_lists<Space> s;
  auto const all = static_cast<std::int64_t>(chosen.size());
  auto const slots = static_cast<std::size_t>(experts * groups * capacity);
  s.repeats = repeats;
  s.tokens = repeats > 0 ? all / repeats : 0;
  dynamic_array<std::int64_t> choice(slots, -1), token(slots, -1), slot(chosen.size(), -1);
  s.numbers.assign(chosen.size(), -1);
  dynamic_array<std::int64_t> taken;
  std::int64_t const of_group = groups > 0 ? all / groups : 0;
  for (std::int64_t g = 0; g < groups; ++g) {
    taken.assign(static_cast<std::size_t>(experts), 0);
    for (std::int64_t i = g * of_group; i < (g + 1) * of_group; ++i) {
      std::int64_t const e = chosen[static_cast<std::size_t>(i)];
      if (e < 0 || e >= experts || taken[static_cast<std::size_t>(e)] == capacity) continue;
      std::int64_t const c = taken[static_cast<std::size_t>(e)]++, row = (e * groups + g) * capacity + c;
      choice[static_cast<std::size_t>(row)] = i;
      token[static_cast<std::size_t>(row)] = i / repeats;
      slot[static_cast<std::size_t>(i)] = row;
      s.numbers[static_cast<std::size_t>(i)] = e * capacity + c;
    }
  }
  s.choice_of_slot = list_of<Space>(choice);
  s.token_of_slot = repeats == 1 ? s.choice_of_slot : list_of<Space>(token);
  s.slot_of_choice = list_of<Space>(slot);
  return s;
}

/// out[i] <- from[list[i]], rows of `row` elements; zeros where the list has −1. On the host, it returns when all rows
/// are written.
template <class Exec, class T, class Space>
void fill_rows(Exec const& exec, row_list<Space> const& list, std::int64_t row, T* out, T const* from,
               std::int64_t rows_there) {
  gather_rows(exec, list, row, out, from, rows_there);
  fence_on_host(exec);
}

}  // namespace ostraka::engine
