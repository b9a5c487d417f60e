// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. A planned contraction as matrix products of the library, panel by panel: over the batch, over what could
/// not be joined in m and n, and, adding up, over what could not be joined in k (a gathered axis is such a pair:
/// device, local).

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

#include <ostraka/engine/kernels/blas/cblas.hpp>
#include <ostraka/engine/kernels/blas/panels.hpp>
#include <ostraka/engine/kernels/parallel.hpp>
#include <ostraka/engine/kernels/products/algorithms.hpp>
#include <ostraka/engine/machine/openblas.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine::detail {

#if OSTRAKA_ENABLE_CBLAS

/// Elements that the panels of one thread take.
struct panel_room {
  std::int64_t a = 0, b = 0, c = 0;

  explicit panel_room(contraction_plan const& p) {
    auto const area = [](matrix_dimension const& x, matrix_dimension const& y) {
      return std::max(x.panel * y.padded_panel(), x.padded_panel() * y.panel);
    };
    if (p.pack[0]) a = area(p.m, p.k);
    if (p.pack[1]) b = area(p.k, p.n);
    if (p.pack[2]) c = area(p.m, p.n);
  }
  std::int64_t size() const { return a + b + c; }
};

/// Where the gathered operands lie along the dimensions that they have.
struct plan_tables {
  run_table m_a, k_a, k_b, n_b, m_c, n_c;

  static std::int64_t bytes(contraction_plan const& p) {
    std::int64_t const m = run_table::bytes(p.m), n = run_table::bytes(p.n), k = run_table::bytes(p.k);
    return (p.pack[0] ? m + k : 0) + (p.pack[1] ? k + n : 0) + (p.pack[2] ? m + n : 0);
  }

  plan_tables(contraction_plan const& p, char* room) {
    auto const table = [&](bool packed, matrix_dimension const& d, int operand) {
      if (!packed) return run_table();
      char* const here = room;
      room += run_table::bytes(d);
      return run_table(d, operand, here);
    };
    m_a = table(p.pack[0], p.m, 0);
    k_a = table(p.pack[0], p.k, 0);
    k_b = table(p.pack[1], p.k, 1);
    n_b = table(p.pack[1], p.n, 0);
    m_c = table(p.pack[2], p.m, 1);
    n_c = table(p.pack[2], p.n, 1);
  }
};

/// A piece of a dimension.
struct piece {
  std::int64_t index, begin, count;
  piece(matrix_dimension const& d, std::int64_t i)
      : index(i), begin(i * d.panel), count(std::min(d.panel, d.extent - begin)) {}
};

/// What one thread does: some of the tasks, with panels of its own.
template <class T>
struct product_tasks {
  contraction_plan const& plan;
  plan_tables const& tables;
  T const* a;
  T const* b;
  T* c;
  update<T> how;

  void run(std::int64_t begin, std::int64_t end, T* panels) const {
    if (plan.plain) return run_plain(begin, end);
    panel_room const room(plan);
    held held_a{panels, -1, -1, -1}, held_b{panels + room.a, -1, -1, -1};
    T* const panel_c = panels + room.a + room.b;
    std::int64_t const m_panels = plan.m.panels(), n_panels = plan.n.panels();
    loop_walker<3> outer(plan.outer, begin / (m_panels * n_panels));
    for (std::int64_t task = begin; task < end; ++task) {
      if (task != begin && task % (m_panels * n_panels) == 0) outer.next();
      one_task(outer.offset, piece(plan.m, task % m_panels), piece(plan.n, task / m_panels % n_panels), held_a, held_b,
               panel_c);
    }
  }

 private:
  /// A panel in scratch memory and what it holds: the same again need not be gathered again.
  struct held {
    T* panel;
    std::int64_t offset, line, place;

    bool holds(std::int64_t at, std::int64_t i, std::int64_t j) {
      bool const same = offset == at && line == i && place == j;
      offset = at, line = i, place = j;
      return same;
    }
  };

  /// Small products leave no time for anything but the call.
  void run_plain(std::int64_t begin, std::int64_t end) const {
    loop_walker<3> outer(plan.outer, begin);
    for (std::int64_t task = begin; task < end; ++task, outer.next())
      cblas_gemm(plan.by_rows, plan.a, plan.b, plan.m.extent, plan.n.extent, plan.k.extent, a + outer.offset[0],
                 b + outer.offset[1], how, c + outer.offset[2], plan.c.leading);
  }

  /// One panel of C: the sum over the pieces of k.
  void one_task(std::int64_t const (&at)[3], piece const& m, piece const& n, held& held_a, held& held_b,
                T* panel_c) const {
    T* const target = plan.pack[2] ? panel_c : c + at[2] + m.begin * plan.m.step(1) + n.begin * plan.n.step(1);
    update<T> product = plan.pack[2] ? update<T>{how.alpha, T(0)} : how;  // the first one; the others are added to it
    std::int64_t const k_panels = plan.k.panels();
    loop_walker<2> k_outer(plan.k.outer, 0);
    for (std::int64_t ik = 0, turns = plan.k.outer.size(); ik < turns; ++ik, k_outer.next())
      for (std::int64_t ip = 0; ip < k_panels; ++ip, product.beta = T(1)) {
        piece const k(plan.k, ip);
        std::int64_t const part = ik * k_panels + ip;
        T const* const left = plan.pack[0]
                                  ? packed_a(held_a, at[0] + k_outer.offset[0], m, k, part)
                                  : a + at[0] + k_outer.offset[0] + m.begin * plan.m.step(0) + k.begin * plan.k.step(0);
        T const* const right =
            plan.pack[1] ? packed_b(held_b, at[1] + k_outer.offset[1], k, n, part)
                         : b + at[1] + k_outer.offset[1] + k.begin * plan.k.step(1) + n.begin * plan.n.step(0);
        cblas_gemm(plan.by_rows, plan.a, plan.b, m.count, n.count, k.count, left, right, product, target,
                   plan.c.leading);
      }
    if (!plan.pack[2]) return;
    auto const [lines, places] = orient(plan.c, tables.m_c.of_panel(m.index), tables.n_c.of_panel(n.index));
    scatter_panel(c + at[2], panel_c, plan.c.leading, lines, places, update<T>{T(1), how.beta});
  }

  T const* packed_a(held& h, std::int64_t offset, piece const& m, piece const& k, std::int64_t part) const {
    if (!h.holds(offset, m.index, part)) gather(h.panel, plan.a, a + offset, tables.m_a, m, tables.k_a, k);
    return h.panel;
  }

  T const* packed_b(held& h, std::int64_t offset, piece const& k, piece const& n, std::int64_t part) const {
    if (!h.holds(offset, n.index, part)) gather(h.panel, plan.b, b + offset, tables.k_b, k, tables.n_b, n);
    return h.panel;
  }

  void gather(T* panel, matrix_view const& view, T const* block, run_table const& rows, piece const& i,
              run_table const& columns, piece const& j) const {
    auto const [lines, places] = orient(view, rows.of_panel(i.index), columns.of_panel(j.index));
    gather_panel(panel, view.leading, block, lines, places);
  }

  bool stored_by_rows(matrix_view const& view) const { return view.transposed != plan.by_rows; }

  /// Lines are rows where the panel is stored by rows.
  std::pair<panel_runs, panel_runs> orient(matrix_view const& view, panel_runs const& rows,
                                           panel_runs const& columns) const {
    return stored_by_rows(view) ? std::pair(rows, columns) : std::pair(columns, rows);
  }
};

/// Products smaller than this are too little for the library's own threads.
inline constexpr std::int64_t threads_of_library = 1 << 21;

inline std::int64_t multiplications_of(contraction_plan const& plan) {
  return plan.tasks() * plan.m.panel * plan.n.panel * plan.k.extent * plan.k.outer.size();
}

/// How many threads should share the tasks: those of the library serve few large products better.
template <class Exec>
std::int64_t threads_for(Exec const& exec, contraction_plan const& plan) {
  std::int64_t const threads = exec.concurrency();
  std::int64_t const tasks = plan.tasks();
  if (threads == 1 || tasks == 1 || openblas::pool() == blas_pool::none)
    return 1;                                          // without threads of its own it need not allow for ours
  if (multiplications_of(plan) < (1 << 16)) return 1;  // a team takes microseconds to wake
  bool const few = tasks < 4 * threads && tasks % threads != 0;
  return few && plan.m.panel * plan.n.panel * plan.k.panel > threads_of_library ? 1 : std::min(threads, tasks);
}

/// c <- alpha A B + beta c along a plan through the library.
template <class Exec, class T>
void run_plan(Exec const& exec, contraction_plan const& plan, T const* a, T const* b, T* c, update<T> const& how) {
  fence(exec);  // the library knows nothing of execution space instances
  if (plan.single) {
    cblas_gemm(plan.by_rows, plan.a, plan.b, plan.m.extent, plan.n.extent, plan.k.extent, a, b, how, c, plan.c.leading);
    return;
  }
  std::int64_t const tasks = plan.tasks();
  std::int64_t const threads = threads_for(exec, plan);
  std::int64_t const table_bytes = (plan_tables::bytes(plan) + 63) / 64 * 64;
  std::int64_t const panels = panel_room(plan).size();
  kernel_scratch<char, typename Exec::memory_space> const room(table_bytes +
                                                               threads * panels * static_cast<std::int64_t>(sizeof(T)));
  plan_tables const tables(plan, room.data());
  T* const first_panels = reinterpret_cast<T*>(room.data() + table_bytes);
  product_tasks<T> const work{plan, tables, a, b, c, how};
  if (threads == 1) {
    work.run(0, tasks, first_panels);
    return;
  }
  for_each_share("ostraka products", exec, tasks, threads, multiplications_of(plan),
                 [=, &work](std::int64_t begin, std::int64_t end, std::int64_t thread) {
                   work.run(begin, end, first_panels + thread * panels);
                 });
}

#endif

}  // namespace ostraka::engine::detail
