// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Many small products of matrices whose batch is innermost in memory in all operands, as in finite-element
/// codes: C[i, j, b] = sum over k of A[i, k, b] B[k, j, b]. Each lane of the vectors computes one product, so nothing
/// is packed or transposed, and a cache line is used whole.

#include <algorithm>
#include <cstdint>

#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/loops/loop_nest.hpp>
#include <ostraka/engine/kernels/portable/contract_kernel.hpp>
#include <ostraka/engine/kernels/portable/tile_panels.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>
#include <ostraka/engine/kernels/x86/batch_kernel.hpp>

namespace ostraka::engine::detail {

/// Returns the loop of the batch in which all operands are contiguous; -1 if there is none.
inline int innermost_batch_loop(loop_nest<3> const& batch) {
  for (int d = 0; d < batch.rank; ++d)
    if (batch.stride[0][d] == 1 && batch.stride[1][d] == 1 && batch.stride[2][d] == 1) return d;
  return -1;
}

/// True if the products are small, and enough to fill vectors.
template <class T>
bool worth_batch_kernel(product_loops const& loops) {
  constexpr std::int64_t largest = 128;
  int const lanes = innermost_batch_loop(loops.batch);
  if (lanes < 0 || loops.k.size() == 1 || std::max(loops.m.size(), loops.n.size()) > largest ||
      loops.m.size() * loops.n.size() == 1)
    return false;
  return vectors_of_batch<T>(loops.batch.extent[lanes]) > 0;
}

/// The products. A task is a piece of the innermost loop of the batch whose operands stay in a core's first cache.
template <class T>
class contract_batch {
 public:
  /// @pre worth_batch_kernel<T>(loops)
  contract_batch(product_loops const& loops, product_operands<T> const& in)
      : in_(in),
        m_(loops.m),
        n_(loops.n),
        outer_(loops.batch.without(innermost_batch_loop(loops.batch))),
        extent_(loops.batch.extent[innermost_batch_loop(loops.batch)]),
        kernel_(choose_batch_kernel<T>(extent_)) {
    std::int64_t const m = m_.size(), n = n_.size(), k = std::min<std::int64_t>(in.k.size(), depth);
    // A block that is multiplied by a vector is read once, in runs as long as possible; only the vector and the result
    // must stay in the cache.
    bool const is_vector = m == 1 || n == 1;
    std::int64_t const kept = is_vector ? k + m * n : m * k + k * n + m * n;
    std::int64_t const bytes = is_vector ? 2 * cache_bytes : cache_bytes;
    std::int64_t const in_cache = bytes / static_cast<std::int64_t>(sizeof(T)) / kept;
    length_ = std::max<std::int64_t>(1, in_cache / kernel_.lanes) * kernel_.lanes;
    pieces_ = (extent_ + length_ - 1) / length_;
  }

  std::int64_t tasks() const { return pieces_ * outer_.size(); }

  /// Runs tasks [begin, end), which share the tables of offsets.
  void run(std::int64_t begin, std::int64_t end) const {
    tables at;
    loop_walker<3> outer(outer_, begin / pieces_);
    std::int64_t piece = begin % pieces_;
    for (std::int64_t task = begin; task < end; ++task) {
      one_task(at, outer.offset, piece * length_);
      if (++piece == pieces_) piece = 0, outer.next();
    }
  }

 private:
  static constexpr int side = 64, depth = 256;
  static constexpr std::int64_t cache_bytes = 24 << 10;

  struct tables {
    offsets_of_run<side> m, n;
    offsets_of_run<depth> k;
  };

  /// The outputs in registers, with at least as many rows as columns.
  struct tile {
    int height, width;
    std::int64_t const* row_at;
    std::int64_t const* column_at;
  };

  /// Returns the next share of a side that is cut into equal shares: 5 is cut into 3 and 2.
  static int share(int rest) {
    int const tiles = (rest + batch_kernel<T>::most - 1) / batch_kernel<T>::most;
    return (rest + tiles - 1) / tiles;
  }

  void one_task(tables& at, std::int64_t const (&base)[3], std::int64_t first) const {
    std::int64_t const m = m_.size(), n = n_.size(), k = in_.k.size(), count = std::min(length_, extent_ - first);
    update<T> how = in_.how;
    for (std::int64_t l = 0; l < k; l += depth, how.beta = T(1)) {
      at.k.move_to(in_.k, l, std::min<std::int64_t>(depth, k - l));
      for (std::int64_t i = 0; i < m; i += side) {
        at.m.move_to(m_, i, std::min<std::int64_t>(side, m - i));
        for (std::int64_t j = 0; j < n; j += side) {
          at.n.move_to(n_, j, std::min<std::int64_t>(side, n - j));
          multiply(at, in_.a + base[0] + first, in_.b + base[1] + first, in_.c + base[2] + first, count, how);
        }
      }
    }
  }

  void multiply(tables const& at, T const* a, T const* b, T* c, std::int64_t count, update<T> const& how) const {
    T const* left[batch_kernel<T>::most];
    T const* right[batch_kernel<T>::most];
    for (int i = 0, height = 0; i < at.m.count; i += height) {
      height = share(at.m.count - i);
      for (int r = 0; r < height; ++r) left[r] = a + at.m.at[0][i + r];
      for (int j = 0, width = 0; j < at.n.count; j += width) {
        width = share(at.n.count - j);
        for (int s = 0; s < width; ++s) right[s] = b + at.n.at[0][j + s];
        std::int64_t const* const row_at = at.m.at[1] + i;
        std::int64_t const* const column_at = at.n.at[1] + j;
        if (height >= width)
          one_tile({left, right, at.k.at[0], at.k.at[1], at.k.count}, {height, width, row_at, column_at}, c, count,
                   how);
        else
          one_tile({right, left, at.k.at[1], at.k.at[0], at.k.count}, {width, height, column_at, row_at}, c, count,
                   how);
      }
    }
  }

  /// Computes a tile. Writes whole vectors directly to C if they need no other update.
  void one_tile(batch_operands<T> const& in, tile const& t, T* c, std::int64_t count, update<T> const& how) const {
    batch_function<T> const product = kernel_.product[t.height - 1][t.width - 1];
    std::int64_t done = 0;
    if (how.alpha == T(1) && (how.beta == T(0) || how.beta == T(1))) {
      product(in, count / kernel_.lanes, c, t.row_at, t.column_at, how.beta == T(1));
      done = count / kernel_.lanes * kernel_.lanes;
    }
    for (; done < count; done += kernel_.lanes)
      one_vector(product, in, t, c, done, std::min(kernel_.lanes, count - done), how);
  }

  /// Computes less than a vector as the end of a vector that begins earlier, with other products of the batch.
  void one_vector(batch_function<T> product, batch_operands<T> in, tile const& t, T* c, std::int64_t begin,
                  std::int64_t count, update<T> const& how) const {
    constexpr int most = batch_kernel<T>::most, lanes = batch_kernel<T>::most_lanes;
    std::int64_t const earlier = kernel_.lanes - count;
    in.first += begin - earlier;
    alignas(64) T sums[most * most * lanes];
    std::int64_t row_at[most], column_at[most];
    for (int i = 0; i < most; ++i) row_at[i] = i * most * lanes, column_at[i] = i * lanes;
    product(in, 1, sums, row_at, column_at, false);
    for (int r = 0; r < t.height; ++r)
      for (int s = 0; s < t.width; ++s)
        how.write(c + t.row_at[r] + t.column_at[s] + begin, 1, sums + row_at[r] + column_at[s] + earlier, count);
  }

  product_operands<T> in_;
  loop_nest<2> m_, n_;
  loop_nest<3> outer_;   // of the batch
  std::int64_t extent_;  // of its innermost loop
  batch_kernel<T> kernel_;
  std::int64_t length_ = 0, pieces_ = 0;  // of that loop
};

}  // namespace ostraka::engine::detail
