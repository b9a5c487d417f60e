// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Checks that a machine has the numbers that a prediction needs. Predictions check first, so that a missing
/// number is an error and does not lead to an infinite or undefined time.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <ostraka/plan/hardware/machine_data.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::planner {

namespace detail {

// True if the sizes grow and the rates are positive.
[[nodiscard]] constexpr bool is_valid(rates_by_size const& r) {
  bool good = r.count >= 0 && r.count <= rates_by_size::most;
  for (int i = 0; good && i < r.count; ++i)
    good = r.at[i].rate > 0 && r.at[i].size > (i > 0 ? r.at[i - 1].size : 0);
  return good;
}

[[nodiscard]] constexpr bool is_valid(link const& l) {
  return l.bytes_per_second >= 0 && l.hop_seconds >= 0 && l.handshake_seconds >= 0 && l.handshake_bytes >= 0 &&
         l.wraps_from >= 0 && is_valid(l.of_size) && is_valid(l.of_rows);
}

[[noreturn, gnu::cold]] inline void refuse_machine(std::string_view operation, machine const& m,
                                                   std::string const& why) {
  std::string const name(m.name.view());
  throw_error(operation, ": the machine ", name.empty() ? "without a name" : name, ' ', why);
}

}  // namespace detail

/// True if every number of the machine is 0 or more and sizes grow. A NaN makes it false.
[[nodiscard]] constexpr bool has_possible_numbers(machine const& m) {
  compute_rates const& f = m.flops_per_second;
  bool good = f.float64 >= 0 && f.float32 >= 0 && f.float16 >= 0 && f.int8 >= 0;
  for (double n : {m.memory_bytes_per_second, m.memory_bytes, m.cache_bytes_per_second, m.cache_bytes,
                   m.memory_waits, m.reduction_bytes_per_second, m.operation_seconds})
    good = good && n >= 0;
  good = good && m.memory_waits <= 1 && detail::is_valid(m.shares);
  good = good && detail::is_valid(m.links) && detail::is_valid(m.between_nodes) &&
         detail::is_valid(m.reductions_of_size) && detail::is_valid(m.memory_of_size);
  for (int i = 0; i < m.named; ++i) good = good && detail::is_valid(m.of_axis[i].links);
  return good;
}

/// @throws ostraka::error if a number is negative or NaN
constexpr void check_numbers(std::string_view operation, machine const& m) {
  if (!has_possible_numbers(m))
    detail::refuse_machine(
        operation, m,
        "has a number that is negative, or none; give rates, sizes and times from 0, and shares and sizes in order");
}

/// @throws ostraka::error if a number is negative, or if the machine does not multiply elements of this size
constexpr void check_machine(std::string_view operation, machine const& m, std::int64_t element_bytes) {
  check_numbers(operation, m);
  if (!(m.flops_per_second.of(element_bytes) > 0))
    detail::refuse_machine(operation, m,
                           join_text("does not multiply elements of ", element_bytes,
                                     " bytes; give its flops per second for them, or use elements of another size"));
}

/// @throws ostraka::error if the links along a mesh axis have no rate
constexpr void check_links(std::string_view operation, machine const& m, link const& l, std::string_view mesh_axis) {
  if (!(l.bytes_per_second > 0))
    detail::refuse_machine(
        operation, m,
        join_text("has no links along mesh axis ", mesh_axis,
                  "; give it `links`, or some along that axis: machine.with(\"", mesh_axis, "\", link)"));
}

}  // namespace ostraka::planner
