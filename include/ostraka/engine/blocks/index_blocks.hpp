// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Takes and adds rows on this device's blocks, which match without communication: out[B_X, D_Y] =
/// table[index[B_X], D_Y], and its transpose. A device knows its own range of the axis to which the indices refer.

#include <cstdint>

#include <ostraka/engine/blocks/aligned.hpp>
#include <ostraka/engine/kernels/copy_strided.hpp>
#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/kernels/rows/add_rows.hpp>
#include <ostraka/engine/kernels/rows/lookup.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

namespace detail {

// Returns the window of the label `v` to which the indices refer.
inline index_window window_of(execution_context const& w, planner::spec const& block, int v) {
  std::int64_t step = 1;
  for (int i = block.rank - 1; i >= 0; --i) {
    planner::range const own = planner::range_of(block, i, w.here, w.sizes);
    if (block.label[i] == v) return {own.begin, own.size(), step};
    step *= own.size();
  }
  return {};
}

template <class A, class B, class C>
loop_nest<3> loops_of_rows(execution_context const& w, planner::spec const& s, aligned<A> const& a, aligned<B> const& b,
                           aligned<C> const& c) {
  loop_nest<3> loops;
  for (int i = 0; i < s.rank; ++i)
    loops.add(planner::range_of(s, i, w.here, w.sizes).size(), a.stride[i], b.stride[i], c.stride[i]);
  return loops;
}

template <class T>
struct rounded {
  KOKKOS_INLINE_FUNCTION T operator()(accumulator_of_t<T> const& x) const noexcept { return T(x); }
};

}  // namespace detail

/// out <- table[index], on dense blocks of these shardings. `v`: the label of the table that out lacks. On the host, it
/// returns when `out` is written. @pre out is divided as index along its labels, and as table or further along the
/// table's
template <class Exec, class T, class Index>
void look_up_blocks(Exec const& exec, execution_context const& w, int v, planner::spec const& out,
                    planner::spec const& table, planner::spec const& index, T* result, T const* rows,
                    Index const* numbers) {
  aligned<T> const to = align(w, out, out, result);
  aligned<T const> const from = align(w, table, out, rows);
  aligned<Index const> const by = align(w, index, out, numbers);
  loop_nest<3> const loops = detail::loops_of_rows(w, out, to, from, by);
  if (loops.size() > 0) look_up(exec, loops, detail::window_of(w, table, v), to.data, from.data, by.data);
}

/// out <- Σ updates at the places that the index names, in the order of the updates; 16-bit numbers are summed in
/// float. `v`: the label of out that updates lack. @pre index is divided as updates along its labels, out as updates
/// along theirs
template <class Exec, class T, class Index>
void scatter_add_blocks(Exec const& exec, execution_context const& w, int v, planner::spec const& out,
                        planner::spec const& updates, planner::spec const& index, T* result, T const* rows,
                        Index const* numbers) {
  using sum = accumulator_of_t<T>;
  aligned<T> const to = align(w, out, updates, result);
  aligned<T const> const from = align(w, updates, updates, rows);
  aligned<Index const> const by = align(w, index, updates, numbers);
  loop_nest<3> const loops = detail::loops_of_rows(w, updates, to, from, by);
  index_window const window = detail::window_of(w, out, v);
  std::int64_t const elements = planner::block_size(out, w.here, w.sizes);
  auto const add = [&](sum* into) {
    fill(exec, into, elements, sum(0));
    scatter_add(exec, loops, window, into, from.data, by.data);
  };
  if constexpr (is_narrow<T>) {
    scratch<sum, typename Exec::memory_space> const wide(elements);
    add(wide.data());
    loop_nest<2> whole;
    whole.add(elements, 1, 1);
    map_elements(exec, whole, detail::rounded<T>{}, result, static_cast<sum const*>(wide.data()));
  } else {
    add(result);
  }
  fence_on_host(exec);
}

}  // namespace ostraka::engine
