// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. What moves would cost if every extent were divided evenly: the numbers that plans are chosen by. Volumes are
/// elements moved, added over all devices, so that they are whole numbers (as doubles: exact to 2⁵³, and never overflowing).

#include <cstdint>

#include <ostraka/plan/spec.hpp>

namespace ostraka::planner {

/// Elements that all devices hold together.
[[nodiscard]] constexpr double ideal_held(spec const& s, extents const& e) {
  double n = static_cast<double>(e.ways(mesh_set::first(e.mesh_axes) - s.splits()));
  for (int i = 0; i < s.rank; ++i) n *= static_cast<double>(e.label[s.label[i]]);
  return n;
}

namespace detail {

// Size and position of a device's block within the common major end of two divisions of a label, as a fraction d/p.
struct fraction {
  std::int64_t d = 0;
  std::int64_t p = 1;
};

constexpr fraction fraction_of(mesh_order o, std::int64_t const (&at)[max_mesh_axes], extents const& e) {
  fraction f;
  for (int i = 0; i < o.size(); ++i) {
    f.d = f.d * e.mesh[o[i]] + at[o[i]];
    f.p *= e.mesh[o[i]];
  }
  return f;
}

// Mean over the devices of the fraction of the tensor that they hold under both, for dimensions whose overlap depends on the
// device: `from` and `to` end in different mesh axes. @pre few devices along `axes`
constexpr double mean_overlap(spec const& from, spec const& to, mesh_set axes, extents const& e) {
  std::int64_t const devices = e.ways(axes);
  double sum = 0;
  for (std::int64_t device = 0; device < devices; ++device) {
    std::int64_t at[max_mesh_axes]{};
    std::int64_t rest = device;
    for (int m = 0; m < e.mesh_axes; ++m)
      if (axes.contains(m)) {
        at[m] = rest % e.mesh[m];
        rest /= e.mesh[m];
      }
    double share = 1;
    for (int i = 0; i < from.rank && share > 0; ++i) {
      int const same = common_prefix(from.over[i], to.over[i]);
      if (from.over[i].size() == same || to.over[i].size() == same) continue;
      fraction const f = fraction_of(from.over[i].after(same), at, e);
      fraction const t = fraction_of(to.over[i].after(same), at, e);
      std::int64_t const low = f.d * t.p > t.d * f.p ? f.d * t.p : t.d * f.p;
      std::int64_t const high = (f.d + 1) * t.p < (t.d + 1) * f.p ? (f.d + 1) * t.p : (t.d + 1) * f.p;
      share *= high > low ? static_cast<double>(high - low) / static_cast<double>(f.p * t.p) : 0;
    }
    sum += share;
  }
  return sum / static_cast<double>(devices);
}

}  // namespace detail

/// Above so many devices the overlap of blocks that change places is taken at its mean over independent positions.
inline constexpr std::int64_t most_devices_counted = 512;

/// What the devices need under `to` and do not have under `from`: the least that any exchange can move.
/// @pre same labels in the same order, both partial over the same mesh axes
[[nodiscard]] constexpr double ideal_exchange(spec const& from, spec const& to, extents const& e) {
  // Where one division refines the other, the overlap is the finer block. Where both end differently it depends on the device;
  // for one such label, divided by different mesh axes, the mean over devices is the product of the fractions.
  double constant = 1;
  double independent = 1;
  int entangled = 0;
  mesh_set axes;
  bool shared = false;
  for (int i = 0; i < from.rank; ++i) {
    int const same = common_prefix(from.over[i], to.over[i]);
    mesh_order const f = from.over[i].after(same);
    mesh_order const t = to.over[i].after(same);
    double const parts = static_cast<double>(e.ways(f) * e.ways(t));
    constant *= static_cast<double>(e.ways(from.over[i]) / e.ways(f));
    if (f.empty() || t.empty()) {
      constant *= parts;
    } else {
      independent *= parts;
      shared = shared || !(f.axes() & t.axes()).empty();
      axes = axes | f.axes() | t.axes();
      ++entangled;
    }
  }
  double const held = ideal_held(to, e);
  double const everywhere = held * static_cast<double>(e.ways(to.splits()));
  bool const count = (entangled > 1 || shared) && e.ways(axes) <= most_devices_counted;
  return held - (count ? everywhere / constant * detail::mean_overlap(from, to, axes, e) : everywhere / (constant * independent));
}

}  // namespace ostraka::planner
