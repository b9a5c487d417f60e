// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A program's arrays with ghost layers in them, computed from the block distribution by plain loops. Element (i, j) of
/// the whole is 100 i + 7 j + 1.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "support/on_meshes.hpp"
#include "support/program_array.hpp"

namespace ostraka::testing::ghosted {

using mesh_type = ostraka::mesh<X_mesh, Y_mesh, Z_mesh>;

inline double value_at(std::int64_t i, std::int64_t j) { return static_cast<double>(100 * i + 7 * j + 1); }
inline constexpr double untouched = -5, beyond_end = -3;

// One axis on this rank, by hand from the block distribution.
struct axis_here {
  std::int64_t whole = 0, begin = 0, end = 0;
  int before = 0, behind = 0;
  bool ring = false;

  axis_here(std::int64_t n, std::int64_t number, std::int64_t ways, int v, int w, bool is_ring)
      : whole(n), begin(number * n / ways), end((number + 1) * n / ways), before(v), behind(w), ring(is_ring) {}

  std::int64_t padded() const { return end - begin + before + behind; }
  std::int64_t own() const { return end - begin; }
  // The global index of padded index p, or −1 beyond the ends.
  std::int64_t index(std::int64_t p) const {
    std::int64_t const g = begin - before + p;
    if (ring) return ((g % whole) + whole) % whole;
    return g < 0 || g >= whole ? -1 : g;
  }
  bool in_margin(std::int64_t p) const { return p < before || p >= before + own(); }
};

struct both_axes {
  axis_here i, j;
};

inline axis_here here(test_mesh const& m, char const* over, std::int64_t n, int before, int behind, bool ring) {
  return {n,   over[0] == '-' ? 0 : m.coordinate(over, rank()), over[0] == '-' ? 1 : m.size(over), before, behind,
          ring};
}

// The place of an array's elements in a larger piece of memory: element (p, q) at first + p step_i + q step_j.
struct lies {
  char const* name;
  std::int64_t first, step_i, step_j, size;
};

inline std::vector<lies> layouts(both_axes const& a) {
  std::int64_t const n = a.i.padded(), m = a.j.padded();
  return {{"row-major", 0, m, 1, n * m},
          {"column-major", 0, 1, n, n * m},
          {"rows with a gap", 2, m + 3, 1, n * (m + 3) + 4},
          {"a component of three", 1, 3 * m, 3, 3 * n * m + 1},
          {"columns with a gap, of every second element", 1, 2, 2 * n + 5, (2 * n + 5) * m + 2}};
}

// Its elements on the host; the operations work on `memory`.
struct piece {
  lies how;
  program_array<double> memory;

  piece(lies const& l) : how(l), memory(static_cast<std::size_t>(l.size + 1), untouched) {}
  std::size_t place(std::int64_t p, std::int64_t q) const {
    return static_cast<std::size_t>(how.first + p * how.step_i + q * how.step_j);
  }
  double& at(std::int64_t p, std::int64_t q) { return memory[place(p, q)]; }
  auto strided() { return ostraka::strided(memory.data() + how.first, J = how.step_j, I = how.step_i); }
  std::int64_t count(double what) const {
    std::int64_t n = 0;
    for (double x : memory) n += x == what ? 1 : 0;
    return n;
  }
};

// Calls f(p, q) for each element of the array, with its ghosts.
template <class F>
void for_each_padded(both_axes const& a, F const& f) {
  for (std::int64_t p = 0; p < a.i.padded(); ++p)
    for (std::int64_t q = 0; q < a.j.padded(); ++q) f(p, q);
}

inline void set_own(piece& x, both_axes const& a) {
  for_each_padded(a, [&](std::int64_t p, std::int64_t q) {
    bool const own = !a.i.in_margin(p) && !a.j.in_margin(q);
    x.at(p, q) = own ? value_at(a.i.index(p), a.j.index(q)) : beyond_end;
  });
  x.memory.send();
}

// The number of wrong elements after an exchange.
inline std::int64_t wrong(piece& x, both_axes const& a, bool corners) {
  x.memory.fetch();
  std::int64_t bad = 0;
  for_each_padded(a, [&](std::int64_t p, std::int64_t q) {
    bool const left_out = !corners && a.i.in_margin(p) && a.j.in_margin(q);
    bool const is_there = a.i.index(p) >= 0 && a.j.index(q) >= 0 && !left_out;
    bad += x.at(p, q) == (is_there ? value_at(a.i.index(p), a.j.index(q)) : beyond_end) ? 0 : 1;
  });
  return bad + (x.count(untouched) == x.how.size + 1 - a.i.padded() * a.j.padded() ? 0 : 1000);
}

// The number of wrong elements of an array whose own elements are `wanted(i, j)`, and whose ghosts were not written.
template <class F>
std::int64_t wrong_own(piece& x, both_axes const& a, F const& wanted) {
  x.memory.fetch();
  std::int64_t bad = 0;
  for_each_padded(a, [&](std::int64_t p, std::int64_t q) {
    bool const own = !a.i.in_margin(p) && !a.j.in_margin(q);
    bad += x.at(p, q) == (own ? wanted(a.i.index(p), a.j.index(q)) : beyond_end) ? 0 : 1;
  });
  return bad;
}

// A stencil that reads two indices before and one behind along I, and one behind along J.
inline constexpr auto lopsided = [](auto const& u) { return 2 * u(-2, 0) - u(1, 1) + 3 * u(0, 1) + u(-1, 0); };

// Its values (i, j) on rings of n and k indices.
inline auto lopsided_on_rings(std::int64_t n, std::int64_t k) {
  return [=](std::int64_t i, std::int64_t j) {
    auto const at = [&](std::int64_t di, std::int64_t dj) { return value_at((i + di + n) % n, (j + dj + k) % k); };
    return 2 * at(-2, 0) - at(1, 1) + 3 * at(0, 1) + at(-1, 0);
  };
}

// Calls f on every mesh, with extents from none to some.
template <class F>
void on_all(F const& f) {
  on_every_mesh([&](test_mesh const& m) {
    for (auto const& [n, k] : {std::pair{0, 3}, {1, 1}, {2, 3}, {3, 2}, {7, 9}, {12, 8}}) {
      INFO(m.text(), "I = ", n, ", J = ", k);
      f(m, mesh_type(m.handle()), std::int64_t{n}, std::int64_t{k});
    }
  });
}

}  // namespace ostraka::testing::ghosted
