// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The oracle of sorts and selections, insertion of one element after another, and the numbers that they get.

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "support/draws.hpp"
#include "support/on_meshes.hpp"

namespace ostraka::testing {

template <class T>
struct rows_in_order {
  global_tensor<T> values;
  global_tensor<std::int64_t> places;
};

/// Returns the rows along `along` by insertion; `kept` elements of each, ascending with NaN behind numbers, or the
/// largest first.
template <class T>
rows_in_order<T> in_order(global_tensor<T> const& g, char along, bool largest, std::int64_t kept, char kept_axis) {
  rows_in_order<T> r{{g.labels, g.extents, {}}, {g.labels, g.extents, {}}};
  r.values.labels[g.labels.find(along)] = r.places.labels[g.labels.find(along)] = kept_axis;
  r.values.extents[kept_axis] = r.places.extents[kept_axis] = kept;
  std::int64_t step = 1, outer = 1;
  for (std::size_t k = 0; k < g.labels.size(); ++k)
    (k > g.labels.find(along) ? step : outer) *= g.labels[k] == along ? 1 : g.extents.at(g.labels[k]);
  std::int64_t const n = g.extents.at(along);
  r.values.values.resize(static_cast<std::size_t>(outer * kept * step));
  r.places.values.resize(r.values.values.size());
  for (std::int64_t row = 0; row < outer * step; ++row) {
    std::int64_t const first = row / step * n * step + row % step;
    auto const element = [&](std::int64_t k) { return g.values[static_cast<std::size_t>(first + k * step)]; };
    std::vector<std::int64_t> order;
    for (std::int64_t k = 0; k < n; ++k) {
      auto const number = [&](std::int64_t i) { return static_cast<double>(element(i)); };
      auto const less = [&](std::int64_t i, std::int64_t j) {
        return number(i) < number(j) || (number(i) == number(i) && number(j) != number(j));
      };
      auto at = order.end();
      while (at != order.begin() && (largest ? less(*(at - 1), k) : less(k, *(at - 1)))) --at;
      order.insert(at, k);
    }
    for (std::int64_t k = 0; k < kept; ++k) {
      auto const to = static_cast<std::size_t>((row / step * kept + k) * step + row % step);
      r.values.values[to] = element(order[static_cast<std::size_t>(k)]);
      r.places.values[to] = order[static_cast<std::size_t>(k)];
    }
  }
  return r;
}

/// The same bits: NaN is NaN and −0 is not 0.
template <class T>
bool same(T const& got, T const& wanted) {
  return std::memcmp(&got, &wanted, sizeof(T)) == 0;
}

inline extents_by_letter random_extents(std::uint64_t seed) {
  draws draw(seed);
  return {{'I', draw(9)}, {'J', draw(3) == 0 ? 60 + draw(200) : draw(14)}, {'K', 1 + draw(5)}};
}

/// 5 rows of 70 numbers, every third of which is NaN, an infinity or a zero.
inline global_tensor<float> special_numbers() {
  auto g = whole_numbers<float>("IJ", {{'I', 5}, {'J', 70}}, 3);
  for (std::size_t k = 0; k < g.values.size(); k += 3) {
    float const some[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(), -0.0f, 0.0f};
    g.values[k] = some[k / 3 % 5];
  }
  return g;
}

}  // namespace ostraka::testing
