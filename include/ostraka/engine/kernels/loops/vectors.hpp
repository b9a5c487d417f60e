// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Includes the x86 kernels, which OSTRAKA_ENABLE_X86_KERNELS = 0 leaves out: then, and on other processors
/// and for accelerators' compilers, loops are compiled for the processor that the compiler was told.

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

/// Elements of a page of memory, at whose end processors cease to foresee what is read next.
template <class T>
inline constexpr std::int64_t elements_of_page = 64 * elements_of_line<T>;

/// Asks for n elements that are read soon. They need not exist. Always inlined: compilers take a function that asks and
/// does no more for one that does nothing, and leave out calls of it.
template <class T>
[[gnu::always_inline]] inline void ask_for(T const* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += elements_of_line<T>) __builtin_prefetch(x + i);
}

/// Rows x[r step + i], i < count, r < rows. Where many that are shorter than a page lie side by side they make one
/// stream, of which processors do not foresee the next page when whole lines are read, or several rows in turns.
template <class T>
struct stream_of_rows {
  static constexpr std::int64_t page = elements_of_page<T>;

  T const* x;
  std::int64_t count, step, rows;
  bool lies_so = step == count && count < page && rows * step >= 4 * page;

  /// May so many rows be read in turns? They do not reach beyond what was asked for.
  [[nodiscard]] bool is_near(std::int64_t some) const { return lies_so && some * step <= page; }

  /// While `taken` rows from r on are read, asks for what lies a page further, if that is of these rows.
  [[gnu::always_inline]] void ask(std::int64_t r, std::int64_t taken) const {
    if (lies_so && (rows - r) * step > page) ask_for(x + r * step + page, taken * step);
  }
};

/// Has this processor the vectors that loops are compiled for? On x86 those of before 2013 have not.
inline bool has_wide_vectors() {
#if OSTRAKA_DETAIL_X86
  return widest_vectors() != vector_width::plain;
#else
  return true;
#endif
}

/// Calls f(), plain loops, with the widest of them: for callers that have another loop where there are none.
/// @pre has_wide_vectors()
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

/// Of our own kernels, in words.
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
