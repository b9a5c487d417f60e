// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Changes several dense blocks of the same extents together, element by element: f(p[i], g[i], m[i], v[i]),
/// so that a function with several results takes one pass over memory. Elements of 16 bits are computed as `Wide`.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>

namespace ostraka::engine {

/// The number of neighbours passed to a function that handles runs, `f.run(x…)`: loops of this length vectorise even
/// with -O2.
inline constexpr int run_of_neighbours = 64;

namespace detail {

/// One element of each block.
template <class Wide, class F, class... Ts>
struct change_elements {
  F f;
  void* block[sizeof...(Ts)];

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { at(i, std::index_sequence_for<Ts...>{}); }

  template <std::size_t... Is>
  KOKKOS_INLINE_FUNCTION void at(std::int64_t i, std::index_sequence<Is...>) const {
    change(static_cast<Ts*>(block[Is])[i]...);
  }
  KOKKOS_INLINE_FUNCTION void change(Ts&... x) const { put(Wide(x)..., x...); }
  KOKKOS_INLINE_FUNCTION void put(std::conditional_t<true, Wide, Ts>... wide, Ts&... x) const {
    f(wide...);
    (write(x, wide), ...);
  }

  template <class T>
  KOKKOS_INLINE_FUNCTION static void write(T& x, Wide const& wide) {
    if constexpr (!std::is_const_v<T>) x = T(wide);
  }
};

/// One item: a stretch of neighbours, in runs that are converted to `Wide` together, and the rest one by one.
template <class Wide, class F, class... Ts>
struct change_stretches {
  static constexpr std::int64_t stretch = 4096;

  change_elements<Wide, F, Ts...> each;
  std::int64_t elements;

  void operator()(std::int64_t item) const {
    std::int64_t const begin = item * stretch;
    std::int64_t const end = begin + stretch < elements ? begin + stretch : elements;
    runs(begin, end, std::index_sequence_for<Ts...>{});
  }

  template <std::size_t... Is>
  void runs(std::int64_t begin, std::int64_t end, std::index_sequence<Is...>) const {
    std::int64_t const whole = begin + (end - begin) / run_of_neighbours * run_of_neighbours;
    with_wide_vectors([&] {
      Wide run[sizeof...(Ts)][run_of_neighbours];
      for (std::int64_t i = begin; i < whole; i += run_of_neighbours) {
        (read(run[Is], static_cast<Ts*>(each.block[Is]) + i), ...);
        each.f.run(run[Is]...);
        (write(static_cast<Ts*>(each.block[Is]) + i, run[Is]), ...);
      }
    });
    for (std::int64_t i = whole; i < end; ++i) each(i);
  }

  template <class T>
  static void read(Wide* run, T const* from) {
    for (int i = 0; i < run_of_neighbours; ++i) run[i] = Wide(from[i]);
  }
  template <class T>
  static void write(T* to, Wide const* run) {
    if constexpr (!std::is_const_v<T>)
      for (int i = 0; i < run_of_neighbours; ++i) to[i] = T(run[i]);
  }
};

}  // namespace detail

/// Calls f(x…) on corresponding elements of blocks with `elements` elements each; it writes the blocks that are not
/// const. f takes references to numbers of type `Wide`; on the host, `f.run(x…)` takes pointers to run_of_neighbours
/// such numbers. Two blocks are the same, or do not overlap. On the host, it returns when all elements are written.
template <class Wide, class Exec, class F, class... Ts>
void change_blocks(char const* name, Exec const& exec, std::int64_t elements, F const& f, Ts*... blocks) {
  using each = detail::change_elements<Wide, F, Ts...>;
  each const one{f, {const_cast<std::remove_const_t<Ts>*>(blocks)...}};
  if constexpr (runs_on_host<Exec>) {
    using stretches = detail::change_stretches<Wide, F, Ts...>;
    stretches const kernel{one, elements};
    for_each_item(name, exec, (elements + stretches::stretch - 1) / stretches::stretch, elements, kernel);
  } else {
    for_each_item(name, exec, elements, elements, one);
    fence_on_host(exec);
  }
}

}  // namespace ostraka::engine
