// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::einsum_into, map_into and reshard_into with an application's array in place of the tensor: every layout, without
/// a change to the memory between the elements. Expected values are sums in plain loops.
// labels: essential
// ranks: 1 2 3 4
// sham:

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "support/allocated_by.hpp"
#include "support/on_meshes.hpp"
#include "support/program_array.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class T, class Layout>
using view_of = Kokkos::View<T, Layout, Kokkos::DefaultExecutionSpace>;

std::int64_t rows_here(std::int64_t n) { return (t::rank() + 1) * n / t::ranks() - t::rank() * n / t::ranks(); }

std::int64_t uneven() { return 3 * t::ranks() + 1; }
std::int64_t first_row() { return t::rank() * uneven() / t::ranks(); }

// Layouts of a block of n × m elements in a larger memory that is filled with −7: strides, and where it begins.
struct layout {
  std::int64_t row, column, first;
};

// The number of wrong elements of a block on the host.
template <class At>
int wrong_in(double const* p, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns,
             At const& at) {
  int found = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) found += p[i * row + j * column] != at(i, j);
  return found;
}

// The block, where tensors are stored.
struct block_of_array {
  t::program_array<double> const& memory;
  layout lies;

  [[nodiscard]] double* data() const { return memory.data() + lies.first; }
  template <class At>
  int wrong(std::int64_t rows, std::int64_t columns, At const& at) const {
    memory.fetch();
    return wrong_in(memory.begin() + lies.first, lies.row, lies.column, rows, columns, at);
  }
};

template <class F>
void on_layouts(std::int64_t n, std::int64_t m, F const& f) {
  for (layout const& l : {layout{m, 1, 0}, layout{1, n, 0}, layout{m + 3, 1, 2}, layout{2, 2 * n + 1, 1},
                          layout{-2 * m, -1, 2 * n * m}, layout{3 * m, 3, 0}}) {
    t::program_array<double> const memory(static_cast<std::size_t>(6 * (n + 2) * (m + 2)), -7);
    f(block_of_array{memory, l});
    memory.fetch();
    // Only the block was written.
    std::vector<bool> own(memory.size());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < m; ++j) own[static_cast<std::size_t>(l.first + i * l.row + j * l.column)] = true;
    int strange = 0;
    for (std::size_t k = 0; k < memory.size(); ++k) strange += !own[k] && memory[k] != -7;
    CHECK(strange == 0);
  }
}

}  // namespace

TEST_CASE("results are written straight into arrays of every layout") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = uneven(), m = 5, k = 2 * t::ranks() + 1;
  auto const left = [](auto i, auto j) { return double(i % 7) - double(j % 3); };
  auto const right = [](auto j, auto l) { return double(j % 5) - 2 * double(l % 2); };
  auto const a = os::generate<double, I, J/X>(mesh, I = n, J = k, left);
  auto const b = os::generate<double, J/X, K>(mesh, J = k, K = m, right);
  auto const whole = os::generate<double, I, J>(mesh, I = n, J = k, left);
  auto const product = [&](std::int64_t i, std::int64_t l) {
    double sum = 0;
    for (std::int64_t j = 0; j < k; ++j) sum += left(i, j) * right(j, l);
    return sum;
  };
  auto const divided = [&](std::int64_t i, std::int64_t l) { return product(i + first_row(), l); };
  on_layouts(rows_here(n), m, [&](block_of_array const& block) {
    auto const view = os::strided(block.data(), I = block.lies.row, K = block.lies.column);
    os::einsum_into<I/X, K>(view, a, b);  // a reduce-scatter
    CHECK(block.wrong(rows_here(n), m, divided) == 0);
    os::einsum_into<I/X, K>(view, a, b, os::alpha = 2, os::beta = -1);
    CHECK(block.wrong(rows_here(n), m, divided) == 0);
    os::einsum_into<I/X, K>(view, whole, b);  // a gather or a reduction
    CHECK(block.wrong(rows_here(n), m, divided) == 0);
    os::einsum_into<I/X, K>(view, a, b, os::within(1 << 20));
    CHECK(block.wrong(rows_here(n), m, divided) == 0);
    auto const c = os::einsum<I, K>(a, b);
    os::reshard_into<I/X, K>(view, c);  // a slice
    CHECK(block.wrong(rows_here(n), m, divided) == 0);
    os::map_into<I/X, K>(
        view, [](double x) { return x + 1; }, os::slice<I/X>(c));
    CHECK(block.wrong(rows_here(n), m, [&](auto i, auto l) { return divided(i, l) + 1; }) == 0);
    os::map_into<I/X, K>(
        view, [](double x, double y) { return x * y; }, os::slice<I/X>(c), os::full<double, K>(mesh, K = m, 3));
    CHECK(block.wrong(rows_here(n), m, [&](auto i, auto l) { return 3 * divided(i, l); }) == 0);
  });
  on_layouts(n, m, [&](block_of_array const& block) {
    auto const view = os::strided(block.data(), K = block.lies.column, I = block.lies.row);
    os::einsum_into<I, K>(view, a, b);  // an all-reduce
    CHECK(block.wrong(n, m, product) == 0);
    os::einsum_into<I, K>(view, a, b, os::beta = 1);
    CHECK(block.wrong(n, m, [&](auto i, auto l) { return 2 * product(i, l); }) == 0);
    os::reshard_into<I, K>(view, os::einsum<I/X, K>(a, b));  // an all-gather
    CHECK(block.wrong(n, m, product) == 0);
  });
  on_layouts(n, k * (t::rank() + 1) / t::ranks() - k * t::rank() / t::ranks(), [&](block_of_array const& block) {
    std::int64_t const begin = k * t::rank() / t::ranks(), end = k * (t::rank() + 1) / t::ranks();
    os::reshard_into<I, J/X>(os::strided(block.data(), I = block.lies.row, J = block.lies.column),
                               os::slice<I/X>(whole));  // an all-to-all
    CHECK(block.wrong(n, end - begin, [&](auto i, auto j) { return left(i, j + begin); }) == 0);
  });

  // Views, lists, scalars; nothing is allocated in a steady state, and arrays that do not fit are errors.
  auto const here = static_cast<std::size_t>(rows_here(n));
  view_of<double**, Kokkos::LayoutLeft> const column_major("column major", here, 5);
  auto const run = [&] { os::einsum_into<I/X, K>(column_major, a, b); };
  run();
  CHECK(t::allocated_by(run) == 0);
  auto const of_columns = os::engine::on_host(column_major);
  CHECK(wrong_in(of_columns.data(), 1, static_cast<std::int64_t>(here), rows_here(n), m, divided) == 0);
  // A list is on the host, and an operation writes where it computes.
  [&](auto const& operand) {
    if constexpr (os::engine::host_accessible<typename std::remove_cvref_t<decltype(operand)>::view_type>) {
      std::vector<double> list(here * 5);
      os::einsum_into<I/X, K>(list, operand, b);
      CHECK(wrong_in(list.data(), m, 1, rows_here(n), m, divided) == 0);
    }
  }(a);
  Kokkos::View<double, Kokkos::DefaultExecutionSpace> const sum("sum");
  os::einsum_into(sum, a, a);
  double squares = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < k; ++j) squares += left(i, j) * left(i, j);
  CHECK(os::engine::read_on_host(sum) == squares);

  // In place, if the array is an operand's memory.
  auto const doubled = os::copy(whole);
  os::map_into<I, J>(
      doubled.local(), [](double x) { return 2 * x; }, doubled);
  CHECK(t::wrong_elements(doubled, [&](auto i, auto j) { return 2 * left(i, j); }) == 0);
  CHECK_THROWS_AS((os::map_into<J, I>(
                      os::strided(doubled.local().data(), I = 1, J = n), [](double x) { return x; }, doubled)),
                  os::error);
  CHECK_THROWS_WITH_AS(
      (os::einsum_into<I, K>(view_of<double**, Kokkos::LayoutLeft>("short", std::size_t(n), 4), a, b)),
      "einsum_into: an array that is written has the extents of its device's block, which holds 5 elements along "
      "dimension 1, and the array has 4",
      os::error);
  std::vector<double> overlapping(100);
  CHECK_THROWS_WITH_AS(
      (os::einsum_into<I, K>(os::strided(overlapping.data(), I = 4, K = 1), a, b)),
      "einsum_into: each element of what is written has a place of its own, but the array has elements that share one; "
      "give it no stride of 0, and none that is too short for its extents",
      os::error);
}

