// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Panels of an operand gathered into lines of scratch memory, and put back: element (i, j) lies at line[i] +
/// place[j] wherever its loops take it. A[I, J, K] seen as a matrix (I) by (K J) is a table of offsets for I and one
/// for (K, J).

#include <cstdint>
#include <cstring>

#include <ostraka/engine/kernels/products/matrix_dimension.hpp>
#include <ostraka/engine/kernels/update.hpp>

namespace ostraka::engine::detail {

/// Indices that take steps of one length in the block and of one length in the panel.
struct panel_run {
  std::int64_t offset;  // in the block
  std::int64_t place;   // in the panel
  std::int64_t count;
  std::int64_t offset_step, place_step;

  bool contiguous() const { return offset_step == 1 && place_step == 1; }
};

/// The runs of one panel, in the order of the block's memory: that is walked forward, the panel, which is in cache, at
/// random.
struct panel_runs {
  panel_run const* first;
  panel_run const* last;
  panel_run const* begin() const { return first; }
  panel_run const* end() const { return last; }
};

/// All runs of an operand along a dimension, panel by panel.
class run_table {
 public:
  run_table() = default;

  static std::int64_t bytes(matrix_dimension const& d) {
    return d.extent * static_cast<std::int64_t>(sizeof(panel_run)) +
           d.panels() * static_cast<std::int64_t>(sizeof(panel_run*));
  }

  /// @param room bytes(d) of scratch memory, which the table keeps
  run_table(matrix_dimension const& d, int operand, char* room)
      : runs_(reinterpret_cast<panel_run*>(room)), panel_(d.panel) {
    std::int64_t const panels = d.panels();
    ends_ = reinterpret_cast<panel_run**>(room + d.extent * static_cast<std::int64_t>(sizeof(panel_run)));
    for (std::int64_t p = 0; p < panels; ++p) ends_[p] = runs_ + p * d.panel;
    loop_nest<2> walked;  // {offset, index}, in the order of memory
    std::int64_t step = 1;
    for (int l = d.inner.rank - 1; l >= 0; --l) {
      walked.add(d.inner.extent[l], d.inner.stride[operand][l], step);
      step *= d.inner.extent[l];
    }
    walked.order_by(0);
    loop_walker<2> walker(walked, 0);
    for (std::int64_t i = 0; i < d.extent; ++i, walker.next()) {
      std::int64_t const p = panels == 1 ? 0 : walker.offset[1] / d.panel;
      append(p, walker.offset[0], walker.offset[1] - p * d.panel);
    }
  }

  panel_runs of_panel(std::int64_t p) const { return {runs_ + p * panel_, ends_[p]}; }

 private:
  void append(std::int64_t p, std::int64_t offset, std::int64_t place) {
    panel_run*& end = ends_[p];
    if (end != runs_ + p * panel_) {
      panel_run& r = end[-1];
      if (r.count == 1) r.offset_step = offset - r.offset, r.place_step = place - r.place;
      if (r.offset + r.count * r.offset_step == offset && r.place + r.count * r.place_step == place) {
        ++r.count;
        return;
      }
    }
    *end++ = {offset, place, 1, 1, 1};
  }

  panel_run* runs_ = nullptr;
  panel_run** ends_ = nullptr;
  std::int64_t panel_ = 0;
};

/// Calls f(line of the panel, its offset in the block, run of places) for all lines and places. A run of lines is the
/// inner loop where its steps in the block are smaller than those from one run of places to the next: A[I, K, J, L]
/// gathered as (I J) by (K L) is read in the order I, K, J, L.
template <class F>
void for_each_run(panel_runs const& lines, panel_runs const& places, F const& f) {
  bool const several = places.last - places.first > 1;
  for (panel_run const& line : lines) {
    auto const along = [&](std::int64_t i, panel_run const& place) {
      f(line.place + i * line.place_step, line.offset + i * line.offset_step, place);
    };
    if (several && line.offset_step < places.first[1].offset - places.first[0].offset) {
      for (panel_run const& place : places)
        for (std::int64_t i = 0; i < line.count; ++i) along(i, place);
    } else {
      for (std::int64_t i = 0; i < line.count; ++i)
        for (panel_run const& place : places) along(i, place);
    }
  }
}

/// to[i] = from[i]; not a call of memmove, which takes longer than a short run itself.
template <class T>
void copy_run(T* to, T const* from, std::int64_t count) {
  constexpr std::int64_t block = 4;
  std::int64_t i = 0;
  for (; i + block <= count; i += block) std::memcpy(static_cast<void*>(to + i), from + i, block * sizeof(T));
  for (; i < count; ++i) to[i] = from[i];
}

template <class T>
void copy_run(T* to, std::int64_t to_step, T const* from, std::int64_t from_step, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
}

/// panel[i][j] = block(i, j)
template <class T>
void gather_panel(T* panel, std::int64_t leading, T const* block, panel_runs const& lines, panel_runs const& places) {
  for_each_run(lines, places, [&](std::int64_t line, std::int64_t offset, panel_run const& r) {
    T* const to = panel + line * leading + r.place;
    T const* const from = block + offset + r.offset;
    if (r.contiguous()) copy_run(to, from, r.count);
    else copy_run(to, r.place_step, from, r.offset_step, r.count);
  });
}

/// block(i, j) <- panel[i][j], as `how` says
template <class T>
void scatter_panel(T* block, T const* panel, std::int64_t leading, panel_runs const& lines, panel_runs const& places,
                   update<T> const& how) {
  bool const overwrites = how.overwrites();
  for_each_run(lines, places, [&](std::int64_t line, std::int64_t offset, panel_run const& r) {
    T const* const from = panel + line * leading + r.place;
    T* const to = block + offset + r.offset;
    if (!overwrites)
      for (std::int64_t i = 0; i < r.count; ++i)
        to[i * r.offset_step] = how(to[i * r.offset_step], from[i * r.place_step]);
    else if (r.contiguous()) copy_run(to, from, r.count);
    else copy_run(to, r.offset_step, from, r.place_step, r.count);
  });
}

}  // namespace ostraka::engine::detail
