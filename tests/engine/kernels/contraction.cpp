// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// The local contraction against plain loops over all labels: every class of label, permuted and padded layouts, empty
/// extents, every element type, with the library and without; C <- alpha A B + beta C for all combinations of special
/// and other factors. Then the chosen algorithm, and that all possible algorithms compute the same. It is one file,
/// because the kernels of these element types take most of the time to compile.
// ranks: 1
// labels: essential
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "engine/kernels/contraction_blocks.hpp"
#include "support/instances.hpp"

using namespace ostraka::testing;

TEST_CASE_TEMPLATE("every combination of label classes, permuted and padded", T, float, double, Kokkos::complex<float>,
                   Kokkos::complex<double>, std::int32_t, std::int64_t) {
  std::mt19937 random(1);
  for_each_set_of_classes(random, {batch, left, right, summed, only_a, only_b}, 2, 4,
                          [&](contraction const& shape, int repeat) {
                            REQUIRE(blocks<T>(random, shape, repeat % 2 == 1).contracts_right());
                          });
}

TEST_CASE_TEMPLATE("matrices larger than any tile, in every layout", T, float, double, Kokkos::complex<float>,
                   Kokkos::complex<double>, std::int32_t, std::int64_t) {
  std::mt19937 random(2);
  for (int repeat = 0; repeat < 24; ++repeat) {
    auto const extent = [&] { return 1 + static_cast<std::int64_t>(random() % 70); };
    blocks<T> blocks(
        random, shape_of({extent(), extent(), 1 + extent() / 2, 3}, {left, right, summed, repeat % 3 ? summed : batch}),
        repeat % 2 == 1);
    CAPTURE(repeat);
    REQUIRE(blocks.contracts_right());
  }
}

TEST_CASE_TEMPLATE("long sums with few results", T, double, std::int64_t) {
  std::mt19937 random(3);
  for (int m : {1, 2, 5})
    for (int n : {1, 3, 40})
      for (std::int64_t k : {70001, 16384 * 7 + 1}) {
        blocks<T> blocks(random, shape_of({m, n, k}, {left, right, summed}), true);
        REQUIRE(blocks.contracts_right());
      }
}

TEST_CASE_TEMPLATE("empty extents", T, float, Kokkos::complex<double>, std::int32_t) {
  std::mt19937 random(4);
  for (int empty = 0; empty < 6; ++empty) {
    std::vector<std::int64_t> extents(6, 3);
    extents[static_cast<std::size_t>(empty)] = 0;
    blocks<T> blocks(random, shape_of(extents, {batch, left, right, summed, only_a, only_b}), true);
    CAPTURE(empty);
    CHECK(blocks.contracts_right());
  }
}

TEST_CASE("labels of the result alone repeat it, and a stride of 0 repeats an operand") {
  std::mt19937 random(5);
  blocks<double> repeated(random, shape_of({4, 5, 6, 3}, {left, right, summed, 4}), true);
  CHECK(repeated.contracts_right());

  blocks<double> broadcast(random, shape_of({20, 30, 40}, {left, right, summed}), false);
  for (int l : {0, 2}) {
    std::int64_t const before = broadcast.p.a[l];
    broadcast.p.a[l] = 0;
    broadcast.fill_values(random);
    CHECK(broadcast.contracts_right());
    broadcast.p.a[l] = before;
  }
}

TEST_CASE_TEMPLATE("with alpha = 0 the operands are not read", T, float, Kokkos::complex<double>) {
  std::mt19937 random(7);
  for (std::int64_t n : {3, 40}) {
    blocks<T> product(random, shape_of({n, n, n}, {left, right, summed}), true);
    CHECK(product.reads_no_more_than_it_has_to());
  }
}

TEST_CASE("what is only priced is not computed, not by teams either") {
  std::mt19937 random(5);
  blocks<double> product(random, shape_of({20, 30, 40}, {left, right, summed}), false);
  std::vector<double> const untouched = product.c;
  ostraka::engine::only_priced_scope const priced(true);
  contract(exec_space(), product.p, product.a.data(), product.b.data(), product.c.data());
  product.run_device_kernel(way::teams, 1, product.c.data(), 0);
  CHECK(product.c == untouched);
}

TEST_CASE("extents beyond the library's int go another way") {
  std::int64_t const before = cblas_limit;
  std::mt19937 random(6);
  for (std::int64_t limit : {1, 10, 25, 39}) {
    cblas_limit = limit;
    for (int repeat = 0; repeat < 10; ++repeat) {
      blocks<double> blocks(random, shape_of({40, 30, 20, 2}, {left, right, summed, summed}), repeat % 2 == 0);
      CHECK(blocks.contracts_right());
    }
  }
  cblas_limit = before;
}

TEST_CASE("enough products for several threads to share") {
  std::mt19937 random(9);
  blocks<double> batched(random, shape_of({6, 24, 24, 24}, {batch, left, right, summed}), false);
  CHECK(batched.contracts_right());
  blocks<double> permuted(random, shape_of({6, 24, 24, 24}, {batch, left, right, summed}), true);
  CHECK(permuted.contracts_right());
}

#if OSTRAKA_ENABLE_CBLAS

namespace {

contraction_plan plan_for(std::vector<std::int64_t> const& extents, std::vector<int> const& classes,
                          std::vector<std::int64_t> const& a, std::vector<std::int64_t> const& b,
                          std::vector<std::int64_t> const& c) {
  contraction p = shape_of(extents, classes);
  for (std::size_t l = 0; l < extents.size(); ++l) {
    p.a[l] = a[l];
    p.b[l] = b[l];
    p.c[l] = c[l];
  }
  return plan_contraction<double>(p);
}

bool copies_nothing(contraction_plan const& plan) {
  return !plan.copies();
}

}  // namespace

TEST_CASE("plans: what lies well is multiplied where it lies") {
  // C[i,k] = A[i,j] B[j,k], all by rows
  contraction_plan plan = plan_for({64, 32, 48}, {left, summed, right}, {32, 1, 0}, {0, 48, 1}, {48, 0, 1});
  CHECK(plan.library);
  CHECK(copies_nothing(plan));
  CHECK(plan.product.m * plan.product.n * plan.product.k == 64 * 32 * 48);

  // C[i,k] = A[j,i] B[k,j], C by columns
  plan = plan_for({64, 32, 48}, {left, summed, right}, {1, 64, 0}, {0, 1, 32}, {1, 0, 64});
  CHECK(plan.library);
  CHECK(copies_nothing(plan));

  // a gathered k: (device, local) lie apart in A and together in B, so one product a device, or our tiles
  plan =
      plan_for({64, 4, 32, 48}, {left, summed, summed, right}, {32, 64 * 32, 1, 0}, {0, 32 * 48, 48, 1}, {48, 0, 0, 1});
  CHECK(copies_nothing(plan));
  CHECK((!plan.library || (plan.product.k == 32 && plan.summed.size() == 4)));

  // attention scores, S[b,h,q,k] = Q[b,q,h,d] K[b,k,h,d]: a product per b and h, unless our tiles are the faster
  plan = plan_for({2, 4, 64, 64, 32}, {batch, batch, left, right, summed}, {64 * 128, 32, 128, 0, 1},
                  {64 * 128, 32, 0, 128, 1}, {4 * 4096, 4096, 64, 1, 0});
  CHECK(copies_nothing(plan));
  CHECK((!plan.library || (plan.products() == 8 && plan.product.batch == 4)));
}

TEST_CASE("plans: copies where the library needs them, our kernel where there is nothing to gain") {
  // A has a stride of 2 everywhere: no matrix of the library's. B and C are.
  contraction_plan plan = plan_for({256, 256, 256}, {left, summed, right}, {512, 2, 0}, {0, 256, 1}, {256, 0, 1});
  CHECK((!plan.library || plan.copied[0]));
  CHECK((!plan.copied[1] && !plan.copied[2]));

  // an int too short for the extents
  std::int64_t const before = cblas_limit;
  cblas_limit = 255;
  CHECK(!plan_for({256, 256, 256}, {left, summed, right}, {256, 1, 0}, {0, 256, 1}, {256, 0, 1}).library);
  cblas_limit = before;

  // nothing is copied for products of some size in a suitable layout, transposed or not
  for (std::int64_t n : {128, 256, 1000})
    for (bool const transposed : {false, true}) {
      plan = plan_for({n, n, n}, {left, summed, right}, {transposed ? 1 : n, transposed ? n : 1, 0}, {0, n, 1},
                      {n, 0, 1});
      CHECK(copies_nothing(plan));
    }

  // an outer product and a product of vectors
  CHECK(!plan_for({500, 400}, {left, right}, {1, 0}, {0, 1}, {400, 1}).library);
  CHECK(!plan_for({500}, {summed}, {1}, {1}, {0}).library);
}

TEST_CASE_TEMPLATE("plans: whatever is copied, and every choice of dimensions", T, float, Kokkos::complex<double>) {
  std::mt19937 random(8);
  int found[8] = {};
  for (int repeat = 0; repeat < 60; ++repeat) {
    auto const extent = [&] { return 1 + static_cast<std::int64_t>(random() % 7); };
    blocks<T> blocks(random,
                     shape_of({extent(), extent(), extent(), extent(), extent(), extent(), 1 + extent() / 3},
                              {left, left, right, right, summed, summed, repeat % 2 ? batch : left}),
                     repeat % 3 == 0);
    for (int copied = 0; copied < 8; ++copied)
      ostraka::engine::detail::for_each_library_plan(blocks.p, copied, cblas_limit, [&](contraction_plan& plan) {
        ++found[copied];
        REQUIRE(blocks.follows(plan));
      });
  }
  for (int count : found) CHECK(count > 20);
}

#endif
