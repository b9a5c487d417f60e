// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Arrays with one ghost layer for tests of functions of points, computed from the block distribution by plain loops.
/// Element (i, j) of the whole is 100 i + 7 j + 1.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "support/on_meshes.hpp"
#include "support/program_array.hpp"

namespace ostraka::testing::points {

using mesh_type = ostraka::mesh<X_mesh, Y_mesh, Z_mesh>;

inline double value_at(std::int64_t i, std::int64_t j) { return static_cast<double>(100 * i + 7 * j + 1); }
inline constexpr double ghost = -3;

// The indices of one axis that this rank owns.
struct range_here {
  std::int64_t begin, end;
  range_here(std::int64_t n, std::int64_t number, std::int64_t ways)
      : begin(number * n / ways), end((number + 1) * n / ways) {}
  std::int64_t size() const { return end - begin; }
};

// An array with one ghost layer along both axes, its elements `step` apart, rows or columns first.
struct field {
  range_here i, j;
  std::int64_t step_i, step_j;
  program_array<double> memory;  // its copy on the host is written and read here

  field(range_here own_i, range_here own_j, bool by_columns, std::int64_t step)
      : i(own_i),
        j(own_j),
        step_i(by_columns ? step : step * (own_j.size() + 2)),
        step_j(by_columns ? step * (own_i.size() + 2) : step),
        memory(static_cast<std::size_t>(step * (own_i.size() + 2) * (own_j.size() + 2)), ghost) {}

  double& at(std::int64_t p, std::int64_t q) {  // global indices; own begin − 1 is in the ghost layer
    return memory[static_cast<std::size_t>((p - i.begin + 1) * step_i + (q - j.begin + 1) * step_j)];
  }
  template <class F>
  void set(F const& f) {
    for (std::int64_t p = i.begin; p < i.end; ++p)
      for (std::int64_t q = j.begin; q < j.end; ++q) at(p, q) = f(p, q);
    memory.send();
  }
  // The number of own elements that are not f(i, j), and of ghosts that have changed.
  template <class F>
  std::int64_t wrong(F const& f) {
    memory.fetch();
    std::int64_t bad = 0;
    for (std::int64_t p = i.begin - 1; p <= i.end; ++p)
      for (std::int64_t q = j.begin - 1; q <= j.end; ++q) {
        bool const own = p >= i.begin && p < i.end && q >= j.begin && q < j.end;
        bad += at(p, q) == (own ? f(p, q) : ghost) ? 0 : 1;
      }
    return bad;
  }
};

inline double sum_of_all(std::int64_t n, std::int64_t k, auto const& f) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < k; ++j) sum += f(i, j);
  return sum;
}

// The value at (i, j), or `ghost` beyond the ends of n × k elements.
inline auto value_or_ghost(std::int64_t n, std::int64_t k) {
  return [=](std::int64_t i, std::int64_t j) { return i < 0 || j < 0 || i >= n || j >= k ? ghost : value_at(i, j); };
}

template <class F>
void on_all(F const& f) {
  on_every_mesh([&](test_mesh const& m) {
    for (auto const& [n, k] : {std::pair{0, 3}, {1, 1}, {2, 3}, {3, 2}, {7, 9}, {12, 300}, {130, 150}}) {
      INFO(m.text(), "I = ", n, ", J = ", k);
      f(m, mesh_type(m.handle()), std::int64_t{n}, std::int64_t{k});
    }
  });
}

inline range_here here(test_mesh const& m, char const* over, std::int64_t n) {
  return {n, m.coordinate(over, rank()), m.size(over)};
}

inline auto adopt(mesh_type const& mesh, std::int64_t n, std::int64_t k, field& f) {
  return ostraka::from_local<double, ostraka::halo<I, 1>/X, ostraka::halo<J, 1>/Y>(
      mesh, I = n, J = k, ostraka::strided(f.memory.data(), I = f.step_i, J = f.step_j));
}

}  // namespace ostraka::testing::points
