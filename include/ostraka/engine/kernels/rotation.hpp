// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Rotates the pairs of a block by angles p · θ_f of a position p and a frequency f. It makes a table of
/// cosines and sines, one row per position, and applies the table in one pass over the block. Angles are computed in
/// double, and each depends only on p and f, so that all devices and calls get the same angle.
///
///     (a, b) → (a cos pθ − b sin pθ, a sin pθ + b cos pθ)

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <ostraka/engine/kernels/loops/independent.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/loops/parallel.hpp>
#include <ostraka/engine/kernels/loops/vectors.hpp>
#include <ostraka/engine/memory/per_thread.hpp>
#include <ostraka/engine/memory/pool.hpp>
#include <ostraka/types/values/half.hpp>

namespace ostraka::engine {

/// Reduces the angles of frequencies so slow that training has not seen a full turn: θ (r + (1 − r) / factor), where r
/// is clamped to 0 … 1 and depends on the angle θ or on the number f of the frequency.
struct angle_scaling {
  double factor = 1;
  double constant = 0, per_index = 0, per_angle = 0;  ///< r before clamping

  [[nodiscard]] KOKKOS_INLINE_FUNCTION double operator()(double angle, std::int64_t f) const {
    if (factor == 1) return angle;
    double const r = constant + per_index * static_cast<double>(f) + per_angle * angle;
    double const kept = r < 0 ? 0 : r > 1 ? 1 : r;
    return angle * (kept + (1 - kept) / factor);
  }
  friend bool operator==(angle_scaling const&, angle_scaling const&) = default;
};

/// The angles of a table: row r belongs to position `from + r`, or, if positions are given, to `from` + the position at
/// which `rows` points.
struct angle_table {
  loop_nest<1> rows;
  std::int64_t const* positions = nullptr;
  std::int64_t from = 0;
  std::int64_t first_frequency = 0;  ///< of this block
  std::int64_t frequencies = 0;      ///< of this block
  std::int64_t all_frequencies = 1;
  double base = 10000;
  angle_scaling scaling{};
  double const* given = nullptr;  ///< the angles of this block's frequencies, instead of base and scaling; or null
  std::int64_t given_step = 1;
  double magnitude = 1;  ///< the factor of the pairs
  double direction = 1;  ///< −1: pairs are rotated back

  [[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t position(std::int64_t row) const {
    if (positions == nullptr) return from + row;
    std::int64_t at[1];
    rows.locate(row, at);
    return from + positions[at[0]];
  }

  /// Returns θ_f: base^(−f/F), scaled, or the given angle.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double angle(std::int64_t f) const {
    using std::pow;
    if (given != nullptr) return given[f * given_step];
    std::int64_t const number = first_frequency + f;
    return scaling(pow(base, -static_cast<double>(number) / static_cast<double>(all_frequencies)), number);
  }
};

/// The layout of pairs: the loops over a block (and the rows of the table) except the loops over frequencies and pairs.
struct pair_layout {
  loop_nest<2> loops;
  std::int64_t frequency_step = 2;
  std::int64_t pair_step = 1;
};

namespace detail {

/// A position is 64 a + 8 b + j. Its angle is the angle of 64 a, rotated by those of 8 b and of j, which have few
/// values.
inline constexpr std::int64_t fine_positions = 64;
inline constexpr std::int64_t finest_positions = 8;

[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t coarse_position(std::int64_t p) { return p & -fine_positions; }

struct unit {
  double c = 1, s = 0;
};

[[nodiscard]] KOKKOS_INLINE_FUNCTION unit rotation_by(double angle) {
  using std::cos;
  using std::sin;
  return {cos(angle), sin(angle)};
}

[[nodiscard]] KOKKOS_INLINE_FUNCTION unit composed(unit const& u, unit const& v) {
  return {u.c * v.c - u.s * v.s, u.s * v.c + u.c * v.s};
}

/// Returns the rotation by j positions. @pre 0 ≤ j < fine_positions
[[nodiscard]] KOKKOS_INLINE_FUNCTION unit fine_rotation(std::int64_t j, double angle) {
  std::int64_t const rest = j % finest_positions;
  return composed(rotation_by(static_cast<double>(j - rest) * angle), rotation_by(static_cast<double>(rest) * angle));
}

/// Fills the table on the host. A row has all cosines, then all sines.
template <class W>
struct fill_angles {
  angle_table const& table;
  double const* angles;
  unit const* fine;  ///< by j and frequency
  unit* memory;      ///< by share and frequency
  W* out;

  void operator()(std::int64_t begin, std::int64_t end, std::int64_t share) const {
    std::int64_t const n = table.frequencies;
    unit* const coarse = memory + share * n;
    for (std::int64_t row = begin, last = 0; row < end; ++row) {
      std::int64_t const p = table.position(row), start = coarse_position(p);
      if (row == begin || start != last)
        for (std::int64_t f = 0; f < n; ++f) coarse[f] = rotation_by(static_cast<double>(start) * angles[f]);
      last = start;
      W* const c = out + row * 2 * n;
      with_wide_vectors([&, of = fine + (p - start) * n] {
        for_each_independent(n, [&](std::int64_t f) { write(composed(coarse[f], of[f]), c[f], c[n + f]); });
      });
    }
  }

  void write(unit const& u, W& c, W& s) const {
    c = static_cast<W>(table.magnitude * u.c);
    s = static_cast<W>(table.direction * table.magnitude * u.s);
  }
};

template <class W>
struct fill_angles_each {
  angle_table table;
  W* out;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t const row = i / table.frequencies, f = i % table.frequencies;
    std::int64_t const p = table.position(row), start = coarse_position(p);
    double const angle = table.angle(f);
    unit const u = composed(rotation_by(static_cast<double>(start) * angle), fine_rotation(p - start, angle));
    W* const c = out + row * 2 * table.frequencies + f;
    c[0] = static_cast<W>(table.magnitude * u.c);
    c[table.frequencies] = static_cast<W>(table.direction * table.magnitude * u.s);
  }
};

/// The angles of frequencies, and the rotations by 0, …, 63 positions for each. A thread keeps those that it used last,
/// since queries and keys of all layers use the same.
class fine_angles {
 public:
  static fine_angles const& of(angle_table const& table) {
    static thread_local constinit fine_angles* memory = nullptr;
    fine_angles& last = per_thread(memory);
    if (!last.are_of(table)) last.make(table);
    return last;
  }

  std::vector<double> angles;
  std::vector<unit> rotations;  ///< by j and frequency

 private:
  [[nodiscard]] bool are_of(angle_table const& table) const {
    if (all_ == 0 || static_cast<std::int64_t>(angles.size()) != table.frequencies) return false;
    if (table.given == nullptr)
      return !given_ && first_ == table.first_frequency && all_ == table.all_frequencies && base_ == table.base &&
             scaling_ == table.scaling;
    for (std::int64_t f = 0; f < table.frequencies; ++f)
      if (!(angles.data()[f] == table.angle(f))) return false;
    return true;
  }

  void make(angle_table const& table) {
    std::int64_t const n = table.frequencies;
    all_ = 0;  // no valid table, in case memory runs out below
    angles.resize(static_cast<std::size_t>(n));
    rotations.resize(static_cast<std::size_t>(fine_positions * n));
    for (std::int64_t f = 0; f < n; ++f) angles.data()[f] = table.angle(f);
    unit* const fine = rotations.data();
    for (std::int64_t j = 0; j < fine_positions; ++j) {
      std::int64_t const rest = j % finest_positions, begin = j - rest;
      for (std::int64_t f = 0; f < n; ++f)
        fine[j * n + f] = begin == 0 || rest == 0 ? rotation_by(static_cast<double>(j) * angles.data()[f])
                                                  : composed(fine[begin * n + f], fine[rest * n + f]);
    }
    first_ = table.first_frequency, all_ = table.all_frequencies, base_ = table.base;
    scaling_ = table.scaling, given_ = table.given != nullptr;
  }

  std::int64_t first_ = 0, all_ = 0;
  double base_ = 0;
  angle_scaling scaling_{};
  bool given_ = false;
};

template <class Exec, class W>
void make_angles(Exec const& exec, angle_table const& table, std::int64_t rows, W* out) {
  std::int64_t const n = table.frequencies;
  if constexpr (runs_on_host<Exec>) {
    std::int64_t const shares = (rows + fine_positions - 1) / fine_positions;
    kernel_scratch<unit, Kokkos::HostSpace> const memory(shares * n);  // allocated here, so that dry meshes count it
    if (!computes()) return;
    fine_angles const& fine = fine_angles::of(table);
    fill_angles<W> const fill{table, fine.angles.data(), fine.rotations.data(), memory.data(), out};
    for_each_share("ostraka angles", exec, rows, shares, rows * n * 4, fill);
  } else {
    for_each_item("ostraka angles", exec, rows * n, rows * n, fill_angles_each<W>{table, out});
  }
}

/// Rotates one pair.
template <class T, class W>
KOKKOS_INLINE_FUNCTION void rotate_pair(T const* x, T* y, std::int64_t second, W const& c, W const& s) {
  W const a = static_cast<W>(x[0]), b = static_cast<W>(x[second]);
  y[0] = static_cast<T>(a * c - b * s);
  y[second] = static_cast<T>(a * s + b * c);
}

/// Rows of a block, with one pair for each of its n frequencies.
template <class T, class W>
struct rotate_rows {
  T const* x;
  T* y;
  W const* table;
  std::int64_t n;
  pair_layout const& layout;
  std::int64_t begin, end;

  void operator()() const {
    loop_walker<2> at(layout.loops, begin);
    for (std::int64_t i = begin; i < end; ++i, at.next()) {
      W const* const row = table + at.offset[1] * 2 * n;
      if (layout.frequency_step <= 2) prefetch(x + at.offset[0] + elements_of_page<T>, 2 * n);
      if (layout.pair_step == 1 && layout.frequency_step == 2)
        interleaved(x + at.offset[0], y + at.offset[0], row, row + n);
      else if (layout.frequency_step == 1)
        halves(x + at.offset[0], x + at.offset[0] + layout.pair_step, y + at.offset[0],
               y + at.offset[0] + layout.pair_step, row, row + n);
      else
        strided(x + at.offset[0], y + at.offset[0], row, row + n);
    }
  }

 private:
  void interleaved(T const* __restrict from, T* __restrict to, W const* __restrict c, W const* __restrict s) const {
    for_each_independent(n, [=](std::int64_t f) { rotate_pair(from + 2 * f, to + 2 * f, 1, c[f], s[f]); });
  }

  // Writes one half after the other, since alternating between two places of memory is slower by a third. 16-bit
  // elements are bound by their conversion instead.
  void halves(T const* __restrict a, T const* __restrict b, T* __restrict to_a, T* __restrict to_b,
              W const* __restrict c, W const* __restrict s) const {
    if constexpr (is_narrow<T>) {
      for_each_independent(n, [=](std::int64_t f) {
        W const x0 = static_cast<W>(a[f]), x1 = static_cast<W>(b[f]);
        to_a[f] = static_cast<T>(x0 * c[f] - x1 * s[f]);
        to_b[f] = static_cast<T>(x0 * s[f] + x1 * c[f]);
      });
    } else {
      for_each_independent(n, [=](std::int64_t f) { to_a[f] = a[f] * c[f] - b[f] * s[f]; });
      for_each_independent(n, [=](std::int64_t f) { to_b[f] = a[f] * s[f] + b[f] * c[f]; });
    }
  }

  void strided(T const* from, T* to, W const* c, W const* s) const {
    std::int64_t const step = layout.frequency_step;
    for (std::int64_t f = 0; f < n; ++f) rotate_pair(from + f * step, to + f * step, layout.pair_step, c[f], s[f]);
  }
};

template <class T, class W>
struct rotate_each {
  T const* x;
  T* y;
  W const* table;
  std::int64_t n;
  pair_layout layout;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::int64_t at[2];
    layout.loops.locate(i / n, at);
    std::int64_t const f = i % n, first = at[0] + f * layout.frequency_step;
    W const* const row = table + at[1] * 2 * n + f;
    rotate_pair(x + first, y + first, layout.pair_step, row[0], row[n]);
  }
};

}  // namespace detail

/// y <- the pairs of x rotated; both are dense blocks with the same layout. `rows`: the number of rows of the table.
/// 16-bit elements are computed in float. On the host, it returns when y is written.
template <class Exec, class T>
void rotate_block(Exec const& exec, angle_table const& angles, std::int64_t rows, pair_layout const& layout, T const* x,
                  T* y) {
  using wide = accumulator_of_t<T>;
  std::int64_t const n = angles.frequencies, count = layout.loops.size();
  if (n == 0 || count == 0) return;
  kernel_scratch<wide, typename Exec::memory_space> const table(rows * 2 * n);
  detail::make_angles(exec, angles, rows, table.data());
  if constexpr (runs_on_host<Exec>) {
    auto const run = [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      detail::with_wide_vectors(detail::rotate_rows<T, wide>{x, y, table.data(), n, layout, begin, end});
    };
    std::int64_t const shares = (2 * n * count + serial_elements - 1) / serial_elements;
    for_each_share("ostraka rotate", exec, count, shares < count ? shares : count, 2 * n * count, run);
  } else {
    for_each_item("ostraka rotate", exec, n * count, n * count,
                  detail::rotate_each<T, wide>{x, y, table.data(), n, layout});
    fence_on_host(exec);
  }
}

}  // namespace ostraka::engine
