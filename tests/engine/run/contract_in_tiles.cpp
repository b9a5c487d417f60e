// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Long contractions while something is in flight: it progresses between tiles of the result, a library's or our own,
/// and the result is that of plain loops, on blocks of any strides, with a batch, uneven tiles and an update. In short
/// ones nothing progresses. If our own tiles compute it, the bits do not depend on it.
// ranks: 1
// sham:
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
  void poll() noexcept override { ++calls; }
};

struct product {
  contraction p;
  std::vector<double> a, b, c;

  // C[B, I, K] = A[B, I, J] B[B, J, K]; C may be transposed, as [B, K, I], with gaps.
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
    int batch, rows, sum, columns;
    bool goes_on;
  };
  for (shape const s :
       {shape{1, 515, 70, 389, true}, shape{1, 1030, 133, 130, true}, shape{1, 90, 290, 700, true},
        shape{5, 120, 160, 128, true}, shape{9, 200, 41, 200, true}, shape{1, 64, 64, 64, false}})
    for (bool transposed : {false, true})
      for (update<double> const& how : {update<double>{}, update<double>{2, 3}}) {
        INFO(s.batch, " x ", s.rows, " x ", s.sum, " x ", s.columns, transposed ? " transposed" : "");
        product in_tiles(s.batch, s.rows, s.sum, s.columns, transposed);
        product whole = in_tiles;
        std::vector<double> const expected = in_tiles.by_loops(how);
        {
          counts_calls message;
          in_tiles.run(how);
          CHECK((message.calls > 0) == s.goes_on);
          CHECK(message.calls <= std::int64_t{s.batch} * s.rows * s.sum * s.columns >> 21);
        }
        CHECK(in_tiles.c == expected);
        whole.run(how);
        CHECK(whole.c == expected);
      }
  CHECK(in_flight::first() == nullptr);
}

// So long a sum is one tile of the library's, within which nothing can progress.
TEST_CASE("our own tiles let messages go on, and are the same ones") {
  product whole(1, 40, 20000, 40, false);
  for (std::size_t i = 0; i < whole.a.size(); ++i) whole.a[i] = 1 / (static_cast<double>(i % 1013) + 1.7);
  product beside = whole;
  plan_ticket ticket;
  bool const ours = detail::progresses_meanwhile<double>(exec_space(), whole.p, ticket);
  {
    counts_calls message;
    beside.run({});
    CHECK((message.calls >= 2) == ours);
  }
  whole.run({});
  CHECK(beside.c == whole.c);
}

TEST_CASE("integers are always ours") {
  constexpr int n = 300;
  std::vector<std::int64_t> a(n * n), b(n * n), c(n * n), expected(n * n, 0);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int64_t>(i * 5 % 7) - 3;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::int64_t>(i * 3 % 11) - 5;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) expected[i * n + k] += a[i * n + j] * b[j * n + k];
  contraction p;
  p.labels = 3;
  for (int l = 0; l < 3; ++l) p.extent[l] = n;
  p.in_a[0] = p.in_a[1] = p.in_b[1] = p.in_b[2] = p.in_c[0] = p.in_c[2] = true;
  p.a[0] = p.b[1] = p.c[0] = n;
  p.a[1] = p.b[2] = p.c[2] = 1;
  plan_ticket ticket;
  counts_calls message;
  contract_in_tiles(exec_space(), p, static_cast<std::int64_t const*>(a.data()),
                    static_cast<std::int64_t const*>(b.data()), c.data(), {}, ticket);
  CHECK(c == expected);
  CHECK(message.calls > 0);
  if (exec_space().concurrency() == 1) CHECK(detail::progresses_meanwhile<std::int64_t>(exec_space(), p, ticket));
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
