// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// The local contraction against plain loops over all labels: every class of label, permuted and padded layouts, empty extents, every element type,
/// with the library and without; C <- alpha A B + beta C for all combinations of special and other factors.
// ranks: 1
// labels: essential
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <ostraka/engine/local/contraction.hpp>

namespace {

using namespace ostraka::engine;
using exec_space = Kokkos::DefaultHostExecutionSpace;

template <class T>
T small_value(std::mt19937& random) {
  // Integers of either sign: all sums below are exact in every element type, so the comparison is for equality.
  return T(static_cast<int>(random() % 15) - 7);
}
template <>
Kokkos::complex<float> small_value(std::mt19937& random) { return {small_value<float>(random), small_value<float>(random)}; }
template <>
Kokkos::complex<double> small_value(std::mt19937& random) { return {small_value<double>(random), small_value<double>(random)}; }

/// Strides for the labels present, in a random order of dimensions, with random gaps; returns the elements needed.
std::int64_t random_layout(std::mt19937& random, contraction const& p, bool const* present, std::int64_t* stride, bool gaps) {
  std::vector<int> order;
  for (int l = 0; l < p.labels; ++l)
    if (present[l]) order.push_back(l);
  std::shuffle(order.begin(), order.end(), random);
  std::int64_t step = gaps && random() % 4 == 0 ? 2 : 1;
  for (int l : order) {
    stride[l] = step;
    step *= std::max<std::int64_t>(p.extent[l], 1);
    if (gaps && random() % 3 == 0) step += 1 + static_cast<std::int64_t>(random() % 3);
  }
  return step + 1;
}

/// Calls f(index) for every index of the labels for which use[l].
template <class F>
void for_each_index(contraction const& p, bool const* use, std::int64_t* index, F const& f, int label = 0) {
  if (label == p.labels) {
    f();
    return;
  }
  if (!use[label]) {
    for_each_index(p, use, index, f, label + 1);
    return;
  }
  for (index[label] = 0; index[label] < p.extent[label]; ++index[label]) for_each_index(p, use, index, f, label + 1);
  index[label] = 0;
}

std::int64_t at(contraction const& p, bool const* present, std::int64_t const* stride, std::int64_t const* index) {
  std::int64_t offset = 0;
  for (int l = 0; l < p.labels; ++l)
    if (present[l]) offset += index[l] * stride[l];
  return offset;
}

/// What stands where nothing may be read.
template <class T>
T unreadable() {
  if constexpr (std::is_integral_v<T>) return T(77);
  else return T(std::nanf(""));
}

template <class T>
std::vector<update<T>> updates() {
  std::vector<update<T>> all;
  for (T alpha : {T(1), T(0), T(2), T(-1)})
    for (T beta : {T(0), T(1), T(3)}) all.push_back({alpha, beta});
  if constexpr (!std::is_arithmetic_v<T>) all.push_back({T(0, 1), T(2, -1)});
  return all;
}

/// The contraction as it is chosen, and the kernels that accelerators run: outputs in a plain loop, tiles by teams of one thread.
enum class way { chosen, elements, teams };

template <class T>
struct blocks {
  contraction p;
  std::vector<T> a, b, c, expected;

  blocks(std::mt19937& random, contraction const& shape, bool gaps) : p(shape) {
    a.resize(static_cast<std::size_t>(random_layout(random, p, p.in_a, p.a, gaps)));
    b.resize(static_cast<std::size_t>(random_layout(random, p, p.in_b, p.b, gaps)));
    c.resize(static_cast<std::size_t>(random_layout(random, p, p.in_c, p.c, gaps)));
    fill_values(random);
  }

  void fill_values(std::mt19937& random) {
    for (T& x : a) x = small_value<T>(random);
    for (T& x : b) x = small_value<T>(random);
    for (T& x : c) x = T(77);  // must be overwritten, and left alone between the rows
    expected = c;
    std::int64_t index[max_loops] = {};
    for_each_result([&](std::size_t i) { expected[i] = T(0); });
    bool all[max_loops];
    std::fill(all, all + max_loops, true);
    for_each_index(p, all, index, [&] {
      expected[static_cast<std::size_t>(at(p, p.in_c, p.c, index))] +=
          a[static_cast<std::size_t>(at(p, p.in_a, p.a, index))] * b[static_cast<std::size_t>(at(p, p.in_b, p.b, index))];
    });
  }

  template <class F>
  void for_each_result(F const& f) const {
    std::int64_t index[max_loops] = {};
    for_each_index(p, p.in_c, index, [&] { f(static_cast<std::size_t>(at(p, p.in_c, p.c, index))); });
  }

  /// C <- alpha A B + beta C, where C holds numbers, or what may not be read.
  bool updates_right(update<T> const& how, way by) const {
    std::vector<T> got = c;
    std::vector<T> wanted = expected;
    int n = 0;
    for_each_result([&](std::size_t i) {
      T const before = T(static_cast<float>(++n % 11 - 5));
      got[i] = how.beta == T(0) ? unreadable<T>() : before;
      wanted[i] = how.alpha * expected[i] + how.beta * before;
    });
    if (by == way::chosen) {
      contract(exec_space(), p, a.data(), b.data(), got.data(), how);
      Kokkos::fence();
    } else {
      run_device_kernel(by, 1, got.data(), 0, how);
    }
    return got == wanted;
  }

#if OSTRAKA_ENABLE_CBLAS
  /// C <- alpha A B + beta C along a given plan.
  bool follows(contraction_plan const& plan) const {
    static std::size_t next = 0;
    std::vector<update<T>> const all = updates<T>();
    update<T> how = all[next++ % all.size()];
    if (how.alpha == T(0)) how.alpha = T(1);
    std::vector<T> got = c;
    std::vector<T> wanted = expected;
    for_each_result([&](std::size_t i) {
      got[i] = how.beta == T(0) ? unreadable<T>() : T(3);
      wanted[i] = how.alpha * expected[i] + how.beta * T(3);
    });
    detail::follow_plan(exec_space(), p, plan, a.data(), b.data(), got.data(), how);
    return got == wanted;
  }
#endif

  /// What is multiplied by nothing is not read either.
  bool reads_no_more_than_it_has_to() {
    std::fill(a.begin(), a.end(), unreadable<T>());
    std::fill(expected.begin(), expected.end(), T(77));
    for_each_result([&](std::size_t i) { expected[i] = T(0); });
    return updates_right({T(0), T(0)}, way::chosen) && updates_right({T(0), T(3)}, way::chosen);
  }

  /// Three of the updates, others each time.
  bool some_updates_right(way by) const {
    static std::size_t next = 0;
    std::vector<update<T>> const all = updates<T>();
    for (int i = 0; i < 3; ++i)
      if (!updates_right(all[next++ % all.size()], by)) return false;
    return true;
  }

  bool contracts_right() {
    std::vector<T> const untouched = c;
    contract(exec_space(), p, a.data(), b.data(), c.data());
    Kokkos::fence();
    if (c != expected) return false;
    c = untouched;
    if (!some_updates_right(way::chosen)) return false;
    for (int l = 0; l < p.labels; ++l)
      if (p.extent[l] == 0 || class_of(p, l) == label_class::only_a || class_of(p, l) == label_class::only_b) return true;
    for (way const by : {way::elements, way::teams}) {
      if (!some_updates_right(by)) return false;
      c = untouched;
      run_device_kernel(by, 1, c.data(), 0);
      if (c != expected || !parts_add_up(by)) return false;
    }
    return true;
  }

  void run_device_kernel(way by, std::int64_t parts, T* into, std::int64_t part_step, update<T> const& how = {}) const {
    product_loops const loops = loops_of(p);
    detail::product_operands<T> const in{a.data(), b.data(), into, parts, part_step, loops.k, how};
    if (by == way::teams) {
      detail::teams_of<exec_space, T, 1, 8>(loops, in).run(exec_space());
      Kokkos::fence();
      return;
    }
    detail::contract_elements<T> const kernel{in, detail::output_loops(loops)};
    for (std::int64_t i = parts * kernel.outputs.size(); i-- > 0;) kernel(i);
  }

  bool parts_add_up(way by) {
    std::int64_t const room = static_cast<std::int64_t>(c.size());
    std::vector<T> partial(c.size() * 3, T(0));
    run_device_kernel(by, 3, partial.data(), room);
    std::int64_t index[max_loops] = {};
    bool right = true;
    for_each_index(p, p.in_c, index, [&] {
      std::size_t const i = static_cast<std::size_t>(at(p, p.in_c, p.c, index));
      right = right && partial[i] + partial[i + c.size()] + partial[i + 2 * c.size()] == expected[i];
    });
    return right;
  }
};

contraction shape_of(std::vector<std::int64_t> const& extents, std::vector<int> const& classes) {
  contraction p;
  p.labels = static_cast<int>(extents.size());
  for (std::size_t l = 0; l < extents.size(); ++l) {
    p.extent[l] = extents[l];
    // bit 0: in a, bit 1: in b, bit 2: in c
    p.in_a[l] = (classes[l] & 1) != 0;
    p.in_b[l] = (classes[l] & 2) != 0;
    p.in_c[l] = (classes[l] & 4) != 0;
  }
  return p;
}

constexpr int batch = 7, only_a = 1, only_b = 2, summed = 3, left = 5, right = 6;

}  // namespace

TEST_CASE_TEMPLATE("every combination of label classes, permuted and padded", T, float, double, Kokkos::complex<float>, Kokkos::complex<double>,
                   std::int32_t, std::int64_t) {
  std::mt19937 random(1);
  int const classes[] = {batch, left, right, summed, only_a, only_b};
  for (int set = 0; set < 64; ++set)
    for (int repeat = 0; repeat < 4; ++repeat) {
      std::vector<std::int64_t> extents;
      std::vector<int> kinds;
      for (int k = 0; k < 6; ++k)
        if (set >> k & 1)
          for (int copies = 1 + static_cast<int>(random() % 2); copies > 0; --copies) {
            kinds.push_back(classes[k]);
            extents.push_back(1 + static_cast<std::int64_t>(random() % 4));
          }
      std::shuffle(kinds.begin(), kinds.end(), random);
      blocks<T> blocks(random, shape_of(extents, kinds), repeat % 2 == 1);
      CAPTURE(set);
      CAPTURE(repeat);
      REQUIRE(blocks.contracts_right());
    }
}

TEST_CASE_TEMPLATE("matrices larger than any tile, in every layout", T, float, double, Kokkos::complex<float>, Kokkos::complex<double>, std::int32_t,
                   std::int64_t) {
  std::mt19937 random(2);
  for (int repeat = 0; repeat < 24; ++repeat) {
    auto const extent = [&] { return 1 + static_cast<std::int64_t>(random() % 70); };
    blocks<T> blocks(random, shape_of({extent(), extent(), 1 + extent() / 2, 3}, {left, right, summed, repeat % 3 ? summed : batch}), repeat % 2 == 1);
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

contraction_plan plan_for(std::vector<std::int64_t> const& extents, std::vector<int> const& classes, std::vector<std::int64_t> const& a,
                          std::vector<std::int64_t> const& b, std::vector<std::int64_t> const& c) {
  contraction p = shape_of(extents, classes);
  for (std::size_t l = 0; l < extents.size(); ++l) {
    p.a[l] = a[l];
    p.b[l] = b[l];
    p.c[l] = c[l];
  }
  return plan_contraction<double>(p);
}

bool packs_nothing(contraction_plan const& plan) { return !plan.copies() && !plan.pack[0] && !plan.pack[1] && !plan.pack[2]; }

}  // namespace

TEST_CASE("plans: what lies well is multiplied where it lies") {
  // C[i,k] = A[i,j] B[j,k], all by rows
  contraction_plan plan = plan_for({64, 32, 48}, {left, summed, right}, {32, 1, 0}, {0, 48, 1}, {48, 0, 1});
  CHECK(plan.library);
  CHECK(packs_nothing(plan));
  CHECK(plan.m.extent * plan.n.extent * plan.k.extent == 64 * 32 * 48);

  // C[i,k] = A[j,i] B[k,j], C by columns
  plan = plan_for({64, 32, 48}, {left, summed, right}, {1, 64, 0}, {0, 1, 32}, {1, 0, 64});
  CHECK(plan.library);
  CHECK(packs_nothing(plan));

  // a gathered k: (device, local) lie apart in A and together in B, so one product a device
  plan = plan_for({64, 4, 32, 48}, {left, summed, summed, right}, {32, 64 * 32, 1, 0}, {0, 32 * 48, 48, 1}, {48, 0, 0, 1});
  CHECK(plan.library);
  CHECK(packs_nothing(plan));
  CHECK(plan.k.panel == 32);

  // attention scores, S[b,h,q,k] = Q[b,q,h,d] K[b,k,h,d]: a product per b and h
  plan = plan_for({2, 4, 64, 64, 32}, {batch, batch, left, right, summed}, {64 * 128, 32, 128, 0, 1}, {64 * 128, 32, 0, 128, 1},
                  {4 * 4096, 4096, 64, 1, 0});
  CHECK(plan.library);
  CHECK(!plan.copies());  // panels may be turned: both lie along d, which the library does less well
  CHECK(plan.tasks() == 8);
}

TEST_CASE("plans: packing where the library needs it, our kernel where there is nothing to gain") {
  // A has a stride of 2 everywhere: no matrix of the library's. B and C are.
  contraction_plan plan = plan_for({256, 256, 256}, {left, summed, right}, {512, 2, 0}, {0, 256, 1}, {256, 0, 1});
  CHECK((!plan.library || plan.pack[0] || plan.copied[0]));
  CHECK((!plan.pack[1] && !plan.pack[2] && !plan.copied[1] && !plan.copied[2]));

  // an int too short for the leading dimensions, or for what a panel would have
  std::int64_t const before = cblas_limit;
  cblas_limit = 255;
  plan = plan_for({256, 256, 256}, {left, summed, right}, {256, 1, 0}, {0, 256, 1}, {256, 0, 1});
  CHECK((!plan.library || (plan.pack[0] && plan.pack[1] && plan.pack[2] && plan.m.panel <= 255)));
  cblas_limit = 7;
  CHECK(!plan_for({256, 256, 256}, {left, summed, right}, {256, 1, 0}, {0, 256, 1}, {256, 0, 1}).library);
  cblas_limit = before;

  // products of some size that lie well, turned or not, are the library's
  for (std::int64_t n : {128, 256, 1000})
    for (bool const turned : {false, true}) {
      plan = plan_for({n, n, n}, {left, summed, right}, {turned ? 1 : n, turned ? n : 1, 0}, {0, n, 1}, {n, 0, 1});
      CHECK((plan.library && packs_nothing(plan)));
    }

  // an outer product and a product of vectors
  CHECK(!plan_for({500, 400}, {left, right}, {1, 0}, {0, 1}, {400, 1}).library);
  CHECK(!plan_for({500}, {summed}, {1}, {1}, {0}).library);
}

TEST_CASE_TEMPLATE("plans: whatever is gathered or copied, in panels of any size", T, float, Kokkos::complex<double>) {
  std::mt19937 random(8);
  int found[27] = {};
  for (int repeat = 0; repeat < 60; ++repeat) {
    auto const extent = [&] { return 1 + static_cast<std::int64_t>(random() % 7); };
    blocks<T> blocks(random, shape_of({extent(), extent(), extent(), extent(), extent(), extent(), 1 + extent() / 3},
                                      {left, left, right, right, summed, summed, repeat % 2 ? batch : left}), repeat % 3 == 0);
    for (int moved = 0; moved < 27; ++moved)  // each operand: where it lies, gathered, copied
      for (std::int64_t bytes : {64, 1000, 1 << 20}) {
        int copied = 0, packed = 0;
        for (int o = 0, rest = moved; o < 3; ++o, rest /= 3) (rest % 3 == 2 ? copied : packed) |= (rest % 3 != 0) << o;
        contraction_plan plan;
        detail::try_copying<T>(plan, blocks.p, copied, packed, bytes);
        if (!plan.library) continue;
        ++found[moved];
        REQUIRE(blocks.follows(plan));
      }
  }
  for (int count : found) CHECK(count > 20);
}

#endif
