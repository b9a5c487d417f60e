// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensors to ScaLAPACK's block-cyclic arrays and back, on grids that are the tensor's and on others, against loops
/// over the elements: element (i, j) is on process (i / mb mod P, j / nb mod Q), in row i / (mb P) · mb + i mod mb of
/// its column-major array.
// ranks: 1 2 3 4 6 8
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <ostraka/foreign_blocks.hpp>
#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>

#include "support/on_meshes.hpp"
#include "support/program_array.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

double exactly(std::int64_t i, std::int64_t j) { return static_cast<double>(100 * i + j + 1); }

struct grid {
  std::int64_t p, q, row, column;
};

// The number of indices that a process has along an axis, counted one by one.
std::int64_t held(std::int64_t n, std::int64_t block, std::int64_t at, std::int64_t ways) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < n; ++i) found += i / block % ways == at;
  return found;
}

std::int64_t local(std::int64_t i, std::int64_t block, std::int64_t ways) {
  return i / (block * ways) * block + i % block;
}

// f(i, j, element of the array) for each element that the process holds.
template <class F>
void for_each_held(std::int64_t n, std::int64_t k, std::int64_t mb, std::int64_t nb, grid const& g, std::int64_t lld,
                   F const& f) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < k; ++j)
      if (i / mb % g.p == g.row && j / nb % g.q == g.column)
        f(i, j, static_cast<std::size_t>(local(i, mb, g.p) + local(j, nb, g.q) * lld));
}

template <auto... Dims, class Mesh, class Cyclic>
void check(Mesh const& mesh, t::test_mesh const& m, std::int64_t n, std::int64_t k, std::int64_t mb, std::int64_t nb,
           grid const& g, Cyclic const& cyclic) {
  INFO(m.text(), " ", n, " × ", k, " by ", mb, " × ", nb);
  auto const there = os::scalapack_array_of<Dims...>(mesh, I = n, J = k, cyclic, 7);
  std::int64_t const rows = held(n, mb, g.row, g.p), columns = held(k, nb, g.column, g.q);
  CHECK(there.rows == rows);
  CHECK(there.columns == columns);
  CHECK(there.leading_dimension == std::max<std::int64_t>(rows, 1));
  std::array<int, 9> const wanted{1,
                                  7,
                                  static_cast<int>(n),
                                  static_cast<int>(k),
                                  static_cast<int>(mb),
                                  static_cast<int>(nb),
                                  0,
                                  0,
                                  static_cast<int>(std::max<std::int64_t>(rows, 1))};
  CHECK(there.descriptor == wanted);

  std::int64_t const lld = there.leading_dimension;
  t::program_array<double> const array(there.elements(), -1.0);
  for_each_held(n, k, mb, nb, g, lld,
                [&](std::int64_t i, std::int64_t j, std::size_t at) { array[at] = exactly(i, j); });
  array.send();
  auto const a =
      os::copy_from_blocks<double, Dims...>(mesh, I = n, J = k, cyclic, os::strided(array.data(), I = 1, J = lld));
  int wrong = 0;
  auto const block = t::host_block(a);
  for (std::size_t i = 0; i < block.extent(0); ++i)
    for (std::size_t j = 0; j < block.extent(1); ++j)
      wrong += block(i, j) != exactly(static_cast<std::int64_t>(i) + a.range(0).begin,
                                      static_cast<std::int64_t>(j) + a.range(1).begin);
  CHECK(wrong == 0);

  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> const view("view", static_cast<std::size_t>(rows),
                                                                            static_cast<std::size_t>(columns));
  os::copy_to_blocks(a, cyclic, view);
  for_each_held(n, k, mb, nb, g, 1, [&](std::int64_t i, std::int64_t j, std::size_t) {
    wrong +=
        view(static_cast<std::size_t>(local(i, mb, g.p)), static_cast<std::size_t>(local(j, nb, g.q))) != exactly(i, j);
  });
  CHECK(wrong == 0);
}

template <class F>
void on_meshes(F const& f) {
  for (t::mesh_shape const& s : t::mesh_shapes())
    if (s.axes == "XYZ") f(os::make_mesh(X = s.sizes[0], Y = s.sizes[1], Z = s.sizes[2]), t::test_mesh(s));
}

// Blocks that are shorter than a device's part, as long, and longer than the axis.
template <class F>
void for_sizes(F const& f) {
  for (std::int64_t n : {0, 1, 2, 3})
    for (std::int64_t k : {0, 1, 3}) f(n, k, 1, 2);
  f(12, 7, 1, 1);
  f(12, 7, 2, 3);
  f(13, 8, 5, 100);
}

}  // namespace

TEST_CASE("the grid is the tensor's") {
  on_meshes([](auto const& mesh, t::test_mesh const& m) {
    std::int64_t const x = mesh.sizes().of(X), y = mesh.sizes().of(Y), z = mesh.sizes().of(Z);
    int const d = t::rank();
    std::int64_t const at_x = d / (y * z), at_y = d / z % y, at_z = d % z;
    for_sizes([&](std::int64_t n, std::int64_t k, std::int64_t mb, std::int64_t nb) {
      auto const cyclic = os::block_cyclic(I = mb, J = nb);
      check<I/X, J/Y>(mesh, m, n, k, mb, nb, {x, y, at_x, at_y}, cyclic);
      check<I/Z, J/X>(mesh, m, n, k, mb, nb, {z, x, at_z, at_x}, cyclic);
      check<I/X/Y, J>(mesh, m, n, k, mb, nb, {x * y, 1, at_x * y + at_y, 0}, cyclic);
      check<I, J>(mesh, m, n, k, mb, nb, {1, 1, 0, 0}, cyclic);
    });
  });
}

TEST_CASE("the grid is of other mesh axes than the tensor's") {
  on_meshes([](auto const& mesh, t::test_mesh const& m) {
    std::int64_t const x = mesh.sizes().of(X), y = mesh.sizes().of(Y), z = mesh.sizes().of(Z);
    int const d = t::rank();
    std::int64_t const at_x = d / (y * z), at_y = d / z % y, at_z = d % z;
    for_sizes([&](std::int64_t n, std::int64_t k, std::int64_t mb, std::int64_t nb) {
      auto const cyclic = os::block_cyclic<I/X, J/Y>(I = mb, J = nb);
      grid const g{x, y, at_x, at_y};
      check<I/X/Y, J>(mesh, m, n, k, mb, nb, g, cyclic);
      check<I, J>(mesh, m, n, k, mb, nb, g, cyclic);
      check<I/Y, J/Z>(mesh, m, n, k, mb, nb, g, cyclic);
      check<I/X, J/Y>(mesh, m, n, k, mb, nb, {z, 1, at_z, 0}, os::block_cyclic<J, I/Z>(I = mb, J = nb));
    });
  });
}

TEST_CASE("plans send what elements differ, and count it") {
  on_meshes([](auto const& mesh, t::test_mesh const& m) {
    std::int64_t const x = mesh.sizes().of(X), y = mesh.sizes().of(Y), z = mesh.sizes().of(Z);
    std::int64_t const n = 12, k = 7, mb = 2, nb = 3;
    auto const cyclic = os::block_cyclic<I/X, J/Y>(I = mb, J = nb);
    auto const there = os::scalapack_array_of<I/Y, J>(mesh, I = n, J = k, cyclic, 0);
    t::program_array<double> const array(there.elements());
    auto const lies = os::strided(array.data(), I = 1, J = there.leading_dimension);
    auto plan = os::plan_blocks<double, I/Y, J>(mesh, I = n, J = k, cyclic, lies);
    std::int64_t from = 0, to = 0;
    for (int d = 0; d < t::ranks(); ++d) {
      auto const block = t::block_on<os::tensor<double, I/Y, J>>(m, {{'I', n}, {'J', k}}, d);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < k; ++j) {
          bool const in_block = i >= block[0].begin && i < block[0].end;
          bool const in_array = i / mb % x == d / (y * z) && j / nb % y == d / z % y;
          from += in_block && !in_array;
          to += in_array && !in_block;
        }
    }
    std::int64_t const agreement = 2 * (t::ranks() - 1) * 16;
    auto const a = os::generate<double, I / Y, J>(
        mesh, I = n, J = k, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { return exactly(i, j); });
    CHECK(t::traffic_of([&] { plan.copy_to(a, lies); }).bytes == 8 * to + agreement);
    CHECK(t::traffic_of([&] { plan.copy_from_into(a, lies); }).bytes == 8 * from + agreement);
    int wrong = 0;
    auto const block = t::host_block(a);
    for (std::size_t i = 0; i < block.extent(0); ++i)
      for (std::size_t j = 0; j < block.extent(1); ++j)
        wrong += block(i, j) != exactly(static_cast<std::int64_t>(i) + a.range(0).begin, static_cast<std::int64_t>(j));
    CHECK(wrong == 0);
  });
}

TEST_CASE("dry meshes: what each device would send is what the devices send") {
  int const p = t::ranks();
  auto const program = [](auto const& mesh, auto const& cyclic, std::int64_t n) {
    auto const a = os::zeros<double, I/X, J>(mesh, I = n, J = 5);
    auto const there = os::scalapack_array_of<I/X, J>(mesh, I = n, J = 5, cyclic, 0);
    t::program_array<double> const array(there.elements());
    auto const lies = os::strided(array.data(), I = 1, J = there.leading_dimension);
    return os::cost_of(mesh, [&] {
      os::copy_to_blocks(a, cyclic, lies);
      static_cast<void>(os::copy_from_blocks<double, I/X, J>(mesh, I = n, J = 5, cyclic, lies));
    });
  };
  auto const cyclic = os::block_cyclic<I, J/X>(I = 2, J = 1);
  auto const wet = program(os::make_mesh(X = p), cyclic, 11);
  auto const dry = program(os::dry_mesh(os::as_device(t::rank()), X = p), cyclic, 11);
  CHECK(dry.bytes == wet.bytes);
  CHECK(dry.messages == wet.messages);
  CHECK(dry.peak_memory == wet.peak_memory);

  auto const rows = [](auto const& mesh, std::int64_t begin, std::int64_t end) {
    auto const a = os::zeros<double, I/X, J>(mesh, I = 11, J = 5);
    Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> const v("v", static_cast<std::size_t>(end - begin),
                                                                          5);
    auto plan = os::plan_blocks<double, I/X, J>(mesh, I = 11, J = 5, os::at(I = begin), v);
    return os::cost_of(mesh, [&] { plan.copy_from_into(a, v); });
  };
  std::int64_t const each = (11 + p - 1) / p, begin = std::min<std::int64_t>(11, t::rank() * each);
  std::int64_t const end = std::min<std::int64_t>(11, begin + each);
  CHECK(rows(os::dry_mesh(os::as_device(t::rank()), X = p), begin, end).bytes ==
        rows(os::make_mesh(X = p), begin, end).bytes);
}
