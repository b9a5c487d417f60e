// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Long contractions while something is in flight: tiles of the result, between which it goes on, give what plain loops
/// give, on blocks of any strides, with a batch, uneven tiles and an update. Short ones, and all while nothing is in
/// flight, are done at once.
// ranks: 1
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/engine/run/contract_in_tiles.hpp>

namespace {

using namespace ostraka::engine;
using exec_space = Kokkos::DefaultHostExecutionSpace;

struct counts_calls final : in_flight {
  int calls = 0;
  counts_calls() { enlist(); }
  void go_on() noexcept override { ++calls; }
};

struct product {
  contraction p;
  std::vector<double> a, b, c;

  // C[B, I, K] = A[B, I, J] B[B, J, K]; C may lie transposed, as [B, K, I], with gaps.
  product(int batch, int rows, int sum, int columns, bool transposed) {
    int const gap = 3;
    p.labels = 4;
    std::int64_t const extents[4] = {batch, rows, sum, columns};
    for (int l = 0; l < 4; ++l) p.extent[l] = extents[l];
    p.in_a[0] = p.in_a[1] = p.in_a[2] = p.in_b[0] = p.in_b[2] = p.in_b[3] = p.in_c[0] = p.in_c[1] = p.in_c[3] = true;
    p.a[0] = rows * sum, p.a[1] = sum, p.a[2] = 1;
    p.b[0] = sum * columns, p.b[2] = columns, p.b[3] = 1;
    p.c[1] = transposed ? 1 : columns + gap;
    p.c[3] = transposed ? rows + gap : 1;
    p.c[0] = transposed ? columns * p.c[3] : rows * p.c[1];
    a.resize(static_cast<std::size_t>(batch * rows * sum));
    b.resize(static_cast<std::size_t>(batch * sum * columns));
    c.resize(static_cast<std::size_t>(batch * p.c[0]), 7);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i * 5 % 7) - 3;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i * 3 % 11) - 5;
  }

  void run(update<double> const& how) {
    plan_ticket ticket;
    contract_in_tiles(exec_space(), p, static_cast<double const*>(a.data()), static_cast<double const*>(b.data()),
                      c.data(), how, ticket);
  }

  [[nodiscard]] std::vector<double> by_loops(update<double> const& how) const {
    std::vector<double> result = c;
    for (std::int64_t n = 0; n < p.extent[0]; ++n)
      for (std::int64_t i = 0; i < p.extent[1]; ++i)
        for (std::int64_t k = 0; k < p.extent[3]; ++k) {
          double sum = 0;
          for (std::int64_t j = 0; j < p.extent[2]; ++j)
            sum += a[static_cast<std::size_t>(n * p.a[0] + i * p.a[1] + j)] *
                   b[static_cast<std::size_t>(n * p.b[0] + j * p.b[2] + k)];
          double& to = result[static_cast<std::size_t>(n * p.c[0] + i * p.c[1] + k * p.c[3])];
          to = how.alpha * sum + how.beta * to;
        }
    return result;
  }
};

}  // namespace

TEST_CASE("tiles of a product") {
  struct shape {
    int batch, rows, sum, columns, tiles;
  };
  for (shape const s :
       {shape{1, 515, 70, 389, 6}, shape{1, 1030, 33, 130, 2}, shape{1, 90, 90, 700, 2}, shape{5, 120, 60, 128, 2},
        shape{9, 200, 41, 200, 7}, shape{1, 64, 64, 64, 1}, shape{1, 40, 20000, 40, 1}})
    for (bool transposed : {false, true})
      for (update<double> const& how : {update<double>{}, update<double>{2, 3}}) {
        INFO(s.batch, " x ", s.rows, " x ", s.sum, " x ", s.columns, transposed ? " transposed" : "");
        product in_tiles(s.batch, s.rows, s.sum, s.columns, transposed);
        product whole = in_tiles;
        std::vector<double> const expected = in_tiles.by_loops(how);
        {
          counts_calls message;
          in_tiles.run(how);
          CHECK(message.calls == (s.tiles > 1 ? s.tiles : 0));
        }
        CHECK(in_tiles.c == expected);
        whole.run(how);
        CHECK(whole.c == expected);
      }
  CHECK(in_flight::first() == nullptr);
}

TEST_CASE("what is in flight stands in a list") {
  CHECK(in_flight::first() == nullptr);
  {
    counts_calls first;
    {
      counts_calls second;
      progress();
      counts_calls third;
      progress();
      CHECK(second.calls == 2);
      CHECK(third.calls == 1);
    }
    progress();
    CHECK(first.calls == 3);
  }
  CHECK(in_flight::first() == nullptr);
  progress();
}
