// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The baselines of a contraction: the library's product of the same M, N and K, and
/// transpose-transpose-GEMM-transpose. They allocate everything beforehand.

#include <cblas.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "block.hpp"
#include "cases.hpp"

namespace bench {

inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float const* a, int lda, float const* b,
                 int ldb, float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
}
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double const* a, int lda, double const* b,
                 int ldb, double* c, int ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c, ldc);
}

/// A batch of row-major matrix products without gaps, one call each: C[i, m, n] = A[i, m, k] B[i, k, n], or with A or B
/// stored transposed.
struct products {
  int batch, m, n, k;
  bool transpose_a = false, transpose_b = false;

  template <class T>
  void run(T const* a, T const* b, T* c) const {
    for (int i = 0; i < batch; ++i)
      gemm(transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans, m, n, k,
           a + std::int64_t(i) * m * k, transpose_a ? m : k, b + std::int64_t(i) * k * n, transpose_b ? k : n,
           c + std::int64_t(i) * m * n, n);
  }
};

inline products products_of(contraction_case const& one) {
  auto const size = [&](std::string const& labels) { return static_cast<int>(one.size(labels)); };
  return {size(one.batch()), size(one.m()), size(one.n()), size(one.k())};
}

/// Permutes the labels of a tensor: loops around tiles of 32 by 32, with one side along the source's last label and one
/// along the target's.
template <class T>
class transposition {
 public:
  transposition(contraction_case const& one, std::string const& from, std::string const& to) : trivial_(from == to) {
    for (char l : to)
      dimensions_.push_back(
          {one.extents.at(l), one.size(from.substr(from.find(l) + 1)), one.size(to.substr(to.find(l) + 1))});
    if (trivial_) return;
    inner_ = take_last();
    row_ = from.back() == to.back() ? dimension{1, 0, 0} : take(from.back(), to);
  }

  [[nodiscard]] bool trivial() const { return trivial_; }
  void run(T const* source, T* target) const { loop(0, source, target); }

 private:
  struct dimension {
    std::int64_t extent, source, target;
  };

  dimension take_last() {
    dimension const d = dimensions_.back();
    dimensions_.pop_back();
    return d;
  }
  dimension take(char label, std::string const& to) {
    auto const at = dimensions_.begin() + static_cast<std::ptrdiff_t>(to.find(label));
    dimension const d = *at;
    dimensions_.erase(at);
    return d;
  }

  void loop(std::size_t level, T const* source, T* target) const {
    if (level == dimensions_.size()) return tiles(source, target);
    dimension const& d = dimensions_[level];
    for (std::int64_t i = 0; i < d.extent; ++i) loop(level + 1, source + i * d.source, target + i * d.target);
  }

  void tiles(T const* source, T* target) const {
    if (inner_.source == 1) {
      std::copy(source, source + inner_.extent, target);
      return;
    }
    constexpr std::int64_t side = 32;
    for (std::int64_t r = 0; r < row_.extent; r += side)
      for (std::int64_t c = 0; c < inner_.extent; c += side)
        for (std::int64_t i = r; i < std::min(r + side, row_.extent); ++i)
          for (std::int64_t j = c; j < std::min(c + side, inner_.extent); ++j)
            target[i * row_.target + j] = source[i + j * inner_.source];
  }

  bool trivial_;
  std::vector<dimension> dimensions_;
  dimension inner_{1, 1, 1}, row_{1, 0, 0};
};

/// Transpose-transpose-GEMM-transpose: A as [batch, m, k], B as [batch, k, n], their products, C from [batch, m, n]; k
/// in A's order, the others in C's. A block that already has this order, or that of the library's transposed matrix, is
/// used in place.
template <class T>
class by_transposition {
 public:
  explicit by_transposition(contraction_case const& one)
      : by_transposition(one, one.c == one.batch() + one.n() + one.m()) {}

  void run(T const* a, T const* b, T* c) {
    if (mirrored_) std::swap(a, b);
    if (!a_.trivial()) a_.run(a, room_a_.data());
    if (!b_.trivial()) b_.run(b, room_b_.data());
    products_.run(a_.trivial() ? a : room_a_.data(), b_.trivial() ? b : room_b_.data(),
                  c_.trivial() ? c : room_c_.data());
    if (!c_.trivial()) c_.run(room_c_.data(), c);
  }

 private:
  // Where C is [batch, n, m], the operands are swapped.
  by_transposition(contraction_case const& given, bool mirrored)
      : by_transposition(mirrored ? mirror(given) : given, mirrored, 0) {}

  by_transposition(contraction_case const& one, bool mirrored, int)
      : mirrored_(mirrored),
        products_(products_of(one)),
        a_(one, one.a, order(one.a, one.batch(), one.m(), one.k(), products_.transpose_a)),
        b_(one, one.b, order(one.b, one.batch(), one.k(), one.n(), products_.transpose_b)),
        c_(one, one.batch() + one.m() + one.n(), one.c),
        room_a_(room(a_, one.size(one.a))),
        room_b_(room(b_, one.size(one.b))),
        room_c_(room(c_, one.size(one.c))) {}

  static contraction_case mirror(contraction_case one) {
    std::swap(one.a, one.b);
    return one;
  }
  static std::string order(std::string const& stored, std::string const& batch, std::string const& rows,
                           std::string const& columns, bool& transpose) {
    transpose = stored == batch + columns + rows && stored != batch + rows + columns;
    return transpose ? stored : batch + rows + columns;
  }
  static block<T> room(transposition<T> const& way, std::int64_t size) {
    return block<T>(static_cast<std::size_t>(way.trivial() ? 0 : size));
  }

  bool mirrored_;
  products products_;
  transposition<T> a_, b_, c_;
  block<T> room_a_, room_b_, room_c_;
};

}  // namespace bench
