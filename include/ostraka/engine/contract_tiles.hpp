// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Products of matrices on the host by ourselves: integers, builds without BLAS, extents beyond its int. C[b, m, n] is cut into tiles, an item
/// each; what a tile needs of A and B is packed into panels first, so that the inner loops know no layout.

#include <cstdint>

#include <ostraka/engine/contract_kernel.hpp>
#include <ostraka/engine/loop_nest.hpp>
#include <ostraka/engine/micro_kernel.hpp>
#include <ostraka/engine/turn.hpp>

namespace ostraka::engine::detail {

/// Offsets of the elements of up to `most` iterations of a loop.
template <int most>
struct offsets_of_run {
  std::int64_t at[2][most];
  int count = 0;

  template <class Loops>
  offsets_of_run(Loops const& loops, std::int64_t begin) {
    std::int64_t const left = loops.size() - begin;
    count = static_cast<int>(left < most ? left : most);
    loop_walker<2> walker(loops, begin);
    for (int i = 0; i < count; ++i, walker.next())
      for (int o = 0; o < 2; ++o) at[o][i] = walker.offset[o];
  }
};

/// The step with which `count` offsets follow one another; 0 if they do not.
inline std::int64_t step_of(std::int64_t const* at, int count) {
  if (count < 2) return 1;
  std::int64_t const step = at[1] - at[0];
  for (int i = 2; i < count; ++i)
    if (at[i] - at[i - 1] != step) return 0;
  return step;
}

/// panel[l, i] = from[at[i] + k_at[l]] for i < count, 0 up to `width`.
template <class T>
void pack_panel(T* panel, int width, T const* from, std::int64_t const* at, int count, std::int64_t const* k_at, int depth, std::int64_t k_step) {
  std::int64_t const step = step_of(at, count);
  if (count < width)
    for (int l = 0; l < depth; ++l)
      for (int i = count; i < width; ++i) panel[l * width + i] = T(0);
  if (step == 1)
    for (int l = 0; l < depth; ++l)
      for (int i = 0; i < count; ++i) panel[l * width + i] = from[at[0] + k_at[l] + i];
  else if (step != 0 && k_step == 1)
    turn(panel, width, from + at[0] + k_at[0], step, count, depth);
  else
    for (int l = 0; l < depth; ++l)
      for (int i = 0; i < count; ++i) panel[l * width + i] = from[at[i] + k_at[l]];
}

/// A tile of outputs an item. Swap the operands to make the other one B.
template <class T>
struct contract_tiles {
  static constexpr int rows = 120;
  static constexpr int columns = sizeof(T) == 4 ? 128 : 64;
  static constexpr int depth = 128;

  product_operands<T> in;
  loop_nest<3> batch;  // {a, b, c}
  loop_nest<2> m;      // {a, c}
  loop_nest<2> n;      // {b, c}
  micro_kernel<T> micro = choose_micro_kernel<T>();

  std::int64_t items() const { return in.parts * batch.size() * tiles(m.size(), rows) * tiles(n.size(), columns); }
  static std::int64_t tiles(std::int64_t extent, int side) { return (extent + side - 1) / side; }

  void operator()(std::int64_t item) const {
    offsets_of_run<columns> const n_run(n, item % tiles(n.size(), columns) * columns);
    item /= tiles(n.size(), columns);
    offsets_of_run<rows> const m_run(m, item % tiles(m.size(), rows) * rows);
    item /= tiles(m.size(), rows);
    std::int64_t base[3];
    batch.locate(item % batch.size(), base);
    std::int64_t const part = item / batch.size();

    alignas(64) unsigned char room[sizeof(T) * rows * columns];  // not yet numbers: a small tile uses a corner of it
    T* const sums = reinterpret_cast<T*>(room);
    int const high = round_up(m_run.count, micro.rows), wide = round_up(n_run.count, micro.columns);
    for (int i = 0; i < high; ++i)
      for (int j = 0; j < wide; ++j) sums[i * columns + j] = T(0);
    std::int64_t const end = in.k_begin(part + 1);
    for (std::int64_t begin = in.k_begin(part); begin < end; begin += depth)
      add_products(sums, in.a + base[0], m_run.at[0], m_run.count, in.b + base[1], n_run.at[0], n_run.count, begin, end - begin < depth ? end - begin : depth);

    T* const target = in.c + base[2] + part * in.part_step;
    std::int64_t const step = step_of(n_run.at[1], n_run.count);
    for (int i = 0; i < m_run.count; ++i)
      if (step != 0)
        in.how.write(target + m_run.at[1][i] + n_run.at[1][0], step, sums + i * columns, n_run.count);
      else
        for (int j = 0; j < n_run.count; ++j) in.how.write(target + m_run.at[1][i] + n_run.at[1][j], 1, sums + i * columns + j, 1);
  }

 private:
  static int round_up(int n, int to) { return (n + to - 1) / to * to; }

  /// What `deep` iterations of k add to the tile.
  void add_products(T* sums, T const* a, std::int64_t const* m_at, int height, T const* b, std::int64_t const* n_at, int width, std::int64_t k_begin,
                    std::int64_t k_count) const {
    alignas(64) unsigned char room_a[sizeof(T) * rows * depth], room_b[sizeof(T) * columns * depth];
    T* const panels_a = reinterpret_cast<T*>(room_a);
    T* const panels_b = reinterpret_cast<T*>(room_b);
    int const deep = static_cast<int>(k_count);
    std::int64_t k_at[2][depth];
    loop_walker<2> k(in.k, k_begin);
    for (int l = 0; l < deep; ++l, k.next())
      for (int o = 0; o < 2; ++o) k_at[o][l] = k.offset[o];
    pack(panels_a, micro.rows, a, m_at, height, k_at[0], deep);
    pack(panels_b, micro.columns, b, n_at, width, k_at[1], deep);
    for (int j = 0; j < width; j += micro.columns)
      for (int i = 0; i < height; i += micro.rows) micro.run(deep, panels_a + i * deep, panels_b + j * deep, sums + i * columns + j, columns);
  }

  static void pack(T* panels, int of_panel, T const* from, std::int64_t const* at, int count, std::int64_t const* k_at, int deep) {
    std::int64_t const k_step = step_of(k_at, deep);
    for (int i = 0; i < count; i += of_panel)
      pack_panel(panels + i * deep, of_panel, from, at + i, count - i < of_panel ? count - i : of_panel, k_at, deep, k_step);
  }
};

}  // namespace ostraka::engine::detail
