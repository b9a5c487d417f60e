// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Rows taken and added on this device's blocks, which meet without a move: out[B_X, D_Y] = table[index[B_X],
/// D_Y], and its transpose. Of the axis that the indices point into a device knows its own range.

#include <cstdint>

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

/// Where the elements of a block lie under the loops of another: the first one, and a stride for each of its labels.
struct placed_block {
  std::int64_t first = 0;
  std::int64_t stride[max_rank + 1]{};  // by dimension of the loops; 0 along those that it lacks
  index_window window{};
};

// `v`: the label that the indices point into.
inline placed_block place_under(execution_context const& w, planner::spec const& block, planner::spec const& loops,
                                int v) {
  placed_block p;
  std::int64_t step = 1;
  for (int i = block.rank - 1; i >= 0; --i) {
    planner::range const own = planner::range_of(block, i, w.here, w.sizes);
    int const at = loops.find(block.label[i]);
    if (block.label[i] == v) {
      p.window = {own.begin, own.size(), step};
    } else if (at >= 0) {
      p.first += (planner::range_of(loops, at, w.here, w.sizes).begin - own.begin) * step;
      p.stride[at] = step;
    }
    step *= own.size();
  }
  return p;
}

inline loop_nest<3> loops_of_rows(execution_context const& w, planner::spec const& s, placed_block const& a,
                                  placed_block const& b, placed_block const& c) {
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

/// out <- table[index], on dense blocks of these shardings. `v`: the label of the table that out lacks. @pre out is
/// divided as index along its labels, and as table or further along the table's. All is written when it returns.
template <class Exec, class T, class Index>
void look_up_blocks(Exec const& exec, execution_context const& w, int v, planner::spec const& out,
                    planner::spec const& table, planner::spec const& index, T* result, T const* rows,
                    Index const* numbers) {
  detail::placed_block const to = detail::place_under(w, out, out, v);
  detail::placed_block const from = detail::place_under(w, table, out, v);
  detail::placed_block const by = detail::place_under(w, index, out, v);
  loop_nest<3> const loops = detail::loops_of_rows(w, out, to, from, by);
  if (loops.size() > 0) look_up(exec, loops, from.window, result, rows + from.first, numbers + by.first);
}

/// out <- Σ updates where the index says, in the order of the updates; 16-bit numbers are summed in float. `v`: the
/// label of out that updates lack. @pre index is divided as updates along its labels, out as updates along theirs
template <class Exec, class T, class Index>
void scatter_add_blocks(Exec const& exec, execution_context const& w, int v, planner::spec const& out,
                        planner::spec const& updates, planner::spec const& index, T* result, T const* rows,
                        Index const* numbers) {
  using sum = accumulator_of_t<T>;
  detail::placed_block const to = detail::place_under(w, out, updates, v);
  detail::placed_block const from = detail::place_under(w, updates, updates, v);
  detail::placed_block const by = detail::place_under(w, index, updates, v);
  loop_nest<3> const loops = detail::loops_of_rows(w, updates, to, from, by);
  std::int64_t const elements = planner::block_size(out, w.here, w.sizes);
  auto const add = [&](sum* into) {
    fill(exec, into, elements, sum(0));
    scatter_add(exec, loops, to.window, into, rows, numbers);
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
  fence(exec);
}

}  // namespace ostraka::engine
