// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Includes the x86 kernels, which OSTRAKA_ENABLE_X86_KERNELS = 0 leaves out. Without them, and on other
/// processors and for accelerators' compilers, loops are compiled for the target processor of the compiler.

#ifndef OSTRAKA_ENABLE_X86_KERNELS
#define OSTRAKA_ENABLE_X86_KERNELS 1
#endif

#if OSTRAKA_ENABLE_X86_KERNELS && defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__) && \
    !defined(__HIPCC__)
#define OSTRAKA_DETAIL_X86 1
#include <ostraka/engine/kernels/x86/wide.hpp>
#else
#define OSTRAKA_DETAIL_X86 0
#endif

#include <cstdint>

namespace ostraka::engine::detail {

/// Elements of a cache line.
template <class T>
inline constexpr std::int64_t elements_of_line = sizeof(T) < 64 ? 64 / static_cast<std::int64_t>(sizeof(T)) : 1;

/// Elements of a page of memory. At the end of a page, processors stop predicting the next reads.
template <class T>
inline constexpr std::int64_t elements_of_page = 64 * elements_of_line<T>;

/// Prefetches n elements that are read soon. They need not exist. Always inlined, since compilers assume that a
/// function that only prefetches does nothing, and remove its calls.
template <class T>
[[gnu::always_inline]] inline void prefetch(T const* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += elements_of_line<T>) __builtin_prefetch(x + i);
}

/// Rows x[r step + i], i < count, r < rows. Many adjacent rows shorter than a page form one stream, whose next page
/// processors do not predict if whole cache lines, or several rows in turn, are read.
template <class T>
struct stream_of_rows {
  static constexpr std::int64_t page = elements_of_page<T>;

  T const* x;
  std::int64_t count, step, rows;
  bool is_cached = false;  // the caches hold all rows of the block
  bool is_stream = !is_cached && step == count && count < page && rows * step >= 4 * page;

  /// True if `some` rows may be read in turn, since they do not exceed the prefetched range.
  [[nodiscard]] bool is_near(std::int64_t some) const { return is_stream && some * step <= page; }

  /// Prefetches the data a page ahead of the `taken` rows from row r on, if they belong to these rows.
  [[gnu::always_inline]] void prefetch_beyond(std::int64_t r, std::int64_t taken) const {
    if (is_stream && (rows - r) * step > page) prefetch(x + r * step + page, taken * step);
  }
};

/// True if this processor has the vectors that loops are compiled for. x86 processors from before 2013 do not.
inline bool has_wide_vectors() {
#if OSTRAKA_DETAIL_X86
  return widest_vectors() != vector_width::plain;
#else
  return true;
#endif
}

/// Calls f(), plain loops, with the widest vectors, for callers that have another loop for other processors. @pre
/// has_wide_vectors()
template <class F>
void in_wide_vectors(F const& f) {
#if OSTRAKA_DETAIL_X86
  widest_vectors() == vector_width::avx512 ? run_with_avx512(f) : run_with_avx2(f);
#else
  f();
#endif
}

/// Calls f(), plain loops, with the widest vectors that this processor has.
template <class F>
void with_wide_vectors(F const& f) {
  has_wide_vectors() ? in_wide_vectors(f) : f();
}

/// Returns the name of the vectors that our own kernels use.
inline char const* vectors_of_kernels() {
#if OSTRAKA_DETAIL_X86
  switch (widest_vectors()) {
    case vector_width::avx512: return "AVX-512";
    case vector_width::avx2: return "AVX2";
    case vector_width::plain: break;
  }
  return "vectors as compiled for";
#else
  return "portable, vectors as compiled for";
#endif
}

}  // namespace ostraka::engine::detail
