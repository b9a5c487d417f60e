// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Reduces a dense block over some of its dimensions to states of an accumulator (accumulator.hpp). It reads
/// each element from memory once: along the reduced dimension if that is the last one, otherwise across neighbouring
/// results. Long reductions to few results are cut into parts. The number of parts depends only on the extents, so the
/// result does not depend on the number of threads.
///
///     [I, J], J reduced      along:  one state, x[i, 0], x[i, 1], …
///     [I, J], I reduced      across: a row of states, x[0, :], x[1, :], …

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/accumulators/accumulator.hpp>
#include <ostraka/engine/kernels/folds/fold.hpp>
#include <ostraka/engine/kernels/folds/fold_kernel.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine {

/// The loops over a dense block that is reduced. Results are dense in the order of their loops.
struct accumulation_loops {
  loop_nest<1> results;          ///< {x}
  loop_nest<2> reduced;          ///< {x, index}
  std::int64_t first_index = 0;  ///< index of the block's first element
};

namespace detail {

/// The parts of the reduced iterations of each result.
struct accumulated_parts {
  std::int64_t count;
  std::int64_t iterations;
  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t begin(std::int64_t part) const { return part * iterations / count; }
};

/// One result of one part.
template <class Accumulator>
struct accumulate_one {
  accumulation_loops loops;
  typename Accumulator::element const* x;
  typename Accumulator::state* states;
  accumulated_parts parts;
  std::int64_t results;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const part = item / results;
    std::int64_t at[1];
    loops.results.locate(item % results, at);
    typename Accumulator::state s = Accumulator::start();
    loop_walker<2> walker(loops.reduced, parts.begin(part));
    for (std::int64_t r = parts.begin(part); r < parts.begin(part + 1); ++r, walker.next())
      Accumulator::take(s, x[at[0] + walker.offset[0]], loops.first_index + walker.offset[1]);
    states[item] = s;
  }
};

/// Combines the states of the parts of one result.
template <class Accumulator>
struct combine_parts {
  typename Accumulator::state const* partial;
  typename Accumulator::state* states;
  std::int64_t parts;
  std::int64_t results;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    typename Accumulator::state s = partial[i];
    for (std::int64_t p = 1; p < parts; ++p) s = Accumulator::combined(s, partial[p * results + i]);
    states[i] = s;
  }
};

template <class Accumulator>
struct start_states {
  typename Accumulator::state* states;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const { states[i] = Accumulator::start(); }
};

/// Returns the number of pieces of a row of results, each accumulated together.
template <class Element>
std::int64_t pieces_of(std::int64_t row) {
  return (row + accumulated_rows<Element> - 1) / accumulated_rows<Element>;
}

/// The kernel on the host: tasks are pieces of rows of neighbouring results, or single results, for each part.
template <class Accumulator>
struct accumulate_on_host {
  using state = typename Accumulator::state;
  using element = typename Accumulator::element;
  static constexpr std::int64_t together = accumulated_rows<element>;

  accumulation_loops loops;  // results without the row
  element const* x;
  state* states;
  accumulated_parts parts;
  std::int64_t row;     // results that are adjacent in the block and accumulated together
  std::int64_t pieces;  // of a row

  [[nodiscard]] std::int64_t tasks_of_part() const { return loops.results.size() * pieces; }

  void operator()(std::int64_t begin, std::int64_t end, std::int64_t) const {
    with_wide_vectors([this, begin, end] {
      for (std::int64_t task = begin; task < end;) task = row == 1 ? along(task, end) : across(task);
    });
  }

 private:
  // Prefetches the next steps meanwhile: they begin elsewhere in memory, which processors do not predict.
  template <int Steps>
  static void take_steps(typename Accumulator::row& row, element const* x, std::int64_t step, std::int64_t count,
                         std::int64_t steps, bool asks) {
    constexpr std::int64_t line = elements_of_line<element>, strip = 16 * line;
    for (std::int64_t first = 0; first < count; first += strip) {
      std::int64_t const n = count - first < strip ? count - first : strip;
      for (int r = 0; r < Steps && asks; ++r)
        for (std::int64_t i = 0; i < n; i += line) __builtin_prefetch(x + (Steps + r) * step + first + i);
      Accumulator::template across<Steps>(row, first, x + first, step, n, steps);
    }
  }

  // Accumulates single results of a part, one after the other. Returns the task after them.
  std::int64_t along(std::int64_t task, std::int64_t end) const {
    std::int64_t const results = loops.results.size(), part = task / results;
    std::int64_t const begin = parts.begin(part), behind = parts.begin(part + 1);
    int const inner = loops.reduced.rank - 1;
    // If the last reduced axes have a single index in the block, the loop runs along another axis, whose index step is
    // the length of these axes.
    std::int64_t const index_step = inner < 0 ? 0 : loops.reduced.stride[1][inner];
    loop_walker<1> at(loops.results, task % results);
    if (end > (part + 1) * results) end = (part + 1) * results;
    for (; task < end; ++task, at.next()) {
      element const* const from = x + at.offset[0];
      state s = Accumulator::start();
      if (inner == 0)
        Accumulator::along(s, from + begin, behind - begin, loops.first_index + begin * index_step, index_step);
      else
        for_each_run(loops.reduced, begin, behind, [&](std::int64_t const(&offset)[2], std::int64_t run) {
          Accumulator::along(s, from + offset[0], run, loops.first_index + offset[1], index_step);
        });
      states[task] = s;
    }
    return task;
  }

  // Accumulates adjacent results together. Returns the next task.
  std::int64_t across(std::int64_t task) const {
    std::int64_t const part = task / tasks_of_part(), in_part = task % tasks_of_part();
    std::int64_t const outer = in_part / pieces, first = in_part % pieces * together;
    std::int64_t at[1];
    loops.results.locate(outer, at);
    std::int64_t const count = row - first < together ? row - first : together;
    std::int64_t const begin = parts.begin(part), end = parts.begin(part + 1);
    element const* const from = x + at[0] + first;
    typename Accumulator::row states_of_row;
    int const inner = loops.reduced.rank - 1;
    std::int64_t const step = inner < 0 ? 0 : loops.reduced.stride[0][inner];
    bool const apart = step >= elements_of_page<element>;  // the steps are separate streams
    std::int64_t steps = 0;
    for_each_run(loops.reduced, begin, end, [&](std::int64_t const(&offset)[2], std::int64_t run) {
      stream_of_rows<element> const rows{from + offset[0], count, step, run};
      bool const interleaved = apart || rows.is_near(accumulated_steps);
      for (std::int64_t r = 0, taken = 0; r < run; r += taken, steps += taken) {
        element const* const x_r = rows.x + r * step;
        std::int64_t const left = run - r;
        taken = interleaved && left >= accumulated_steps ? accumulated_steps : 1;
        rows.prefetch_beyond(r, taken);
        if (taken == 1)
          take_steps<1>(states_of_row, x_r, step, count, steps, apart && left > 1);
        else
          take_steps<accumulated_steps>(states_of_row, x_r, step, count, steps, apart && left >= 2 * accumulated_steps);
      }
    });
    auto const index_of = [this, begin](std::int64_t then) {
      std::int64_t place[2];
      loops.reduced.locate(begin + then, place);
      return loops.first_index + place[1];
    };
    state* const to = states + (part * loops.results.size() + outer) * row + first;
    for (std::int64_t i = 0; i < count; ++i) to[i] = Accumulator::at(states_of_row, i, index_of);
    return task + 1;
  }
};

/// Returns the number of results that are adjacent in the block, if results are closer to each other than the elements
/// of each; otherwise 1.
inline std::int64_t results_side_by_side(accumulation_loops const& loops) {
  int const last = loops.results.rank - 1, reduced = loops.reduced.rank - 1;
  bool const in_rows = last >= 0 && (reduced < 0 || loops.results.stride[0][last] < loops.reduced.stride[0][reduced]);
  return in_rows ? loops.results.extent[last] : 1;
}

template <class Accumulator, class Exec>
void accumulate_parts(Exec const& exec, accumulation_loops loops, typename Accumulator::element const* x,
                      typename Accumulator::state* states, std::int64_t parts) {
  std::int64_t const results = loops.results.size(), iterations = loops.reduced.size();
  std::int64_t const elements = results * iterations;
  accumulated_parts const cut{parts, iterations};
  if constexpr (runs_on_host<Exec>) {
    std::int64_t const row = results_side_by_side(loops);
    if (row > 1) loops.results.remove(loops.results.rank - 1);
    std::int64_t const pieces = pieces_of<typename Accumulator::element>(row);
    accumulate_on_host<Accumulator> const kernel{loops, x, states, cut, row, pieces};
    std::int64_t const tasks = parts * kernel.tasks_of_part(), worth = elements / serial_elements + 1;
    for_each_share("ostraka accumulate", exec, tasks, worth < tasks ? worth : tasks, elements, kernel);
  } else {
    for_each_item("ostraka accumulate", exec, parts * results, elements,
                  accumulate_one<Accumulator>{loops, x, states, cut, results});
  }
}

}  // namespace detail

/// states[r] <- the state of the elements of result r. All is written, or started, when it returns.
template <class Accumulator, class Exec>
void accumulate(Exec const& exec, accumulation_loops loops, typename Accumulator::element const* x,
                typename Accumulator::state* states) {
  loops.results.merge();
  loops.reduced.merge();
  std::int64_t const results = loops.results.size(), iterations = loops.reduced.size();
  if (results == 0) return;
  if (iterations == 0) {
    for_each_item("ostraka accumulate nothing", exec, results, results, detail::start_states<Accumulator>{states});
    return;
  }
  std::int64_t const row = detail::results_side_by_side(loops),
                     pieces = results / row * detail::pieces_of<typename Accumulator::element>(row);
  constexpr std::int64_t most_steps = std::int64_t(1) << 30;  // steps of a part, which accumulators count in 32 bits
  std::int64_t const parts = std::max(detail::parts_of_fold<Exec>(pieces, results * iterations / pieces, iterations),
                                      iterations / most_steps + 1);
  if (parts == 1) return detail::accumulate_parts<Accumulator>(exec, loops, x, states, 1);
  kernel_scratch<typename Accumulator::state, typename Exec::memory_space> const partial(parts * results);
  detail::accumulate_parts<Accumulator>(exec, loops, x, partial.data(), parts);
  for_each_item("ostraka combine parts", exec, results, parts * results,
                detail::combine_parts<Accumulator>{partial.data(), states, parts, results});
}

}  // namespace ostraka::engine
