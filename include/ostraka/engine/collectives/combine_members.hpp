// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Does the additions of a collective on arrays in a GPU's memory: combines the parts that have arrived from
/// the members of a group with this member's own part, in member order. It combines each element as the host does, so
/// that the results have the same bits.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

/// The parts of an array, by member. The parts that have arrived are in member order, without this member's own.
template <class T>
struct parts_of_members {
  T const* arrived;
  T const* own;  ///< null if it is left out
  int members;
  int me;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION T const* of(int member, std::int64_t length) const {
    return member == me ? own : arrived + (member < me ? member : member - 1) * length;
  }
};

namespace detail {

/// to[i] <- alpha (the parts' elements i combined) + beta to[i]. Elements of 16 bits are combined as floats, and
/// rounded once.
template <class T>
struct combined_element {
  using wide = accumulator_of_t<T>;

  parts_of_members<T> parts;
  T* to;
  std::int64_t count;
  reduction how;
  update<T> into;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    int d = parts.own == nullptr && parts.me == 0 ? 1 : 0;
    if constexpr (is_narrow<T>) {
      wide sum = wide(parts.of(d, count)[i]);
      for (++d; d < parts.members; ++d)
        if (T const* const part = parts.of(d, count); part != nullptr) sum = combine(how, sum, wide(part[i]));
      to[i] = into(to[i], sum);
    } else {
      T sum = into(to[i], parts.of(d, count)[i]);
      for (++d; d < parts.members; ++d) {
        T const* const part = parts.of(d, count);
        if (part == nullptr) continue;
        sum = into.alpha == T(1) ? combine(how, sum, part[i]) : update<T>{into.alpha, T(1)}(sum, part[i]);
      }
      to[i] = sum;
    }
  }
};

/// to[i] <- combine(to[i], from[i])
template <class T>
struct combine_arrays {
  T* to;
  T const* from;
  reduction how;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { to[i] = combine(how, to[i], from[i]); }
};

}  // namespace detail

/// to <- alpha (the members' parts of `count` elements, combined in member order) + beta to
template <class Exec, class T>
void combine_members(Exec const& exec, parts_of_members<T> const& parts, T* to, std::int64_t count, reduction how,
                     update<T> const& into) {
  for_each_item("ostraka combine members", exec, count, count,
                detail::combined_element<T>{parts, to, count, how, into});
}

/// to[i] <- combine(how, to[i], from[i])
template <class Exec, class T>
void combine_run(Exec const& exec, reduction how, T* to, T const* from, std::int64_t count) {
  for_each_item("ostraka combine", exec, count, count, detail::combine_arrays<T>{to, from, how});
}

}  // namespace ostraka::engine
