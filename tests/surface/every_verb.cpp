// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Every verb once, in every element type, against plain loops over whole numbers: the first program that a new
/// compiler or backend has to pass. Its functions are named functors, as GPUs need them (docs/design/gpus.md), and the
/// host reads copies of blocks, so that it also works if blocks lie on a GPU.
// ranks: 1 2 4
// gpu: 4

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

OSTRAKA_AXIS(M);

namespace {

constexpr std::int64_t rows = 7, inner = 5, columns = 3;

KOKKOS_INLINE_FUNCTION std::int64_t left(std::int64_t i, std::int64_t j) { return (5 * i + 3 * j) % 7 - 3; }
KOKKOS_INLINE_FUNCTION std::int64_t right(std::int64_t j, std::int64_t k) { return (2 * j + k) % 5 - 2; }
std::int64_t product(std::int64_t i, std::int64_t k) {
  std::int64_t sum = 0;
  for (std::int64_t j = 0; j < inner; ++j) sum += left(i, j) * right(j, k);
  return sum;
}

template <class T>
KOKKOS_INLINE_FUNCTION T number(std::int64_t n) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(n);  // the low bits
  else
    return T(static_cast<float>(n));
}

template <class T>
struct left_element {
  KOKKOS_FUNCTION T operator()(std::int64_t i, std::int64_t j) const { return number<T>(left(i, j)); }
};
template <class T>
struct right_element {
  KOKKOS_FUNCTION T operator()(std::int64_t j, std::int64_t k) const { return number<T>(right(j, k)); }
};
template <class T>
struct twice_plus {
  KOKKOS_FUNCTION T operator()(T const& a, T const& b) const { return T(a + a + b); }
};

// The number of elements on this device that differ from `expected` at their global indices.
template <class Tensor, class Expected>
std::int64_t wrong(Tensor const& a, Expected const& expected) {
  using value = typename Tensor::value_type;
  auto const block = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a.local());
  std::int64_t count = 0;
  if constexpr (Tensor::rank == 0) {
    count = block() == number<value>(expected()) ? 0 : 1;
  } else if constexpr (Tensor::rank == 1) {
    for (std::size_t i = 0; i < block.extent(0); ++i)
      count += block(i) == number<value>(expected(a.range(0).begin + static_cast<std::int64_t>(i))) ? 0 : 1;
  } else {
    for (std::size_t i = 0; i < block.extent(0); ++i)
      for (std::size_t j = 0; j < block.extent(1); ++j)
        count += block(i, j) == number<value>(expected(a.range(0).begin + static_cast<std::int64_t>(i),
                                                       a.range(1).begin + static_cast<std::int64_t>(j)))
                     ? 0
                     : 1;
  }
  return count;
}

auto constant(std::int64_t n) {
  return [n](auto...) { return n; };
}

template <class T>
constexpr bool has_order = !std::is_same_v<T, Kokkos::complex<float>> && !std::is_same_v<T, Kokkos::complex<double>>;

auto test_mesh() {
  int const y = t::ranks() % 2 == 0 ? 2 : 1;
  return os::make_mesh(X = t::ranks() / y, Y = y);
}

}  // namespace

#define ELEMENT_TYPES \
  float, double, Kokkos::complex<float>, Kokkos::complex<double>, std::int8_t, std::int16_t, std::int32_t, \
      std::int64_t, os::float16, os::bfloat16

TEST_CASE_TEMPLATE("making", T, ELEMENT_TYPES) {
  auto const mesh = test_mesh();
  auto const sizes = os::sizes(I = rows, J = inner);
  auto const a = os::generate<T, I/X, J>(mesh, sizes, left_element<T>{});
  CHECK(wrong(a, left) == 0);
  CHECK(wrong(os::copy(a), left) == 0);
  CHECK(wrong(os::zeros<T, I, J/Y>(mesh, sizes), constant(0)) == 0);
  CHECK(wrong(os::zeros_like(a), constant(0)) == 0);
  CHECK(wrong(os::ones<T, I/X/Y, J>(mesh, sizes), constant(1)) == 0);
  CHECK(wrong(os::full<T, J/X>(mesh, J = inner, 3), constant(3)) == 0);

  auto const adopted = os::from_local<T, I/X, J>(mesh, sizes, a.local());
  CHECK(adopted.local().data() == a.local().data());

  std::vector<T> whole;
  for (std::int64_t i = 0; i < rows * inner; ++i) whole.push_back(number<T>(left(i / inner, i % inner)));
  CHECK(wrong(os::scatter_from_root<T, I/Y, J/X>(mesh, sizes, whole), left) == 0);
  auto const gathered = os::gather_to_root(a);
  if (gathered)
    for (std::int64_t i = 0; i < rows * inner; ++i)
      CHECK((*gathered)(static_cast<std::size_t>(i / inner), static_cast<std::size_t>(i % inner)) ==
            whole[std::size_t(i)]);

  // The same numbers on every mesh: the block of a divided tensor is a part of the whole one.
  auto const all = os::random<T, I, J>(mesh, sizes, os::seed(2));
  auto const some = os::random<T, I/X, J/Y>(mesh, sizes, os::seed(2));
  os::check_replicas(all);
  auto const all_here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), all.local());
  auto const some_here = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), some.local());
  std::int64_t different = 0;
  for (std::size_t i = 0; i < some_here.extent(0); ++i)
    for (std::size_t j = 0; j < some_here.extent(1); ++j)
      different += some_here(i, j) == all_here(i + static_cast<std::size_t>(some.range(0).begin),
                                               j + static_cast<std::size_t>(some.range(1).begin))
                       ? 0
                       : 1;
  CHECK(different == 0);
}

TEST_CASE_TEMPLATE("products", T, ELEMENT_TYPES) {
  auto const mesh = test_mesh();
  auto const sizes = os::sizes(I = rows, J = inner, K = columns);
  auto const a = os::generate<T, I/X, J>(mesh, sizes, left_element<T>{});
  auto const b = os::generate<T, J, K>(mesh, sizes, right_element<T>{});
  auto const b_split = os::slice<J/Y>(b);
  CHECK(wrong(os::einsum<I/X, K>(a, b), product) == 0);
  CHECK(wrong(os::einsum<I/X, K/Y>(a, b_split), product) == 0);
  CHECK(wrong(os::einsum<I, K>(a, b_split), product) == 0);
  CHECK(wrong(os::contract<J>(a, b), product) == 0);
  CHECK(wrong(os::all_reduce<Y>(os::einsum<I/X, K, os::partial(Y)>(a, b_split)), product) == 0);

  auto const c = os::ones<T, I/X, K>(mesh, sizes);
  os::einsum_into(c, a, b, os::alpha = 2, os::beta = 3);
  CHECK(wrong(c, [](std::int64_t i, std::int64_t k) { return 2 * product(i, k) + 3; }) == 0);

  CHECK(wrong(os::einsum<I/X>(a, b, os::ones<T, K>(mesh, sizes)), [](std::int64_t i) {
          std::int64_t sum = 0;
          for (std::int64_t k = 0; k < columns; ++k) sum += product(i, k);
          return sum;
        }) == 0);
  auto const square = os::generate<T, I/X, M>(mesh, I = rows, M = rows, left_element<T>{});
  CHECK(wrong(os::einsum<I/X>(os::relabel<I, I>(square)), [](std::int64_t i) { return left(i, i); }) == 0);
}

TEST_CASE_TEMPLATE("element by element", T, ELEMENT_TYPES) {
  auto const mesh = test_mesh();
  auto const sizes = os::sizes(I = rows, J = inner);
  auto const a = os::generate<T, I/X, J>(mesh, sizes, left_element<T>{});
  auto const row = os::full<T, J>(mesh, sizes, 2);
  CHECK(wrong(os::map(twice_plus<T>{}, a, row), [](std::int64_t i, std::int64_t j) { return 2 * left(i, j) + 2; }) ==
        0);
  auto const c = os::copy(a);
  os::map_into(c, twice_plus<T>{}, c, a);
  CHECK(wrong(c, [](std::int64_t i, std::int64_t j) { return 3 * left(i, j); }) == 0);
  CHECK(wrong(os::add(a, row), [](std::int64_t i, std::int64_t j) { return left(i, j) + 2; }) == 0);
  CHECK(wrong(os::subtract(a, row), [](std::int64_t i, std::int64_t j) { return left(i, j) - 2; }) == 0);
  CHECK(wrong(os::negate(a), [](std::int64_t i, std::int64_t j) { return -left(i, j); }) == 0);
  CHECK(wrong(os::scale(3, a), [](std::int64_t i, std::int64_t j) { return 3 * left(i, j); }) == 0);
  CHECK(wrong(os::multiply(a, row), [](std::int64_t i, std::int64_t j) { return 2 * left(i, j); }) == 0);
  CHECK(wrong(os::divide(os::multiply(a, row), row), left) == 0);
  if constexpr (has_order<T>) {
    CHECK(wrong(os::maximum(a, row),
                [](std::int64_t i, std::int64_t j) { return std::max<std::int64_t>(left(i, j), 2); }) == 0);
    CHECK(wrong(os::minimum(a, row),
                [](std::int64_t i, std::int64_t j) { return std::min<std::int64_t>(left(i, j), 2); }) == 0);
    CHECK(wrong(os::cast<double>(a), left) == 0);
    CHECK(wrong(os::cast<T>(os::cast<float>(a)), left) == 0);
  }
  CHECK(wrong(os::cast<Kokkos::complex<double>>(a), left) == 0);
}

TEST_CASE_TEMPLATE("reductions", T, ELEMENT_TYPES) {
  auto const mesh = test_mesh();
  auto const sizes = os::sizes(I = rows, J = inner);
  auto const a = os::generate<T, I/X, J>(mesh, sizes, left_element<T>{});
  auto const over_j = [](auto start, auto const& combine) {
    return [=](std::int64_t i) {
      std::int64_t r = start;
      for (std::int64_t j = 0; j < inner; ++j) r = combine(r, left(i, j));
      return r;
    };
  };
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < rows * inner; ++i) sum += left(i / inner, i % inner);
  CHECK(wrong(os::sum<>(a), constant(sum)) == 0);
  CHECK(os::value(os::sum<>(a)) == number<T>(sum));
  CHECK(wrong(os::prod<I/X>(a), over_j(1, [](auto x, auto y) { return x * y; })) == 0);
  if constexpr (has_order<T>) {
    CHECK(wrong(os::max<I/X>(a), over_j(-9, [](auto x, auto y) { return std::max(x, y); })) == 0);
    CHECK(wrong(os::min<I>(a), over_j(9, [](auto x, auto y) { return std::min(x, y); })) == 0);
  }
  if constexpr (std::is_integral_v<T>) {
    CHECK(wrong(os::bit_and<I/X>(a), over_j(-1, [](auto x, auto y) { return x & y; })) == 0);
    CHECK(wrong(os::bit_or<I/X>(a), over_j(0, [](auto x, auto y) { return x | y; })) == 0);
  } else {
    CHECK(wrong(os::mean<I/X>(os::full<T, I/X, J>(mesh, sizes, 3)), constant(3)) == 0);
  }
}

TEST_CASE_TEMPLATE("moves", T, ELEMENT_TYPES) {
  auto const mesh = test_mesh();
  auto const a = os::generate<T, I/X, J>(mesh, I = rows, J = inner, left_element<T>{});
  CHECK(wrong(os::reshard<I/Y, J/X>(a), left) == 0);
  auto const into = os::zeros<T, I, J/X>(mesh, I = rows, J = inner);
  os::reshard_into(into, a);
  CHECK(wrong(into, left) == 0);
  CHECK(wrong(os::all_gather<X>(a), left) == 0);
  CHECK(wrong(os::all_to_all<J/X>(a), left) == 0);
  CHECK(wrong(os::slice<J/Y>(a), left) == 0);
  CHECK(wrong(os::rename<I, M>(a), left) == 0);
  auto const column = os::ones<T, J>(mesh, J = inner);
  auto const parts = os::einsum<I/X, os::partial(Y)>(a, os::slice<J/Y>(column));
  auto const sum_over_j = [](std::int64_t i) {
    std::int64_t sum = 0;
    for (std::int64_t j = 0; j < inner; ++j) sum += left(i, j);
    return sum;
  };
  CHECK(wrong(os::all_reduce<Y>(parts), sum_over_j) == 0);
  CHECK(wrong(os::reduce_scatter<I/Y>(parts), sum_over_j) == 0);
  CHECK(wrong(os::reshard<I/X, J>(a, test_mesh()), left) == 0);
}

namespace {

KOKKOS_INLINE_FUNCTION bool odd(std::int64_t i, std::int64_t j) { return (i + 3 * j) % 5 % 2 == 1; }
struct is_odd {
  KOKKOS_FUNCTION bool operator()(std::int64_t i, std::int64_t j) const { return odd(i, j); }
};
struct is_even {
  KOKKOS_FUNCTION bool operator()(std::int64_t j) const { return j % 2 == 0; }
};
struct both {
  KOKKOS_FUNCTION bool operator()(bool a, bool b) const { return a && b; }
};
struct above {
  KOKKOS_FUNCTION bool operator()(float a) const { return a > 0; }
};

template <class Tensor, class Expected>
std::int64_t wrong_bools(Tensor const& a, Expected const& expected) {
  return wrong(os::cast<std::int32_t>(a), [&](auto... at) { return expected(at...) ? 1 : 0; });
}

}  // namespace

TEST_CASE("bools: making, moving, reducing") {
  auto const mesh = test_mesh();
  auto const sizes = os::sizes(I = rows, J = inner);
  auto const a = os::generate<bool, I/X, J>(mesh, sizes, is_odd{});
  static_assert(std::is_same_v<decltype(a)::value_type const, bool const>);
  CHECK(wrong_bools(a, odd) == 0);
  CHECK(wrong_bools(os::copy(a), odd) == 0);
  CHECK(wrong_bools(os::full<bool, J/X>(mesh, J = inner, true), constant(1)) == 0);
  CHECK(wrong_bools(os::zeros<bool, I, J/Y>(mesh, sizes), constant(0)) == 0);
  CHECK(wrong_bools(os::reshard<I/Y, J/X>(a), odd) == 0);
  CHECK(wrong_bools(os::all_gather<X>(a), odd) == 0);
  CHECK(wrong_bools(os::all_to_all<J/X>(a), odd) == 0);
  CHECK(wrong_bools(os::slice<J/Y>(a), odd) == 0);
  CHECK(wrong_bools(os::einsum<J, I/X>(a), [](std::int64_t j, std::int64_t i) { return odd(i, j); }) == 0);
  CHECK(wrong_bools(os::reshard<I/X, J>(a, test_mesh()), odd) == 0);

  bool whole[rows * inner];
  for (std::int64_t k = 0; k < rows * inner; ++k) whole[k] = odd(k / inner, k % inner);
  std::span<bool const> const on_root(whole);
  auto const scattered = os::scatter_from_root<bool, I/Y, J/X>(mesh, sizes, on_root);
  CHECK(wrong_bools(scattered, odd) == 0);
  auto const gathered = os::gather_to_root(scattered);
  if (gathered)
    for (std::int64_t k = 0; k < rows * inner; ++k)
      CHECK((*gathered)(static_cast<std::size_t>(k / inner), static_cast<std::size_t>(k % inner)) == whole[k]);

  auto const row = os::generate<bool, J>(mesh, J = inner, is_even{});
  CHECK(wrong_bools(os::map(both{}, a, row),
                    [](std::int64_t i, std::int64_t j) { return odd(i, j) && j % 2 == 0; }) == 0);
  auto const numbers = os::generate<float, I/X, J>(mesh, sizes, left_element<float>{});
  auto const positive = os::map(above{}, numbers);
  static_assert(std::is_same_v<decltype(positive)::value_type const, bool const>);
  CHECK(wrong_bools(positive, [](std::int64_t i, std::int64_t j) { return left(i, j) > 0; }) == 0);
  auto const any_of_row = [](std::int64_t i) {
    bool any = false;
    for (std::int64_t j = 0; j < inner; ++j) any = any || odd(i, j);
    return any;
  };
  auto const all_of_column = [](std::int64_t j) {
    bool all = true;
    for (std::int64_t i = 0; i < rows; ++i) all = all && odd(i, j);
    return all;
  };
  CHECK(wrong_bools(os::bit_or<I/X>(a), any_of_row) == 0);
  CHECK(wrong_bools(os::max<I/X>(a), any_of_row) == 0);
  CHECK(wrong_bools(os::bit_and<J>(a), all_of_column) == 0);
  CHECK(wrong_bools(os::min<J/Y>(os::slice<J/Y>(a)), all_of_column) == 0);
  CHECK(wrong_bools(os::all_reduce<X>(os::bit_and<J, os::partial_and(X)>(a)), all_of_column) == 0);
  CHECK(wrong_bools(os::reduce_scatter<J/X>(os::bit_and<J, os::partial_and(X)>(a)), all_of_column) == 0);
  CHECK(os::value(os::bit_or<>(a)));
  CHECK(!os::value(os::bit_and<>(a)));
  CHECK(os::value(os::bit_and<>(os::zeros<bool, I/X>(mesh, I = 0))));
  CHECK(!os::value(os::max<>(os::zeros<bool, I/X>(mesh, I = 0))));

  CHECK(wrong_bools(os::cast<bool>(numbers), [](std::int64_t i, std::int64_t j) { return left(i, j) != 0; }) == 0);
  CHECK(wrong(os::cast<float>(a), [](std::int64_t i, std::int64_t j) { return odd(i, j) ? 1 : 0; }) == 0);
  os::check_replicas(os::random<bool, I, J>(mesh, sizes, os::seed(3)));
  CHECK(os::describe(a).starts_with("bool[I_X, J]"));
}

// Sums of small integers stay in their type, modulo its range, as NumPy's with dtype=int8.
TEST_CASE("small integers wrap around") {
  auto const mesh = test_mesh();
  auto const a = os::full<std::int8_t, I/X>(mesh, I = 7, 100);
  CHECK(os::value(os::sum<>(a)) == static_cast<std::int8_t>(700));
  CHECK(os::value(os::sum<>(os::cast<std::int32_t>(a))) == 700);
  CHECK(os::value(os::einsum<>(a, a)) == static_cast<std::int8_t>(70000));
  CHECK(os::value(os::cast<std::int8_t>(os::full<std::int32_t>(mesh, 300))) == 44);
  CHECK_THROWS_AS((static_cast<void>(os::full<std::int8_t, I>(mesh, I = 3, 128))), os::error);
  CHECK_THROWS_AS((static_cast<void>(os::full<bool, I>(mesh, I = 3, 2))), os::error);
}
