// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The library as users see it, over a back end other than MPI: four host threads form one mesh, and its operations
/// give the results of plain loops.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <ostraka/ostraka.hpp>

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

namespace os = ostraka;
using os::testing::thread_job;

namespace {

constexpr std::int64_t rows = 6, inner = 5, columns = 3;

double a(std::int64_t i, std::int64_t j) { return static_cast<double>(i + 2 * j); }
double b(std::int64_t j, std::int64_t k) { return static_cast<double>(j * k - 1); }

}  // namespace

TEST_CASE("four threads multiply, reduce and reshard on one mesh") {
  std::vector<double> product;
  double total = 0, largest = 0;
  auto const calls = thread_job::run(4, [&](int rank) {
    auto const mesh = os::make_mesh(X = 2, Y = 2);
    CHECK(mesh.device() == rank);
    CHECK(mesh.devices_per_node() == 4);
    auto const A = os::generate<double, I / X, J / Y>(mesh, I = rows, J = inner, &a);
    auto const B = os::generate<double, J / Y, K>(mesh, J = inner, K = columns, &b);
    auto const C = os::einsum<I / X, K / Y>(A, B);
    auto const moved = os::reshard<I / Y, K / X>(C);
    auto const sum = os::value(os::sum<>(moved));
    auto const most = os::value(os::max<>(C));
    auto const host = os::gather_to_root(moved);
    if (rank != 0) return;
    total = sum;
    largest = most;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = 0; k < columns; ++k) product.push_back((*host)(i, k));
  });
  double expected_sum = 0, expected_most = -1e9;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < columns; ++k) {
      double c = 0;
      for (std::int64_t j = 0; j < inner; ++j) c += a(i, j) * b(j, k);
      CHECK(product[static_cast<std::size_t>(i * columns + k)] == c);  // exact, for whole numbers
      expected_sum += c;
      expected_most = std::max(expected_most, c);
    }
  CHECK(total == expected_sum);
  CHECK(largest == expected_most);
  CHECK(calls[0].size() > 4);
}

TEST_CASE("devices that make different meshes get an error") {
  thread_job::run(2, [](int rank) {
    if (rank == 0)
      CHECK_THROWS_WITH(static_cast<void>(os::make_mesh(X = 2, Y = 1)), doctest::Contains("device 1 names other axes"));
    else
      CHECK_THROWS_WITH(static_cast<void>(os::make_mesh(X = 1, Y = 2)), doctest::Contains("device 1 names other axes"));
  });
}
