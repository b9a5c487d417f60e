// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Which lines of memory a register tile asks for while it multiplies (micro_kernel.hpp). A core takes a fixed
/// number of lines from memory at a time and looks a few hundred instructions ahead, of which a tile has thousands:
/// what the next tiles read comes while this one computes, or not before they wait.

#include <cstdint>

#include <ostraka/engine/kernels/portable/tile_operand.hpp>
#include <ostraka/engine/kernels/x86/micro_kernel.hpp>

namespace ostraka::engine::detail {

/// The lines of one panel that stays where it lies, from its first element; each panel is the next one's, moved on, so
/// that they are listed once.
class tile_fetch {
 public:
  void clear() { count_ = given_ = 0; }

  /// Panels of `rows` rows along which the sum runs.
  template <class T>
  void list_rows(tile_operand<T> const& a, int rows) {
    clear();
    std::int64_t const apart = step_of(a.at, a.count);
    if (!a.stays(0) || apart == 0) return;
    for (int i = 0; i < rows; ++i) list_line(i * apart, a.depth, size_of<T>);
  }

  /// Panels of `width` columns, side by side.
  template <class T>
  void list_columns(tile_operand<T> const& b, int width) {
    clear();
    if (!b.stays(0)) return;
    for (int l = 0; l < b.depth; ++l) list_line(b.k_at[l] - b.k_at[0], width, size_of<T>);
  }

  /// The listed lines are those of the panel that begins at `first`, to be shared by so many tiles; none without one.
  template <class T>
  void begin(T const* first, int tiles) {
    from_ = reinterpret_cast<char const*>(first);
    given_ = 0;
    share_ = first == nullptr || count_ == 0 ? 0 : (count_ + tiles - 1) / tiles;
  }

  /// What one more tile fetches.
  micro_fetch next() {
    micro_fetch const here{from_, at_ + given_, count_ - given_ < share_ ? count_ - given_ : share_};
    given_ += static_cast<int>(here.count);
    return here;
  }

 private:
  static constexpr int most = 1024, line = 64;
  template <class T>
  static constexpr std::int64_t size_of = static_cast<std::int64_t>(sizeof(T));

  void list_line(std::int64_t first, std::int64_t elements, std::int64_t size) {
    for (std::int64_t at = first * size; at < (first + elements) * size && count_ < most; at += line)
      at_[count_++] = at;
  }

  std::int64_t at_[most];
  int count_ = 0, given_ = 0, share_ = 0;
  char const* from_ = nullptr;
};

}  // namespace ostraka::engine::detail
