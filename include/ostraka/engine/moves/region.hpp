// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Elements of a tensor somewhere in memory: strided, or as a message of equal parts. A[I, J] that lies as (X,
/// I, J/X) has two strides along J: from device to device, and within the part of one.

#include <Kokkos_Core.hpp>

#include <cstdint>

#include <ostraka/engine/kernels/copy.hpp>
#include <ostraka/engine/kernels/strided.hpp>
#include <ostraka/engine/kernels/update.hpp>
#include <ostraka/plan/lowering/message_layout.hpp>
#include <ostraka/plan/spec/blocks.hpp>

namespace ostraka::engine {

/// A box of global indices, dimension by dimension.
struct box {
  int rank = 0;
  planner::range at[max_rank]{};

  [[nodiscard]] std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= at[i].size();
    return n;
  }

  /// Row-major without gaps.
  [[nodiscard]] strided packed() const {
    std::int64_t n[max_rank]{};
    for (int i = 0; i < rank; ++i) n[i] = at[i].size();
    return row_major(n, rank);
  }
};

/// What a device with these coordinates holds under `s`.
inline box box_of(planner::spec const& s, planner::coordinates const& device, planner::extents const& e) {
  box b;
  b.rank = s.rank;
  for (int i = 0; i < s.rank; ++i) b.at[i] = planner::range_of(s, i, device, e);
  return b;
}

inline box intersect(box const& a, box const& b) {
  box r;
  r.rank = a.rank;
  for (int i = 0; i < a.rank; ++i) r.at[i] = planner::intersect(a.at[i], b.at[i]);
  return r;
}

/// Index k · unit along the dimension lies k · stride further on, as long as k counts the devices of one mesh axis.
struct device_stride {
  int dimension = 0;
  std::int64_t unit = 0;
  std::int64_t stride = 0;
};

/// Elements of a box. `layout` has the strides of neighbours; where the box lies as a message, `across` those from
/// device to device.
template <class T>
struct region {
  T* data = nullptr;
  strided layout{};
  box where{};
  planner::bounded_list<device_stride, planner::max_mesh_axes> across{};

  /// How far apart in memory indices `unit` apart along dimension `i` are. @pre one of `unit` and the dimension's units
  /// divides the other
  [[nodiscard]] std::int64_t step_of(int i, std::int64_t unit) const {
    std::int64_t known = 1;
    std::int64_t stride = layout.stride[i];
    for (device_stride const& d : across)
      if (d.dimension == i && d.unit <= unit && d.unit >= known) {
        known = d.unit;
        stride = d.stride;
      }
    return unit / known * stride;
  }

  /// The part of it within `part`. @pre part lies within, and this does not lie as a message
  [[nodiscard]] region part(box const& inner) const {
    region r{data, layout, inner, {}};
    if (inner.size() == 0) return {data, inner.packed(), inner, {}};  // no offset from a place that may not exist
    for (int i = 0; i < inner.rank; ++i) {
      r.data += (inner.at[i].begin - where.at[i].begin) * layout.stride[i];
      r.layout.extent[i] = inner.at[i].size();
    }
    return r;
  }

  /// Lie the elements one after the other, in the order of their indices?
  [[nodiscard]] bool gapless() const {
    std::int64_t dense = 1;
    for (int i = layout.rank - 1; i >= 0; --i) {
      if (layout.extent[i] > 1 && layout.stride[i] != dense) return false;
      dense *= layout.extent[i];
    }
    return across.empty();
  }
};

/// A region without gaps at `data`.
template <class T>
region<T> dense_region(T* data, box const& where) {
  return {data, where.packed(), where, {}};
}

template <class T>
region<T const> readable(region<T> const& r) {
  return {r.data, r.layout, r.where, r.across};
}

/// The units at which the loops along one label are cut, largest first.
struct label_cuts {
  int count = 0;
  std::int64_t unit[3 * planner::max_mesh_axes];

  void add(std::int64_t u) {
    int at = 0;
    while (at < count && unit[at] > u) ++at;
    if (at < count && unit[at] == u) return;
    for (int k = count; k > at; --k) unit[k] = unit[k - 1];
    unit[at] = u;
    ++count;
  }

  template <class T>
  void add(region<T> const& r, int dimension) {
    for (device_stride const& d : r.across)
      if (d.dimension == dimension) add(d.unit);
  }

  /// Calls `loop(extent, unit)`, outermost first, for the loops that make up `extent` indices.
  template <class Loop>
  void for_each(std::int64_t extent, Loop const& loop) const {
    for (int k = 0; k < count; ++k) {
      loop(extent / unit[k], unit[k]);
      extent = unit[k];
    }
    loop(extent, std::int64_t(1));
  }
};

/// Bytes that copies between regions have written so far: packed, unpacked, put in place.
inline thread_local constinit std::int64_t copied_bytes = 0;

/// to <- alpha from + beta to. @pre of two messages, the units along a dimension divide one another
template <class Exec, class T>
void copy(Exec const& exec, region<T> const& to, region<T const> const& from, update<T> const& how = {}) {
  copied_bytes += to.where.size() * static_cast<std::int64_t>(sizeof(T));
  if (to.across.empty() && from.across.empty()) return copy(exec, to.data, to.layout, from.data, from.layout, how);
  strided target, source;
  for (int i = 0; i < to.where.rank; ++i) {
    label_cuts cuts;
    cuts.add(to, i);
    cuts.add(from, i);
    cuts.for_each(to.layout.extent[i], [&](std::int64_t extent, std::int64_t unit) {
      target.add(extent, to.step_of(i, unit));
      source.add(extent, from.step_of(i, unit));
    });
  }
  copy(exec, to.data, target, from.data, source, how);
}

}  // namespace ostraka::engine
