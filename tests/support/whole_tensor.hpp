// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Tests of floor 2. Whole tensors of whole numbers, boxes of global indices and loops over them, and a
/// tensor as the devices of simulated_mesh.hpp hold it. Plain loops, written from the text of the rules.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/plan/search/plan_einsum.hpp>

namespace ostraka::testing {

using planner::extents;
using planner::spec;

/// One item for each label, dimension or mesh axis.
template <class T, int Count>
struct numbered {
  T item[Count]{};

  constexpr T& operator[](int i) { return item[i]; }
  constexpr T const& operator[](int i) const { return item[i]; }
  friend bool operator==(numbered const&, numbered const&) = default;
};

using position = numbered<std::int64_t, max_rank>;  // no test has more labels
using device_coordinates = numbered<std::int64_t, planner::max_mesh_axes>;

/// A box of global indices.
struct box {
  int rank = 0;
  position begin{};
  position end{};

  [[nodiscard]] std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= end[i] > begin[i] ? end[i] - begin[i] : 0;
    return n;
  }
  [[nodiscard]] bool contains(position const& at) const {
    for (int i = 0; i < rank; ++i)
      if (at[i] < begin[i] || at[i] >= end[i]) return false;
    return true;
  }
  [[nodiscard]] box common(box const& other) const {
    box b = *this;
    for (int i = 0; i < rank; ++i) {
      if (other.begin[i] > b.begin[i]) b.begin[i] = other.begin[i];
      if (other.end[i] < b.end[i]) b.end[i] = other.end[i];
    }
    return b;
  }
  friend bool operator==(box const& a, box const& b) {
    return a.rank == b.rank && a.begin == b.begin && a.end == b.end;
  }
};

/// Calls f(position) for every index of the box, the last dimension fastest.
template <class F>
void for_each(box const& b, F const& f) {
  if (b.size() == 0) return;
  position at = b.begin;
  for (int i = 0; i >= 0;) {
    f(at);
    for (i = b.rank - 1; i >= 0 && ++at[i] == b.end[i]; --i) at[i] = b.begin[i];
  }
}

/// A tensor that is not divided.
struct whole_tensor {
  box all{};
  std::vector<std::int64_t> value{};

  explicit whole_tensor(spec const& s, extents const& e) {
    all.rank = s.rank;
    for (int i = 0; i < s.rank; ++i) all.end[i] = e.label[s.label[i]];
    value.assign(static_cast<std::size_t>(all.size()), 0);
  }
  [[nodiscard]] std::size_t offset(position const& at) const {
    std::int64_t n = 0;
    for (int i = 0; i < all.rank; ++i) n = n * all.end[i] + at[i];
    return static_cast<std::size_t>(n);
  }
  [[nodiscard]] std::int64_t& operator[](position const& at) { return value[offset(at)]; }
  [[nodiscard]] std::int64_t operator[](position const& at) const { return value[offset(at)]; }
};

/// A tensor on all devices. Every device has memory for the whole tensor, so that indices stay global; the memory
/// outside of its block is poisoned.
struct sharded_tensor {
  spec sharding{};
  std::vector<box> block{};
  std::vector<whole_tensor> device{};
};

/// Small whole numbers without order that depend on nothing but the arguments (splitmix64).
inline std::int64_t noise(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15U + b * 0xd1b54a32d192ed03U + 0x8cb92ba72f3d8dd7U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<std::int64_t>((z ^ (z >> 31)) % 19) - 9;
}

}  // namespace ostraka::testing
