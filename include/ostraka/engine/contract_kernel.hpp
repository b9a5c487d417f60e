// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Contractions without a library: any element type, any strides, any space. Three kernels for three shapes of
/// C[b, m, n] <- alpha (sum over k of A[b, m, k] B[b, k, n]) + beta C[b, m, n]: tiles for matrices on the host, rows of outputs for the rest on the host
/// (elementwise products, matrix times vector), one output a thread elsewhere.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/loop_nest.hpp>
#include <ostraka/engine/update.hpp>

namespace ostraka::engine::detail {

/// What all three kernels read. The sum over k may be cut into `parts` pieces whose results lie `part_step` apart in c, to be added afterwards.
template <class T>
struct product_operands {
  T const* a;
  T const* b;
  T* c;
  std::int64_t parts;
  std::int64_t part_step;
  loop_nest<2> k;  // {a, b}
  update<T> how{};

  KOKKOS_INLINE_FUNCTION std::int64_t k_begin(std::int64_t part) const { return part * k.size() / parts; }
};

/// Output i of part p a call, i varying fastest.
template <class T>
struct contract_elements {
  product_operands<T> in;
  loop_nest<3> outputs;  // {a, b, c}

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const part = item / outputs.size();
    std::int64_t at[3];
    outputs.locate(item % outputs.size(), at);
    std::int64_t const end = in.k_begin(part + 1);
    loop_walker<2> k(in.k, in.k_begin(part));
    T sum = T(0);
    for (std::int64_t i = in.k_begin(part); i < end; ++i, k.next()) sum += in.a[at[0] + k.offset[0]] * in.b[at[1] + k.offset[1]];
    in.how.write(in.c + at[2] + part * in.part_step, 1, &sum, 1);
  }
};

/// A row of up to 64 outputs that are neighbours in c a call. The inner loop runs over the outputs, or over k where both operands are contiguous in it.
template <class T>
struct contract_rows {
  static constexpr std::int64_t width = 64;

  product_operands<T> in;
  loop_nest<3> outer;  // {a, b, c}
  std::int64_t length;
  std::int64_t step[3];

  std::int64_t rows() const { return (length + width - 1) / width; }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const rows_of_one = (length + width - 1) / width;
    std::int64_t const rows_of_all = rows_of_one * outer.size();
    std::int64_t const part = item / rows_of_all;
    std::int64_t const row = item % rows_of_all;
    std::int64_t at[3];
    outer.locate(row / rows_of_one, at);
    std::int64_t const first = row % rows_of_one * width;
    int const count = static_cast<int>(length - first < width ? length - first : width);
    for (int o = 0; o < 3; ++o) at[o] += first * step[o];

    T sums[width];
    for (int i = 0; i < count; ++i) sums[i] = T(0);
    std::int64_t const begin = in.k_begin(part);
    std::int64_t const end = in.k_begin(part + 1);
    if (in.k.rank == 1 && in.k.stride[0][0] == 1 && in.k.stride[1][0] == 1) {
      for (int i = 0; i < count; ++i) sums[i] = dot(in.a + at[0] + i * step[0] + begin, in.b + at[1] + i * step[1] + begin, end - begin);
    } else {
      loop_walker<2> k(in.k, begin);
      for (std::int64_t j = begin; j < end; ++j, k.next()) add_products(sums, in.a + at[0] + k.offset[0], in.b + at[1] + k.offset[1], count);
    }
    T* const target = in.c + at[2] + part * in.part_step;
    in.how.write(target, step[2], sums, count);
  }

  /// Eight sums side by side, so that the processor need not wait for one addition to begin the next.
  KOKKOS_INLINE_FUNCTION static T dot(T const* x, T const* y, std::int64_t count) {
    constexpr int lanes = 8;
    T sums[lanes];
    for (int l = 0; l < lanes; ++l) sums[l] = T(0);
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      for (int l = 0; l < lanes; ++l) sums[l] += x[i + l] * y[i + l];
    for (; i < count; ++i) sums[0] += x[i] * y[i];
    for (int l = 1; l < lanes; ++l) sums[0] += sums[l];
    return sums[0];
  }

  /// sums[i] += x[i …] * y[i …]; the strides that occur in practice have loops of their own, which vectorise.
  KOKKOS_INLINE_FUNCTION void add_products(T* sums, T const* x, T const* y, int count) const {
    if (step[0] == 1 && step[1] == 1)
      for (int i = 0; i < count; ++i) sums[i] += x[i] * y[i];
    else if (step[0] == 1 && step[1] == 0)
      for (int i = 0; i < count; ++i) sums[i] += x[i] * y[0];
    else if (step[0] == 0 && step[1] == 1)
      for (int i = 0; i < count; ++i) sums[i] += x[0] * y[i];
    else
      for (int i = 0; i < count; ++i) sums[i] += x[i * step[0]] * y[i * step[1]];
  }
};

/// A tile of 32 by 32 outputs a call. The piece of B that the tile needs is laid out first, so that the inner loop has a stride of 1 and a length known
/// to the compiler whatever the layout. Swap the operands to make the other one B.
template <class T>
struct contract_tiles {
  static constexpr int rows = 32;
  static constexpr int columns = 32;
  static constexpr int depth = 64;

  product_operands<T> in;
  loop_nest<3> batch;  // {a, b, c}
  loop_nest<2> m;      // {a, c}
  loop_nest<2> n;      // {b, c}

  std::int64_t items() const { return in.parts * batch.size() * tiles(m.size(), rows) * tiles(n.size(), columns); }
  KOKKOS_INLINE_FUNCTION static std::int64_t tiles(std::int64_t extent, int side) { return (extent + side - 1) / side; }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t item) const {
    std::int64_t const n_begin = item % tiles(n.size(), columns) * columns;
    item /= tiles(n.size(), columns);
    std::int64_t const m_begin = item % tiles(m.size(), rows) * rows;
    item /= tiles(m.size(), rows);
    std::int64_t base[3];
    batch.locate(item % batch.size(), base);
    std::int64_t const part = item / batch.size();

    std::int64_t m_at[2][rows], n_at[2][columns];
    int const height = locate_run<rows>(m, m_begin, m_at);
    int const width = locate_run<columns>(n, n_begin, n_at);

    T sums[rows][columns];
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < columns; ++j) sums[i][j] = T(0);

    std::int64_t const end = in.k_begin(part + 1);
    loop_walker<2> k(in.k, in.k_begin(part));
    for (std::int64_t begin = in.k_begin(part); begin < end; begin += depth) {
      int const deep = static_cast<int>(end - begin < depth ? end - begin : depth);
      std::int64_t k_at[depth];
      T piece[depth][columns];
      for (int l = 0; l < deep; ++l, k.next()) {
        k_at[l] = k.offset[0];
        T const* const from = in.b + base[1] + k.offset[1];
        for (int j = 0; j < width; ++j) piece[l][j] = from[n_at[0][j]];
        for (int j = width; j < columns; ++j) piece[l][j] = T(0);
      }
      for (int i = 0; i < height; ++i) {
        T const* const from = in.a + base[0] + m_at[0][i];
        for (int l = 0; l < deep; ++l) {
          T const x = from[k_at[l]];
          for (int j = 0; j < columns; ++j) sums[i][j] += x * piece[l][j];
        }
      }
    }
    T* const target = in.c + base[2] + part * in.part_step;
    if (in.how.overwrites()) {
      for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) target[m_at[1][i] + n_at[1][j]] = sums[i][j];
    } else {
      for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) target[m_at[1][i] + n_at[1][j]] = in.how(target[m_at[1][i] + n_at[1][j]], sums[i][j]);
    }
  }

  /// Offsets of up to Side iterations from `begin`; how many there were.
  template <int Side>
  KOKKOS_INLINE_FUNCTION static int locate_run(loop_nest<2> const& loops, std::int64_t begin, std::int64_t (&at)[2][Side]) {
    std::int64_t const left = loops.size() - begin;
    int const count = static_cast<int>(left < Side ? left : Side);
    loop_walker<2> walker(loops, begin);
    for (int i = 0; i < count; ++i, walker.next()) {
      at[0][i] = walker.offset[0];
      at[1][i] = walker.offset[1];
    }
    return count;
  }
};

}  // namespace ostraka::engine::detail
