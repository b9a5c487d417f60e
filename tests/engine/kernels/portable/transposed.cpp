// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// Operands that are transposed to one another, against plain loops: matrices transposed in registers, maps, copies and
/// sums of products whose tiles are transposed; sizes that are no multiple of a square or a tile, every size of
/// element, blocks that begin anywhere in a cache line, gaps between rows.
// ranks: 1
// timeout: 300
// labels: essential
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/engine/kernels/contraction.hpp>
#include <ostraka/engine/kernels/portable/transpose_matrix.hpp>
#include <ostraka/types/values/half.hpp>

#include "support/instances.hpp"

namespace {

using namespace ostraka::engine;
using exec_space = Kokkos::DefaultHostExecutionSpace;

template <class T>
T number(std::int64_t i) {
  return T(static_cast<float>(i % 7 - 3));
}

template <class T>
std::vector<T> numbers(std::int64_t count, std::int64_t factor) {
  std::vector<T> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(number<T>(i * factor % 1009));
  return all;
}

template <class T>
bool same(std::vector<T> const& x, std::vector<T> const& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!(x[i] == y[i])) return false;
  return x.size() == y.size();
}

template <class T>
bool turns_right(std::int64_t height, std::int64_t width, std::int64_t shift) {
  std::int64_t const from_step = width + 3, to_step = height + 5;
  std::vector<T> const from = numbers<T>(height * from_step + shift, 5);
  std::vector<T> to(static_cast<std::size_t>(width * to_step + shift), number<T>(6)), expected = to;
  for (std::int64_t i = 0; i < height; ++i)
    for (std::int64_t j = 0; j < width; ++j)
      expected[static_cast<std::size_t>(shift + j * to_step + i)] =
          from[static_cast<std::size_t>(shift + i * from_step + j)];
  detail::transpose(to.data() + shift, to_step, from.data() + shift, from_step, height, width);
  return same(to, expected);
}

/// Strides of three loops whose order in memory is `order` ("bca": a is contiguous), with rows `gap` longer than
/// needed.
std::array<std::int64_t, 3> lying(char const* order, std::array<std::int64_t, 3> const& extent, std::int64_t gap) {
  std::array<std::int64_t, 3> stride{};
  std::int64_t step = 1;
  for (int d = 2; d >= 0; --d) {
    std::size_t const l = static_cast<std::size_t>(order[d] - 'a');
    stride[l] = step;
    step *= extent[l] + (d == 2 ? gap : 0);
  }
  return stride;
}

std::int64_t room_of(std::array<std::int64_t, 3> const& extent, std::array<std::int64_t, 3> const& stride) {
  return 1 + (extent[0] - 1) * stride[0] + (extent[1] - 1) * stride[1] + (extent[2] - 1) * stride[2];
}

struct twice_and_other {
  template <class T>
  T operator()(T const& x, T const& y) const {
    return x + x + y;
  }
};

/// result[a, b, c] = 2 x[a, b, c] + y[a, b, c], and result = x, each in its own order.
template <class T>
bool maps_right(std::array<std::int64_t, 3> const& extent, char const* const (&orders)[3], std::int64_t gap,
                std::int64_t shift) {
  std::array<std::int64_t, 3> stride[3];
  for (std::size_t o = 0; o < 3; ++o) stride[o] = lying(orders[o], extent, o == 0 ? gap : 0);
  std::vector<T> const x = numbers<T>(room_of(extent, stride[1]) + shift, 3),
                       y = numbers<T>(room_of(extent, stride[2]), 11);
  std::vector<T> result(static_cast<std::size_t>(room_of(extent, stride[0]) + shift), number<T>(5)), copied = result;
  std::vector<T> expected = result, expected_copy = result;
  loop_nest<3> loops;
  strided to, from;
  for (std::size_t l = 0; l < 3; ++l) {
    loops.add(extent[l], stride[0][l], stride[1][l], stride[2][l]);
    to.add(extent[l], stride[0][l]);
    from.add(extent[l], stride[1][l]);
  }
  for (std::int64_t a = 0; a < extent[0]; ++a)
    for (std::int64_t b = 0; b < extent[1]; ++b)
      for (std::int64_t c = 0; c < extent[2]; ++c) {
        auto const at = [&](std::size_t o, std::int64_t begin) {
          return static_cast<std::size_t>(begin + a * stride[o][0] + b * stride[o][1] + c * stride[o][2]);
        };
        expected[at(0, shift)] = twice_and_other()(x[at(1, shift)], y[at(2, 0)]);
        expected_copy[at(0, shift)] = x[at(1, shift)];
      }
  map_elements(exec_space(), loops, twice_and_other(), result.data() + shift, x.data() + shift, y.data());
  copy(exec_space(), copied.data() + shift, to, x.data() + shift, from);
  exec_space().fence();
  return same(result, expected) && same(copied, expected_copy);
}

/// C = alpha (sum of A[a, b, c] B) + beta C, where A and B have their own orders, B has the labels that `of_b` names,
/// and C those that `of_c` names.
template <class T>
bool sums_right(std::array<std::int64_t, 3> const& extent, std::string const& of_b, std::string const& of_c,
                std::int64_t shift, update<T> const& how) {
  contraction p;
  p.labels = 3;
  std::int64_t steps[3] = {1, 1, 1};
  auto const lie = [&](std::string const& labels, bool(&in)[max_loops], std::int64_t(&stride)[max_loops],
                       std::int64_t& step) {
    for (std::size_t i = labels.size(); i-- > 0;) {
      int const l = labels[i] - 'a';
      in[l] = true;
      stride[l] = step;
      step *= extent[static_cast<std::size_t>(l)];
    }
  };
  lie("abc", p.in_a, p.a, steps[0]);
  lie(of_b, p.in_b, p.b, steps[1]);
  lie(of_c, p.in_c, p.c, steps[2]);
  for (int l = 0; l < 3; ++l) p.extent[l] = extent[static_cast<std::size_t>(l)];
  std::vector<T> const x = numbers<T>(steps[0] + shift, 3), y = numbers<T>(steps[1] + shift, 11);
  std::vector<T> result = numbers<T>(steps[2], 5), sum(result.size(), T(0));
  for (std::int64_t a = 0; a < extent[0]; ++a)
    for (std::int64_t b = 0; b < extent[1]; ++b)
      for (std::int64_t c = 0; c < extent[2]; ++c) {
        auto const at = [&](std::int64_t const* stride) { return a * stride[0] + b * stride[1] + c * stride[2]; };
        sum[static_cast<std::size_t>(at(p.c))] +=
            x[static_cast<std::size_t>(shift + at(p.a))] * y[static_cast<std::size_t>(shift + at(p.b))];
      }
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = how.alpha * sum[i] + how.beta * result[i];
  contract(exec_space(), p, x.data() + shift, y.data() + shift, result.data(), how);
  exec_space().fence();
  return same(result, sum);
}

}  // namespace

TEST_CASE_TEMPLATE("a matrix of any size is transposed and nothing beside it", T, double, float, std::int8_t,
                   Kokkos::complex<float>, Kokkos::complex<double>, ostraka::bfloat16) {
  for (std::int64_t const height : {1, 3, 4, 7, 8, 9, 16, 17, 33, 70})
    for (std::int64_t const width : {1, 2, 5, 8, 9, 16, 20, 33})
      for (std::int64_t const shift : {0, 1})
        CHECK_MESSAGE(turns_right<T>(height, width, shift), height << " x " << width);
}

TEST_CASE_TEMPLATE("maps and copies of blocks larger than the caches that lie differently", T, double, float,
                   Kokkos::complex<double>, ostraka::bfloat16) {
  std::int64_t const wide = 32 / static_cast<std::int64_t>(sizeof(T));
  for (std::array<std::int64_t, 3> const& extent : std::vector<std::array<std::int64_t, 3>>{{23, 161, 37 * wide},
                                                                                            {133, 64, 18 * wide},
                                                                                            {3, 700 * wide, 65},
                                                                                            {2051, 20 * wide, 4},
                                                                                            {1, 1024, 130 * wide}})
    for (std::int64_t const shift : {0, 3}) {
      CHECK(maps_right<T>(extent, {"abc", "abc", "cab"}, 0, shift));
      CHECK(maps_right<T>(extent, {"abc", "acb", "bca"}, 0, shift));
      CHECK(maps_right<T>(extent, {"bac", "cba", "abc"}, shift, shift));
      CHECK(maps_right<T>(extent, {"cab", "abc", "cab"}, 1, shift));
    }
}

TEST_CASE("a result that is an operand, with another transposed") {
  std::int64_t const n = 811, m = 1003;
  std::vector<double> c = numbers<double>(n * m, 3), expected = c;
  std::vector<double> const x = numbers<double>(n * m, 5);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < m; ++j) {
      double& here = expected[static_cast<std::size_t>(i * m + j)];
      here = 2 * x[static_cast<std::size_t>(j * n + i)] - here;
    }
  copy(exec_space(), c.data(), strided().add(n, m).add(m, 1), x.data(), strided().add(n, 1).add(m, n),
       update<double>{2, -1});
  exec_space().fence();
  CHECK(same(c, expected));
}

TEST_CASE_TEMPLATE("sums of products of blocks that lie transposed", T, double, float, std::int32_t,
                   Kokkos::complex<double>) {
  for (std::array<std::int64_t, 3> const& extent : std::vector<std::array<std::int64_t, 3>>{
           {9, 37, 70}, {131, 8, 65}, {1, 200, 129}, {1, 530, 300}, {40, 33, 8}, {3, 5, 7}})
    for (char const* of_b : {"cab", "cba", "bca", "bac", "ca", "cb"})
      for (char const* of_c : {"", "a", "b", "c", "ab", "ba", "cb"}) {
        CAPTURE(of_b);
        CAPTURE(of_c);
        CHECK(sums_right<T>(extent, of_b, of_c, 0, {}));
        CHECK(sums_right<T>(extent, of_b, of_c, 1, {T(2), T(-1)}));
      }
  for (std::int64_t const across :
       {8, 15, 17, 530})  // both summed: every number of rows and columns left beyond the squares, and more than a tile
    for (std::int64_t const along : {8, 9, 16, 31, 100, 137}) {
      CHECK_MESSAGE(sums_right<T>({1, across, along}, "cab", "", 1, {}), across << " x " << along);
      CHECK_MESSAGE(sums_right<T>({across, 3, along}, "ca", "b", 0, {}), across << " x 3 x " << along);
    }
  CHECK(sums_right<T>({64, 90, 100}, "cab", "", 1, {T(2), T(3)}));
  CHECK(sums_right<T>({2, 90, 1000}, "cba", "a", 0, {}));
}

TEST_CASE_TEMPLATE("products without a sum of blocks that lie transposed", T, double, float, std::int32_t) {
  for (std::array<std::int64_t, 3> const& extent : std::vector<std::array<std::int64_t, 3>>{
           {1, 8, 8}, {1, 9, 40}, {5, 37, 70}, {2, 257, 33}, {1, 67, 16}, {3, 550, 656}, {1, 1111, 967}, {9, 259, 464}})
    for (char const* of_b : {"cab", "bca", "ca"})
      for (char const* of_c : {"abc", "bac"}) {
        CAPTURE(extent[1]);
        CAPTURE(of_b);
        CAPTURE(of_c);
        CHECK(sums_right<T>(extent, of_b, of_c, 0, {}));
        CHECK(sums_right<T>(extent, of_b, of_c, 1, {T(2), T(0)}));
        CHECK(sums_right<T>(extent, of_b, of_c, 1, {T(2), T(-1)}));
      }
}
