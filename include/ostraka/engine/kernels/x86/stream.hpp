// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Writes past the caches on the host. A store that misses the caches first reads the line that it is about to
/// overwrite, and so doubles the traffic of C[i, j] = A[i] B[j]; whole lines written without being read do not. Only
/// for results that would not stay in a core's caches anyway: those that do are read from there by whoever comes next.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <ostraka/engine/kernels/x86/wide.hpp>

namespace ostraka::engine::detail {

/// Twice a core's second cache. Below, what is written past the caches is dearer to read than it was cheap to write.
inline constexpr std::int64_t streamed_bytes = 4 << 20;

/// Is a result of so many elements written past the caches?
template <class T>
constexpr bool worth_streaming([[maybe_unused]] std::int64_t elements) {
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
  return std::is_trivially_copyable_v<T> && elements * static_cast<std::int64_t>(sizeof(T)) >= streamed_bytes;
#else
  return false;
#endif
}

/// Does the last cache not hold so many elements, the result's and the operands'? Those it does are faster written
/// where they will be read from.
template <class T>
constexpr bool larger_than_caches(std::int64_t elements) {
  constexpr std::int64_t last_cache = 32 << 20;
  return worth_streaming<T>(elements) && elements * static_cast<std::int64_t>(sizeof(T)) >= last_cache;
}

/// Orders what was streamed before what this thread writes from now on.
inline void end_stream() {
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
  __builtin_ia32_sfence();
#endif
}

#if OSTRAKA_DETAIL_ASKS_PROCESSOR
// A macro because the compiler splits vectors by the function in which they are written. As wide as can be: a line that
// is written in pieces may leave half-filled when reads that miss need its buffer.
#  if defined(__clang__)
#    define OSTRAKA_DETAIL_STORE_PAST(x, to, store) __builtin_nontemporal_store(x, reinterpret_cast<vector*>(to))
#  else
#    define OSTRAKA_DETAIL_STORE_PAST(x, to, store) store(reinterpret_cast<vector*>(to), x)
#  endif
#  define OSTRAKA_DETAIL_STREAM_LINES(name, attribute, width, store)                              \
    attribute inline void name(unsigned char* to, unsigned char const* from, std::size_t bytes) { \
      typedef long long vector __attribute__((vector_size(width)));                               \
      for (std::size_t i = 0; i < bytes; i += width) {                                            \
        vector x;                                                                                 \
        __builtin_memcpy(&x, from + i, width);                                                    \
        OSTRAKA_DETAIL_STORE_PAST(x, to + i, store);                                              \
      }                                                                                           \
    }
OSTRAKA_DETAIL_STREAM_LINES(stream_lines_by_16, , 16, __builtin_ia32_movntdq)
OSTRAKA_DETAIL_STREAM_LINES(stream_lines_by_32, OSTRAKA_DETAIL_AVX2, 32, __builtin_ia32_movntdq256)
OSTRAKA_DETAIL_STREAM_LINES(stream_lines_by_64, OSTRAKA_DETAIL_AVX512, 64, __builtin_ia32_movntdq512)
OSTRAKA_DETAIL_STREAM_LINES(stream_one_by_64, OSTRAKA_DETAIL_AVX512 __attribute__((always_inline)), 64,
                            __builtin_ia32_movntdq512)

/// A line, by whoever is compiled for AVX-512. @pre `to` is a multiple of 64
OSTRAKA_DETAIL_AVX512 __attribute__((always_inline)) inline void stream_line(void* to, void const* from) {
  stream_one_by_64(static_cast<unsigned char*>(to), static_cast<unsigned char const*>(from), 64);
}
#undef OSTRAKA_DETAIL_STREAM_LINES
#undef OSTRAKA_DETAIL_STORE_PAST
#endif

/// Whole lines. @pre `to` is a multiple of 64, `bytes` is one
inline void stream_lines(unsigned char* to, unsigned char const* from, std::size_t bytes) {
#if OSTRAKA_DETAIL_ASKS_PROCESSOR
  switch (widest_vectors()) {
    case vector_width::avx512: return stream_lines_by_64(to, from, bytes);
    case vector_width::avx2: return stream_lines_by_32(to, from, bytes);
    case vector_width::plain: return stream_lines_by_16(to, from, bytes);
  }
#else
  std::memcpy(to, from, bytes);
#endif
}

/// Asks for a line that will be read soon.
inline void fetch_line([[maybe_unused]] void const* from) {
#if defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  __builtin_prefetch(from);
#endif
}

/// Asks for the lines of a run that will be written soon: a store that misses then need not wait for what it
/// overwrites.
inline void fetch_run(void const* from, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 64) fetch_line(static_cast<char const*>(from) + i);
}

/// Bytes before the next line begins.
inline std::size_t bytes_to_line(void const* to) { return (64 - reinterpret_cast<std::uintptr_t>(to) % 64) % 64; }

/// The whole lines of a run past the caches.
template <class T>
[[gnu::noinline]] void stream_run(T* to, T const* from, std::int64_t count) {
  unsigned char* const target = reinterpret_cast<unsigned char*>(to);
  unsigned char const* const source = reinterpret_cast<unsigned char const*>(from);
  std::size_t const bytes = static_cast<std::size_t>(count) * sizeof(T), before = bytes_to_line(to),
                    head = before < bytes ? before : bytes;
  std::size_t const end = head + (bytes - head) / 64 * 64;
  if (head > 0) std::memcpy(target, source, head);
  if (head < end) stream_lines(target + head, source + head, end - head);
  if (end < bytes) std::memcpy(target + end, source + end, bytes - end);
}

/// Gathers what is written piece by piece until it fills lines, also from one row of a block to the next.
template <class T>
class streamed_writer {
 public:
  static constexpr std::int64_t longest = 512;  // a piece, in elements

  streamed_writer() {}
  streamed_writer(streamed_writer const&) = delete;
  streamed_writer& operator=(streamed_writer const&) = delete;
  ~streamed_writer() {
    if (to_) {
      write();
      std::memcpy(to_, room_, filled_);
    }
    if (to_ || ends_stream_) end_stream();
  }

  /// Somebody else streams while this writer lives.
  void ends_stream() { ends_stream_ = true; }

  /// Where to put `count` elements that are to lie at `to`.
  T* room_for(T* to, std::int64_t count) {
    unsigned char* const begin = reinterpret_cast<unsigned char*>(to);
    std::size_t const bytes = static_cast<std::size_t>(count) * sizeof(T);
    if (!to_ || to_ + filled_ != begin || filled_ + bytes > sizeof(room_)) {
      if (to_) write();
      if (to_ && to_ + filled_ != begin) std::memcpy(to_, room_, filled_);
      if (!to_ || to_ + filled_ != begin) to_ = begin, filled_ = 0;
    }
    T* const room = reinterpret_cast<T*>(room_ + filled_);
    filled_ += bytes;
    return room;
  }

 private:
  /// All but the last line if that is not whole.
  [[gnu::noinline]] void write() {
    std::size_t const before = bytes_to_line(to_), head = before < filled_ ? before : filled_,
                      lines = (filled_ - head) / 64 * 64;
    std::memcpy(to_, room_, head);
    stream_lines(to_ + head, room_ + head, lines);
    to_ += head + lines;
    filled_ -= head + lines;
    std::memmove(room_, room_ + head + lines, filled_);
  }

  alignas(64) unsigned char room_[static_cast<std::size_t>(2 * longest) * sizeof(T) + 64];
  unsigned char* to_ = nullptr;  // where the room's first byte belongs
  std::size_t filled_ = 0;
  bool ends_stream_ = false;
};

}  // namespace ostraka::engine::detail
