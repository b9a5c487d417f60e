// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The blocks of a local contraction in random layouts, and its result by plain loops over all labels; `narrow_blocks`
/// of 16-bit elements, whose sums are rounded.

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>

namespace ostraka::testing {

using namespace ostraka::engine;
using exec_space = Kokkos::DefaultHostExecutionSpace;

template <class T>
T small_value(std::mt19937& random) {
  // Integers of either sign: all sums of tests are exact in every element type, so the comparison is for equality.
  return T(static_cast<int>(random() % 15) - 7);
}
template <>
inline Kokkos::complex<float> small_value(std::mt19937& random) {
  return {small_value<float>(random), small_value<float>(random)};
}
template <>
inline Kokkos::complex<double> small_value(std::mt19937& random) {
  return {small_value<double>(random), small_value<double>(random)};
}

/// Strides for the labels present, in a random order of dimensions, with random gaps; returns the elements needed.
inline std::int64_t random_layout(std::mt19937& random, contraction const& p, bool const* present, std::int64_t* stride,
                                  bool gaps) {
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

inline std::int64_t at(contraction const& p, bool const* present, std::int64_t const* stride,
                       std::int64_t const* index) {
  std::int64_t offset = 0;
  for (int l = 0; l < p.labels; ++l)
    if (present[l]) offset += index[l] * stride[l];
  return offset;
}

/// A value that must not be read.
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

/// The chosen algorithm; the choice among the kernels that every program with products has; and the kernels that
/// accelerators run: outputs in a plain loop, tiles by teams of one thread.
enum class way { chosen, of_every_program, elements, teams };

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
          a[static_cast<std::size_t>(at(p, p.in_a, p.a, index))] *
          b[static_cast<std::size_t>(at(p, p.in_b, p.b, index))];
    });
  }

  template <class F>
  void for_each_result(F const& f) const {
    std::int64_t index[max_loops] = {};
    for_each_index(p, p.in_c, index, [&] { f(static_cast<std::size_t>(at(p, p.in_c, p.c, index))); });
  }

  /// C <- alpha A B + beta C, where C holds numbers, or values that must not be read.
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
    } else if (by == way::of_every_program) {
      engine::detail::contract_portable(exec_space(), p, a.data(), b.data(), got.data(), how,
                                        product_kernels<exec_space, T>());
      Kokkos::fence();
    } else {
      run_device_kernel(by, 1, got.data(), 0, how);
    }
    return got == wanted;
  }

#if OSTRAKA_ENABLE_CBLAS
  /// C <- alpha A B + beta C by a given plan.
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
    engine::detail::follow_plan<cblas>(exec_space(), p, plan, a.data(), b.data(), got.data(), how);
    return got == wanted;
  }
#endif

  /// Operands that are multiplied by zero are not read either.
  bool reads_no_more_than_it_has_to() {
    std::fill(a.begin(), a.end(), unreadable<T>());
    std::fill(expected.begin(), expected.end(), T(77));
    for_each_result([&](std::size_t i) { expected[i] = T(0); });
    return updates_right({T(0), T(0)}, way::chosen) && updates_right({T(0), T(3)}, way::chosen);
  }

  /// Three of the updates, different ones each time.
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
      if (p.extent[l] == 0 || class_of(p, l) == label_class::only_a || class_of(p, l) == label_class::only_b)
        return true;
    if (!some_updates_right(way::of_every_program)) return false;
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
    engine::detail::product_operands<T> const in{a.data(), b.data(), into, parts, part_step, loops.k, how};
    if (by == way::teams) {
      engine::detail::teams_of<exec_space, T, 1, 8>(loops, in).run(exec_space());
      Kokkos::fence();
      return;
    }
    engine::detail::contract_elements<T> const kernel{in, engine::detail::output_loops(loops)};
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

inline contraction shape_of(std::vector<std::int64_t> const& extents, std::vector<int> const& classes) {
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

inline constexpr int batch = 7, only_a = 1, only_b = 2, summed = 3, left = 5, right = 6;

/// Calls f(shape, repeat) `repeats` times for every set of these classes: 1 to `copies` labels of each class of the
/// set, in random order, with extents from 1 to 4.
template <class F>
void for_each_set_of_classes(std::mt19937& random, std::vector<int> const& classes, int copies, int repeats,
                             F const& f) {
  for (unsigned set = 0; set < 1U << classes.size(); ++set)
    for (int repeat = 0; repeat < repeats; ++repeat) {
      std::vector<std::int64_t> extents;
      std::vector<int> kinds;
      for (std::size_t k = 0; k < classes.size(); ++k)
        if ((set >> k & 1U) != 0)
          for (int n = 1 + static_cast<int>(random() % static_cast<unsigned>(copies)); n > 0; --n) {
            kinds.push_back(classes[k]);
            extents.push_back(1 + static_cast<std::int64_t>(random() % 4));
          }
      std::shuffle(kinds.begin(), kinds.end(), random);
      CAPTURE(set);
      CAPTURE(repeat);
      f(shape_of(extents, kinds), repeat);
    }
}

/// Blocks of 16-bit elements in random layouts, with NaN in their gaps. value(random) makes an element.
template <class T>
struct narrow_blocks {
  contraction p;
  std::vector<T> a, b, c;

  template <class Value>
  narrow_blocks(std::mt19937& random, contraction const& shape, bool gaps, Value const& value) : p(shape) {
    a = block(random, p.in_a, p.a, gaps, value);
    b = block(random, p.in_b, p.b, gaps, value);
    c = block(random, p.in_c, p.c, gaps, value);
  }

  template <class Block>
  auto& element(Block& x, bool const* present, std::int64_t const* stride, std::int64_t const* index) const {
    return x[static_cast<std::size_t>(at(p, present, stride, index))];
  }

  /// A sum of products in doubles, and that of their sizes.
  struct exact_sum {
    bool is_element = false;  ///< of C, not between two elements
    double value = 0, size = 0;
  };

  /// True if C <- alpha A B + beta C gives elements for which is_right(element, exact_sum), and writes nothing between
  /// them. Without beta, C holds NaN before.
  template <class F>
  bool computes(float alpha, float beta, F const& is_right) const {
    std::vector<exact_sum> exact(c.size());
    std::vector<T> got(c);
    std::int64_t index[max_loops] = {};
    for_each_index(p, p.in_c, index, [&] {
      T& x = element(got, p.in_c, p.c, index);
      if (beta == 0) x = T(std::nanf(""));
      double const before = beta == 0 ? 0.0 : double(beta) * double(float(x));
      element(exact, p.in_c, p.c, index) = {true, before, std::abs(before)};
    });
    bool all[max_loops];
    std::fill(all, all + max_loops, true);
    for_each_index(p, all, index, [&] {
      double const x = double(alpha) *
                       (double(float(element(a, p.in_a, p.a, index))) * double(float(element(b, p.in_b, p.b, index))));
      exact_sum& sum = element(exact, p.in_c, p.c, index);
      sum.value += x;
      sum.size += std::abs(x);
    });
    contract(exec_space(), p, a.data(), b.data(), got.data(), update<T>{alpha, beta});
    Kokkos::fence();
    for (std::size_t i = 0; i < got.size(); ++i)
      if (exact[i].is_element ? !is_right(float(got[i]), exact[i]) : !std::isnan(float(got[i]))) return false;
    return true;
  }

 private:
  template <class Value>
  std::vector<T> block(std::mt19937& random, bool const* present, std::int64_t* stride, bool gaps,
                       Value const& value) const {
    auto const size = static_cast<std::size_t>(random_layout(random, p, present, stride, gaps));
    std::vector<T> x(size, T(std::nanf("")));
    std::int64_t index[max_loops] = {};
    for_each_index(p, present, index, [&] { element(x, present, stride, index) = T(value(random)); });
    return x;
  }
};

}  // namespace ostraka::testing
