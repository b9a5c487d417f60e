// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Checks of os::for_each_point and os::sum_over_points: that operands do not share memory, and that functions
/// do not read beyond a halo.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <ostraka/calls/shared_memory.hpp>
#include <ostraka/local_view/halos/check_reach.hpp>
#include <ostraka/local_view/points/stencil_points.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::detail {

// True if two blocks have the same element at each point.
template <class A, class B>
bool is_same_place(A const& a, B const& b) {
  auto const one = own_block<typename A::value_type const>(a);
  auto const other = own_block<typename B::value_type const>(b);
  bool same = static_cast<void const*>(one.data) == static_cast<void const*>(other.data);
  for (int d = 0; d < A::rank; ++d)
    same = same && (one.stride[d] == other.stride[d] || a.local().extent(static_cast<std::size_t>(d)) == 1);
  return same && std::is_same_v<typename A::value_type, typename B::value_type>;
}

[[gnu::cold]] inline void refuse_shared_points(char const* operation, bool shared) {
  if (shared)
    throw_error(
        operation,
        ": operands are the same block or share no memory, and one whose neighbours are read shares none, but two "
        "share memory at different points; give f each block once, or copy one of them");
}

// Widens the margins to those of an operand whose neighbours are read.
template <class A>
void widen_margins(engine::stencil_points& p, A const&) {
  for (int d = 0; d < p.rank; ++d) {
    halo_margins const m = margins_in<A>[static_cast<std::size_t>(d)];
    p.before[d] = p.before[d] > m.before ? p.before[d] : m.before;
    p.behind[d] = p.behind[d] > m.behind ? p.behind[d] : m.behind;
  }
}

// An operand in the form that check_reach.hpp takes. `Given`: the argument of f.
template <class Given, class A>
struct given_operand : reached_operand<A> {};
template <class Given, class A>
  requires std::is_same_v < std::remove_cvref_t<Given>,
typename A::value_type > struct given_operand<Given, A> {
  using element = typename A::value_type;
  static constexpr int axes = 0;
  static auto margins() { return std::array<halo_margins, 1>{}; }
};

// The number of bytes that f writes to an argument.
template <class Given>
inline constexpr std::size_t bytes_written = std::is_const_v<std::remove_reference_t<Given>>
                                                 ? 0
                                                 : sizeof(std::remove_reference_t<Given>);
template <class Value>
inline constexpr std::size_t bytes_of_value = sizeof(Value);
template <>
inline constexpr std::size_t bytes_of_value<void> = 0;

// Calls f, and returns its value and everything that it writes, as bytes.
template <class F, class... Given>
struct result_in_bytes {
  F const& f;

  template <class... Points>
  auto operator()(Points... points) const {
    using value = std::remove_cvref_t<std::invoke_result_t<F const&, Given...>>;
    std::array<unsigned char, (bytes_of_value<value> + ... + bytes_written<Given>)+1> bytes{};
    unsigned char* to = bytes.data();
    auto const add = [&](void const* from, std::size_t size) {
      std::memcpy(to, from, size);
      to += size;
    };
    if constexpr (std::is_void_v<value>) {
      f(static_cast<Given>(points)...);
    } else {
      value const v = f(static_cast<Given>(points)...);
      add(&v, sizeof v);
    }
    (add(&points, bytes_written<Given>), ...);
    return bytes;
  }
};

// In check mode, throws if f reads beyond the halo of a block, on all devices alike. `Given`: the arguments of f. It
// calls f at made-up points, so it does nothing unless f reads neighbours.
template <class... Given, class F, class... As>
void require_reach_at_points([[maybe_unused]] char const* operation, [[maybe_unused]] engine::device_mesh const& mesh,
                             [[maybe_unused]] F const& f, type_list<As...>) {
  if constexpr (((given_operand<Given, As>::axes > 0) || ...))
    require_reach_of<result_in_bytes<F, Given...>, given_operand<Given, As>...>(operation, mesh, {f});
}

}  // namespace ostraka::detail
