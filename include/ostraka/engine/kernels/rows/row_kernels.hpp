// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Softmax and norms of one device's block along one of its dimensions: the statistic of each row, and a
/// formula for each element (row_statistics.hpp, row_formulas.hpp). On the host row_tasks.hpp runs it. On accelerators,
/// a team of threads handles a row, and merges the statistics of its threads; a single thread handles a short row, or
/// one of many adjacent rows.

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/rows/row_formulas.hpp>
#include <ostraka/engine/kernels/rows/row_tasks.hpp>
#include <ostraka/engine/kernels/rows/rows_of_block.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

namespace detail {

/// A row on a device.
template <class X, class Mask>
struct row_element {
  rows_of_block<X, Mask> const& in;
  std::int64_t row;
  KOKKOS_INLINE_FUNCTION auto operator()(std::int64_t k) const { return in.element(row, k); }
};

/// Elements first, first + step, … of a row.
template <class X, class Mask>
struct every_element {
  row_element<X, Mask> of;
  std::int64_t first, step;
  KOKKOS_INLINE_FUNCTION auto operator()(std::int64_t k) const { return of(first + k * step); }
};

/// Teams of threads, with one row each. Neighbouring threads read neighbouring elements.
template <class Exec>
struct teams_of_rows {
  static constexpr int most = 256, least = 32;
  using policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<most, 1>>;
  using member = typename policy::member_type;

  /// True if rows are long enough for a team, and there are not so many adjacent rows that one thread per row reads as
  /// fast.
  static bool share(row_layout const& rows) {
    constexpr std::int64_t enough_rows = 65536;
    return rows.length >= least && (rows.step == 1 || rows.count() < enough_rows);
  }

  template <class Kernel>
  static void run(char const* name, Exec const& exec, row_layout const& rows, Kernel const& kernel) {
    if (!computes()) return;
    int threads = least;
    while (threads < most && threads * 4 <= rows.length) threads *= 2;
    policy p(exec, static_cast<int>(rows.count()), threads);
    using part = part_of_row<typename Kernel::statistic>;
    p.set_scratch_size(0, Kokkos::PerTeam(threads * static_cast<int>(sizeof(part)) + static_cast<int>(alignof(part))));
    Kokkos::parallel_for(detail::kernel_name(name), p, kernel);
  }

  template <class Statistic>
  struct part_of_row {
    Statistic statistic;
    std::int64_t elements;
  };

  /// Returns the statistic of the team's row to all its threads. @pre the team's size is a power of two
  template <class Statistic, class X, class Mask>
  KOKKOS_INLINE_FUNCTION static Statistic measure(member const& team, rows_of_block<X, Mask> const& in) {
    using part = part_of_row<Statistic>;
    int const threads = team.team_size(), me = team.team_rank();
    auto* const parts =
        static_cast<part*>(team.team_scratch(0).get_shmem_aligned(sizeof(part) * threads, alignof(part)));
    std::int64_t const own = me < in.rows.length ? (in.rows.length - me + threads - 1) / threads : 0;
    row_element<X, Mask> const row{in, team.league_rank()};
    parts[me] = {Statistic::of_elements(own, every_element<X, Mask>{row, me, threads}), own};
    for (int half = threads / 2; half > 0; half /= 2) {
      team.team_barrier();
      if (me >= half) continue;
      part const a = parts[me], b = parts[me + half];
      parts[me] = {Statistic::merge(a.statistic, b.statistic, a.elements, b.elements), a.elements + b.elements};
    }
    team.team_barrier();
    return parts[0].statistic;
  }
};

template <class Statistic, class X, class Mask>
struct measure_row {
  rows_of_block<X, Mask> in;
  Statistic* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    to[row] = Statistic::of_elements(in.rows.length, row_element<X, Mask>{in, row});
  }
};

template <class Exec, class Statistic, class X, class Mask>
struct measure_row_by_team {
  using statistic = Statistic;
  rows_of_block<X, Mask> in;
  Statistic* to;
  KOKKOS_INLINE_FUNCTION void operator()(typename teams_of_rows<Exec>::member const& team) const {
    Statistic const s = teams_of_rows<Exec>::template measure<Statistic>(team, in);
    if (team.team_rank() == 0) to[team.league_rank()] = s;
  }
};

template <class Formula, class X, class Mask, class Gain, class Bias>
struct write_row {
  using T = accumulator_of_t<X>;
  rows_of_block<X, Mask> in;
  Formula formula;
  std::int64_t total;
  X* out;
  Gain const* gain;
  Bias const* bias;
  typename Formula::statistic const* from;  // null: computes them
  typename Formula::statistic* kept;        // null: not wanted

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    row_element<X, Mask> const x{in, row};
    auto const statistic = from != nullptr ? from[row] : Formula::statistic::of_elements(in.rows.length, x);
    if (kept != nullptr) kept[row] = statistic;
    write(row, statistic, 0, 1);
  }

  /// Writes elements begin, begin + step, … of a row.
  KOKKOS_INLINE_FUNCTION void write(std::int64_t row, typename Formula::statistic const& statistic, std::int64_t begin,
                                    std::int64_t step) const {
    row_element<X, Mask> const x{in, row};
    row_coefficients<T> const c = formula.of_row(statistic, total);
    for (std::int64_t k = begin; k < in.rows.length; k += step) {
      T y = formula(x(k), c.a, c.b);
      if constexpr (HidesElements<Formula>)
        if (formula.hides && x(k) == minus_infinity<T>) y = Formula::hidden;
      if constexpr (!std::is_same_v<Gain, no_vector>) y = y * static_cast<T>(gain[k]);
      if constexpr (!std::is_same_v<Bias, no_vector>) y = y + static_cast<T>(bias[k]);
      out[in.rows.first(row) + k * in.rows.step] = static_cast<X>(y);
    }
  }
};

template <class Exec, class Formula, class X, class Mask, class Gain, class Bias>
struct write_row_by_team {
  using statistic = typename Formula::statistic;
  write_row<Formula, X, Mask, Gain, Bias> all;

  KOKKOS_INLINE_FUNCTION void operator()(typename teams_of_rows<Exec>::member const& team) const {
    std::int64_t const row = team.league_rank();
    statistic const s =
        all.from != nullptr ? all.from[row] : teams_of_rows<Exec>::template measure<statistic>(team, all.in);
    if (all.kept != nullptr && team.team_rank() == 0) all.kept[row] = s;
    all.write(row, s, team.team_rank(), team.team_size());
  }
};

}  // namespace detail

/// Computes the statistic of each row.
template <class Formula, class Exec, class X, class Mask>
void measure_rows(char const* name, Exec const& exec, rows_of_block<X, Mask> const& in,
                  typename Formula::statistic* to) {
  if (in.rows.count() == 0) return;
  if constexpr (runs_on_host<Exec>) {
    detail::row_tasks<Formula, X, Mask> const tasks(in, Formula{});
    detail::share_rows(name, exec, tasks.count(), in.rows,
                       [&](std::int64_t begin, std::int64_t end) { tasks.measure_share(begin, end, to); });
  } else {
    using statistic = typename Formula::statistic;
    if (detail::teams_of_rows<Exec>::share(in.rows))
      detail::teams_of_rows<Exec>::run(name, exec, in.rows,
                                       detail::measure_row_by_team<Exec, statistic, X, Mask>{in, to});
    else
      for_each_item(name, exec, in.rows.count(), in.rows.size(), detail::measure_row<statistic, X, Mask>{in, to});
    fence_on_host(exec);
  }
}

/// out <- the formula of each element, times its gain, plus its bias. `total`: elements of a whole row, of which these
/// may be a part. `from`: the rows' statistics, or null to compute them. `kept`: receives them, or null.
template <class Formula, class Exec, class X, class Mask, class Gain, class Bias>
void write_rows(char const* name, Exec const& exec, rows_of_block<X, Mask> const& in, Formula const& formula,
                std::int64_t total, typename Formula::statistic const* from, X* out, Gain const* gain, Bias const* bias,
                typename Formula::statistic* kept = nullptr) {
  if (in.rows.count() == 0) return;
  if constexpr (runs_on_host<Exec>) {
    detail::row_tasks<Formula, X, Mask, Gain, Bias> tasks(in, formula);
    tasks.total = total;
    tasks.out = out;
    tasks.gain = gain;
    tasks.bias = bias;
    if constexpr (std::is_same_v<Formula, softmax_formula<accumulator_of_t<X>>>)
      if (from == nullptr && kept == nullptr && tasks.keeps_long_rows())
        return detail::run_long_rows(name, exec, tasks);
    detail::share_rows(name, exec, tasks.count(), in.rows, [&](std::int64_t begin, std::int64_t end) {
      from != nullptr ? tasks.write_share(begin, end, from) : tasks.run_share(begin, end, kept);
    });
  } else {
    detail::write_row<Formula, X, Mask, Gain, Bias> const row{in, formula, total, out, gain, bias, from, kept};
    if (detail::teams_of_rows<Exec>::share(in.rows))
      detail::teams_of_rows<Exec>::run(name, exec, in.rows,
                                       detail::write_row_by_team<Exec, Formula, X, Mask, Gain, Bias>{row});
    else
      for_each_item(name, exec, in.rows.count(), in.rows.size(), row);
    fence_on_host(exec);
  }
}

}  // namespace ostraka::engine
