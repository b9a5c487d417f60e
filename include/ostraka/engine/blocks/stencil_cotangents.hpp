// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. The transpose of stencils, on this device's blocks: for b[i] = f(a around i, …), it turns the cotangents of
/// b into those of a. There is one pass for each offset s of the stencil: ā[i + s] += b̄[i] ∂f/∂a[i + s]. Within a pass
/// no two points write to the same element, so nothing is atomic, and sums are the same in every run.

#include <cstdint>

#include <ostraka/engine/blocks/stencil_block.hpp>
#include <ostraka/engine/kernels/add_part.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>

namespace ostraka::engine {

/// Calls `pass(at)` for each point around another, the nearest index last: at.step[k] in [−before[k], behind[k]].
template <int Axes, class Pass>
void for_each_neighbour(std::int64_t const* before, std::int64_t const* behind, Pass const& pass) {
  neighbour<Axes> at;
  for (int k = 0; k < Axes; ++k) at.step[k] = static_cast<int>(-before[k]);
  for (;;) {
    pass(static_cast<neighbour<Axes> const&>(at));
    int k = Axes - 1;
    while (k >= 0 && at.step[k] == behind[k]) at.step[k] = static_cast<int>(-before[k]), --k;
    if (k < 0) return;
    ++at.step[k];
  }
}

namespace detail {

// to[i] <- f(to[i], g[i], around i, …) for each point i of the result, which `g` has.
template <class Exec, class T, class F, class G, class... Operands>
void add_cotangents(Exec const& exec, stencil_points const& p, F const& f, aligned<T> const& to,
                    aligned<G const> const& g, Operands const&... from) {
  loop_nest<static_cast<int>(sizeof...(Operands)) + 3> loops;
  point_box where;
  T* target = to.data;
  for (int d = 0; d < p.rank; ++d) {
    where.set(d, {0, p.points(d)});
    target += p.first[d] * to.stride[d];
    loops.add(p.points(d), to.stride[d] * p.every[d], to.stride[d] * p.every[d], g.stride[d],
              (from.block.stride[d] * p.every[d])...);
  }
  stencil(exec, loops, f, target, stencil_source<T const, 0>{target, {}}, stencil_source<G const, 0>{g.data, {}},
          from.source_at(p, where)...);
}

}  // namespace detail

/// Adds to the cotangents `to` of an argument that is read at each point alone: `f(sum, g, arguments…)` is the new sum.
template <class Exec, class T, class F, class G, class... Operands>
void add_cotangents_of_points(Exec const& exec, stencil_points const& p, F const& f, aligned<T> const& to,
                              aligned<G const> const& g, Operands const&... from) {
  detail::add_cotangents(exec, p, f, to, g, from...);
  fence_on_host(exec);
}

/// Adds to the cotangents `to` of a padded argument: `function_at(n)(sum, g, arguments…)` is the new sum of the
/// neighbour n. `before`, `behind`, `stride`: margins and strides of its padded axes.
template <int Axes, class Exec, class T, class F, class G, class... Operands>
void add_cotangents_of_neighbours(Exec const& exec, stencil_points const& p, std::int64_t const* before,
                                  std::int64_t const* behind, std::int64_t const* stride, F const& function_at,
                                  aligned<T> const& to, aligned<G const> const& g, Operands const&... from) {
  for_each_neighbour<Axes>(before, behind, [&](neighbour<Axes> const& at) {
    aligned<T> there = to;
    for (int k = 0; k < Axes; ++k) there.data += at[k] * stride[k];
    detail::add_cotangents(exec, p, function_at(at), there, g, from...);
  });
  fence_on_host(exec);
}

/// The elements around each point of a stencil, as an array: their places in it, and in the padded block. The
/// dimensions [taps, taps + axes) of the array are steps along the padded axes.
struct patch_layout {
  strided array;       ///< dense
  strided padded;      ///< the same elements
  std::int64_t begin;  ///< place in the padded block of the array's first element
  int taps = 0;
  int axes = 0;
};

/// array <- the elements around each point
template <class Exec, class T>
void gather_patches(Exec const& exec, patch_layout const& l, T const* padded, T* array) {
  copy(exec, array, l.array, padded + l.begin, l.padded);
  fence_on_host(exec);
}

/// padded += the elements of the array, each where it came from: one pass for each step.
template <class Exec, class T>
void add_patches(Exec const& exec, patch_layout const& l, T* padded, T const* array) {
  strided of_array, of_padded;
  std::int64_t steps = 1;
  for (int d = 0; d < l.array.rank; ++d) {
    if (d >= l.taps && d < l.taps + l.axes) {
      steps *= l.array.extent[d];
    } else {
      of_array.add(l.array.extent[d], l.array.stride[d]);
      of_padded.add(l.array.extent[d], l.padded.stride[d]);
    }
  }
  for (std::int64_t s = 0; s < steps; ++s) {
    T* to = padded + l.begin;
    T const* from = array;
    std::int64_t rest = s;
    for (int d = l.taps + l.axes - 1; d >= l.taps; --d) {
      std::int64_t const step = rest % l.array.extent[d];
      to += step * l.padded.stride[d];
      from += step * l.array.stride[d];
      rest /= l.array.extent[d];
    }
    add_part(exec, to, of_padded, from, of_array);
  }
  fence_on_host(exec);
}

}  // namespace ostraka::engine
