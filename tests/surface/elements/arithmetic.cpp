// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Arithmetic element by element on partial tensors of every kind that an operation keeps, and on values: A[I] {max_X}
/// − B[I] → {max_X}, B[I] − A[I] {max_X} → {min_X}. Nothing is moved. tests/plan/rules/sweep_map.cpp has every
/// sharding; this file tests the types and the kernels.
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;
using os::partial_and;
using os::partial_max;
using os::partial_min;
using os::partial_or;
using os::partial_prod;
using os::reduction;

namespace {

// A user's function that keeps maxima and minima, and one that exchanges them.
struct clamped {
  KOKKOS_FUNCTION double operator()(double v) const { return v > 3 ? 3 : v < -3 ? -3 : v; }
};
struct folded {
  KOKKOS_FUNCTION double operator()(double a, double b) const { return b - 2 * a; }
};
struct without {
  KOKKOS_FUNCTION std::int32_t operator()(std::int32_t a, std::int32_t b) const { return a & ~b; }
};
struct is_set {
  KOKKOS_FUNCTION std::int32_t operator()(std::int32_t a) const { return a != 0 ? 1 : 0; }
};

}  // namespace

template <reduction Kind>
inline constexpr os::preservation os::preserves<clamped, Kind> = os::non_decreasing(Kind);
template <reduction Kind>
inline constexpr os::preservation os::preserves<folded, Kind> =
    os::linear(Kind) | os::non_increasing(Kind, 0b01) | os::non_decreasing(Kind, 0b10);
template <>
inline constexpr os::preservation os::preserves<without, reduction::bit_or>{{},
                                                                            {reduction::bit_or, reduction::bit_and}};
template <>
inline constexpr os::preservation os::preserves<without, reduction::bit_and>{{},
                                                                             {reduction::bit_and, reduction::bit_or}};
template <>
inline constexpr os::preservation os::preserves<is_set, reduction::bit_or>{reduction::bit_or, {}};

namespace {

template <class T>
t::global_tensor<T> numbers(std::string const& labels, t::extents_by_letter const& e, std::uint64_t salt) {
  auto g = t::whole_numbers<T>(labels, e, salt);
  for (T& v : g.values)
    if (v == T(0)) v = T(3);
  return g;
}

// One operation on tensors of these shardings: type, values, silence.
template <class T, class R, auto... Out, auto... DimsA, auto... DimsB, class Run, class Plain>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<DimsA...>, dims<DimsB...>, dims<Out...>,
           Run const& run, Plain const& plain) {
  using left = os::tensor<T, DimsA...>;
  using right = os::tensor<T, DimsB...>;
  using result = os::tensor<R, Out...>;
  auto const a = numbers<T>(t::letters_in<left>(), e, 31);
  auto const b = numbers<T>(t::letters_in<right>(), e, 32);
  t::global_tensor<R> wanted{t::letters_in<result>(), e, {}};
  t::for_each_index(wanted.labels, e, [&](t::extents_by_letter const& at) {
    wanted.values.push_back(static_cast<R>(plain(a.values[a.position(at)], b.values[b.position(at)])));
  });
  auto const placed_a = t::placed<left>(m, a);
  auto const placed_b = t::placed<right>(m, b);
  static_assert(std::is_same_v<decltype(run(placed_a, placed_b)), result>);
  result c;
  CHECK(t::traffic_of([&] { c = run(placed_a, placed_b); }).calls == 0);
  INFO(m.text(), t::text_of(e), os::describe(placed_a), " and ", os::describe(placed_b), " to ", os::describe(c));
  CHECK(t::disagreements(m, c, wanted, [](R const& got, R const& want) {
          if constexpr (std::is_arithmetic_v<R>)
            return std::abs(static_cast<double>(got - want)) <= 1e-12 * (1 + std::abs(static_cast<double>(want)));
          else
            return got == want;
        }) == 0);
}

template <class F>
void everywhere(F const& f) {
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) f(m, e);
  });
}

constexpr auto add = [](auto const& a, auto const& b) { return os::add(a, b); };
constexpr auto subtract = [](auto const& a, auto const& b) { return os::subtract(a, b); };
constexpr auto multiply = [](auto const& a, auto const& b) { return os::multiply(a, b); };
constexpr auto divide = [](auto const& a, auto const& b) { return os::divide(a, b); };
constexpr auto maximum = [](auto const& a, auto const& b) { return os::maximum(a, b); };
constexpr auto minimum = [](auto const& a, auto const& b) { return os::minimum(a, b); };
constexpr auto plus = [](auto a, auto b) { return a + b; };
constexpr auto minus = [](auto a, auto b) { return a - b; };
constexpr auto times = [](auto a, auto b) { return a * b; };
constexpr auto over = [](auto a, auto b) { return a / b; };
constexpr auto larger = [](auto a, auto b) { return std::max(a, b); };
constexpr auto smaller = [](auto a, auto b) { return std::min(a, b); };

}  // namespace

TEST_CASE("add and subtract") {
  everywhere([](auto const& m, auto const& e) {
    check<double, double>(m, e, dims<I / X, J>{}, dims<J / Y>{}, dims<I / X, J / Y>{}, subtract, minus);
    check<std::int32_t, std::int32_t>(m, e, dims<I, J, partial(X)>{}, dims<J, partial(X)>{}, dims<I, J, partial(X)>{},
                                      subtract, minus);
    check<double, double>(m, e, dims<I, J, partial_max(X)>{}, dims<I, J / Y>{}, dims<I, J / Y, partial_max(X)>{}, add,
                          plus);
    check<double, double>(m, e, dims<J>{}, dims<I / Y, J, partial_min(X)>{}, dims<J, I / Y, partial_min(X)>{}, add,
                          plus);
    check<double, double>(m, e, dims<I, J, partial_max(X)>{}, dims<I, J, partial_max(Y)>{},
                          dims<I, J, partial_max(X, Y)>{}, add, plus);
    check<double, double>(m, e, dims<I, J>{}, dims<I, J, partial_max(X)>{}, dims<I, J, partial_min(X)>{}, subtract,
                          minus);
    check<double, double>(m, e, dims<I, partial_max(X)>{}, dims<J, partial_min(Y)>{}, dims<I, J, partial_max(X, Y)>{},
                          subtract, minus);
  });
}

TEST_CASE("multiply and divide") {
  everywhere([](auto const& m, auto const& e) {
    check<double, double>(m, e, dims<I / X, J>{}, dims<J / Y>{}, dims<I / X, J / Y>{}, multiply, times);
    check<std::int64_t, std::int64_t>(m, e, dims<I, J, partial(X)>{}, dims<I / Y, J>{}, dims<I / Y, J, partial(X)>{},
                                      multiply, times);
    check<Kokkos::complex<double>, Kokkos::complex<double>>(m, e, dims<J>{}, dims<I, J, partial(X)>{},
                                                            dims<J, I, partial(X)>{}, multiply, times);
    check<double, double>(m, e, dims<I, partial(X)>{}, dims<J, partial(Y)>{}, dims<I, J, partial(X, Y)>{}, multiply,
                          times);
    check<double, double>(m, e, dims<I, J, partial_prod(X)>{}, dims<J, partial_prod(X)>{},
                          dims<I, J, partial_prod(X)>{}, multiply, times);
    check<double, double>(m, e, dims<I / Y, J, partial(X)>{}, dims<J>{}, dims<I / Y, J, partial(X)>{}, divide, over);
    check<double, double>(m, e, dims<I, J, partial_prod(X)>{}, dims<J, partial_prod(X)>{},
                          dims<I, J, partial_prod(X)>{}, divide, over);
    check<std::int32_t, std::int32_t>(m, e, dims<I / X, J>{}, dims<J>{}, dims<I / X, J>{}, divide, over);
  });
}

namespace {

template <class T, class Number>
T as_element_by_hand(Number const& n) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(n);
  else
    return T(static_cast<typename T::value_type>(std::real(n)), static_cast<typename T::value_type>(std::imag(n)));
}

// A tensor and a number on either side.
template <class T, auto... Out, auto... Dims, class Number, class Run, class Plain>
void check_number(t::test_mesh const& m, t::extents_by_letter const& e, dims<Dims...>, dims<Out...>,
                  Number const& number, Run const& run, Plain const& plain) {
  using operand = os::tensor<T, Dims...>;
  using result = os::tensor<T, Out...>;
  auto const a = numbers<T>(t::letters_in<operand>(), e, 33);
  auto wanted = a;
  auto const placed = t::placed<operand>(m, a);
  static_assert(std::is_same_v<decltype(run(placed, number)), result>);
  for (std::size_t i = 0; i < a.values.size(); ++i)
    wanted.values[i] = plain(a.values[i], as_element_by_hand<T>(number));
  result c;
  CHECK(t::traffic_of([&] { c = run(placed, number); }).calls == 0);
  INFO(m.text(), t::text_of(e), os::describe(placed));
  CHECK(t::disagreements(m, c, wanted) == 0);
}

constexpr auto swapped = [](auto const& f) { return [f](auto const& a, auto const& b) { return f(b, a); }; };
constexpr auto scale = [](auto const& a, auto const& b) { return os::scale(a, b); };

}  // namespace

// A literal becomes an element: 0.5 is a float among floats, 2 a complex number among complex ones.
TEST_CASE("tensors and numbers") {
  everywhere([](auto const& m, auto const& e) {
    check_number<float>(m, e, dims<I / X, J>{}, dims<I / X, J>{}, 0.5, add, plus);
    check_number<float>(m, e, dims<I / X, J>{}, dims<I / X, J>{}, 0.5, swapped(subtract), swapped(minus));
    check_number<float>(m, e, dims<I / X, J>{}, dims<I / X, J>{}, 2, scale, times);
    check_number<double>(m, e, dims<I / X, J, partial(Y)>{}, dims<I / X, J, partial(Y)>{}, 2.0F, scale, times);
    check_number<double>(m, e, dims<I / X, J, partial(Y)>{}, dims<I / X, J, partial(Y)>{}, -2, swapped(scale), times);
    check_number<double>(m, e, dims<I, partial(X)>{}, dims<I, partial(X)>{}, 4, divide, over);
    check_number<double>(m, e, dims<I, partial_max(X)>{}, dims<I, partial_max(X)>{}, 1.5, subtract, minus);
    check_number<double>(m, e, dims<I, partial_max(X)>{}, dims<I, partial_min(X)>{}, 1.5, swapped(subtract),
                         swapped(minus));
    check_number<double>(m, e, dims<I / X, J>{}, dims<I / X, J>{}, 12, swapped(divide), swapped(over));
    check_number<float>(m, e, dims<I, J / Y, partial_max(X)>{}, dims<I, J / Y, partial_max(X)>{}, 0.0, maximum, larger);
    check_number<std::int32_t>(m, e, dims<I, J / Y, partial_max(X)>{}, dims<I, J / Y, partial_max(X)>{}, 3L,
                               swapped(minimum), smaller);
    check_number<std::int64_t>(m, e, dims<I, J, partial(X)>{}, dims<I, J, partial(X)>{}, 3, multiply, times);
    check_number<Kokkos::complex<float>>(m, e, dims<I / X, J>{}, dims<I / X, J>{}, 2.0, add, plus);
    check_number<Kokkos::complex<double>>(m, e, dims<I / X, J>{}, dims<I / X, J>{}, std::complex<float>(0, 1), scale,
                                          times);
  });
}

TEST_CASE("maximum and minimum") {
  everywhere([](auto const& m, auto const& e) {
    check<double, double>(m, e, dims<I / X, J>{}, dims<J / Y>{}, dims<I / X, J / Y>{}, maximum, larger);
    check<std::int32_t, std::int32_t>(m, e, dims<I, J, partial_max(X)>{}, dims<I, J, partial_max(X)>{},
                                      dims<I, J, partial_max(X)>{}, maximum, larger);
    check<std::int32_t, std::int32_t>(m, e, dims<I, J, partial_max(X)>{}, dims<I, J / Y>{},
                                      dims<I, J / Y, partial_max(X)>{}, maximum, larger);
    check<double, double>(m, e, dims<I, J, partial_max(X)>{}, dims<I, J, partial_max(X, Y)>{},
                          dims<I, J, partial_max(X, Y)>{}, maximum, larger);
    check<double, double>(m, e, dims<I, J, partial_min(X)>{}, dims<J>{}, dims<I, J, partial_min(X)>{}, maximum, larger);
    check<double, double>(m, e, dims<I, J, partial_max(X)>{}, dims<J>{}, dims<I, J, partial_max(X)>{}, minimum,
                          smaller);
    check<std::int64_t, std::int64_t>(m, e, dims<I, J, partial_min(X)>{}, dims<I / Y, partial_min(X)>{},
                                      dims<I / Y, J, partial_min(X)>{}, minimum, smaller);
  });
}

TEST_CASE("one operand") {
  everywhere([](auto const& m, auto const& e) {
    constexpr auto first = [](auto const& f) { return [f](auto const& a, auto const&) { return f(a); }; };
    auto const negate = first([](auto const& a) { return os::negate(a); });
    auto const minus_a = first([](auto a) { return -a; });
    check<std::int32_t, std::int32_t>(m, e, dims<I / X, J>{}, dims<>{}, dims<I / X, J>{}, negate, minus_a);
    check<std::int32_t, std::int32_t>(m, e, dims<I / Y, J, partial(X)>{}, dims<>{}, dims<I / Y, J, partial(X)>{},
                                      negate, minus_a);
    check<double, double>(m, e, dims<I, J, partial_max(X, Y)>{}, dims<>{}, dims<I, J, partial_min(X, Y)>{}, negate,
                          minus_a);
    auto const to_double = first([](auto const& a) { return os::cast<double>(a); });
    auto const to_complex = first([](auto const& a) { return os::cast<std::complex<double>>(a); });
    auto const to_int64 = first([](auto const& a) { return os::cast<std::int64_t>(a); });
    auto const to_float = first([](auto const& a) { return os::cast<float>(a); });
    auto const same = first([](auto a) { return a; });
    check<float, double>(m, e, dims<I, J / Y, partial(X)>{}, dims<>{}, dims<I, J / Y, partial(X)>{}, to_double, same);
    check<std::int32_t, double>(m, e, dims<I, J, partial_prod(X)>{}, dims<>{}, dims<I, J, partial_prod(X)>{}, to_double,
                                same);
    check<float, Kokkos::complex<double>>(m, e, dims<I, partial(X)>{}, dims<>{}, dims<I, partial(X)>{}, to_complex,
                                          same);
    check<std::int32_t, std::int64_t>(m, e, dims<I, partial_and(X)>{}, dims<>{}, dims<I, partial_and(X)>{}, to_int64,
                                      same);
    check<std::int32_t, std::int64_t>(m, e, dims<I, partial_min(X)>{}, dims<>{}, dims<I, partial_min(X)>{}, to_int64,
                                      same);
    check<double, float>(m, e, dims<I, partial_max(X)>{}, dims<>{}, dims<I, partial_max(X)>{}, to_float, same);
    check<double, std::int64_t>(m, e, dims<I / X, J>{}, dims<>{}, dims<I / X, J>{}, to_int64, same);
  });
}

TEST_CASE("functions of users") {
  everywhere([](auto const& m, auto const& e) {
    auto const map_one = [](auto const& f) { return [f](auto const& a, auto const&) { return os::map(f, a); }; };
    auto const map_two = [](auto const& f) { return [f](auto const& a, auto const& b) { return os::map(f, a, b); }; };
    check<double, double>(m, e, dims<I / Y, J, partial_max(X)>{}, dims<>{}, dims<I / Y, J, partial_max(X)>{},
                          map_one(clamped{}), [](double a, double) { return clamped()(a); });
    check<double, double>(m, e, dims<I, J, partial(X)>{}, dims<J, partial(X)>{}, dims<I, J, partial(X)>{},
                          map_two(folded{}), folded{});
    check<double, double>(m, e, dims<I, J, partial_min(X)>{}, dims<J>{}, dims<I, J, partial_max(X)>{},
                          map_two(folded{}), folded{});
    check<double, double>(m, e, dims<I, J, partial_min(Y)>{}, dims<J, partial_max(X)>{},
                          dims<I, J, partial_max(X, Y)>{}, map_two(folded{}), folded{});
    check<std::int32_t, std::int32_t>(m, e, dims<I, J / Y, partial_or(X)>{}, dims<J>{}, dims<I, J / Y, partial_or(X)>{},
                                      map_two(without{}), without{});
    check<std::int32_t, std::int32_t>(m, e, dims<I, J>{}, dims<J, partial_or(X)>{}, dims<I, J, partial_and(X)>{},
                                      map_two(without{}), without{});
    check<std::int32_t, std::int32_t>(m, e, dims<I, J, partial_or(X)>{}, dims<>{}, dims<I, J, partial_or(X)>{},
                                      map_one(is_set{}), [](auto a, auto) { return a != 0; });
  });
}

TEST_CASE("NaN wins") {
  t::on_every_mesh([](t::test_mesh const& m) {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    t::global_tensor<double> const a{"I", {{'I', 3}}, {nan, 1, 2}};
    t::global_tensor<double> const b{"I", {{'I', 3}}, {5, nan, 1}};
    auto const isnan_or = [](double got, double want) { return got == want || (got != got && want != want); };
    auto const x = t::placed<os::tensor<double, I / X>>(m, a);
    auto const y = t::placed<os::tensor<double, I / X>>(m, b);
    CHECK(t::disagreements(m, os::maximum(x, y), {"I", {{'I', 3}}, {nan, nan, 2}}, isnan_or) == 0);
    CHECK(t::disagreements(m, os::minimum(x, y), {"I", {{'I', 3}}, {nan, nan, 1}}, isnan_or) == 0);
  });
}

// ---- what the operations are declared to keep, tried on numbers -----------------------------------------------------

namespace {

template <class T>
bool close(T const& a, T const& b) {
  if constexpr (std::is_integral_v<T>) return a == b;
  else if constexpr (std::is_arithmetic_v<T>)
    return a == b || std::abs(a - b) <= T(1e-4) * (1 + std::abs(a) + std::abs(b));
  else return Kokkos::abs(a - b) <= 1e-6 * (1 + Kokkos::abs(a) + Kokkos::abs(b));
}

// f on sample values, and on those that stand for no part at all, which masks and empty blocks hold.
template <class T, class F>
bool law_holds(F const& f, int operands, reduction before, reduction after, int alone, bool with_nothing) {
  for (int sample = 0; sample < 200; ++sample) {
    auto const value = [&](int salt) {
      std::uint64_t const mixed =
          (static_cast<std::uint64_t>(sample) * 4 + static_cast<std::uint64_t>(salt) + 1) * 0x9e3779b97f4a7c15U;
      auto const n = static_cast<std::int64_t>((mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9U >> 40) % 23 - 11;
      return t::whole_number<T>(n == 0 ? 5 : n);
    };
    T one[2], other[2], both[2];
    for (int k = 0; k < 2; ++k) {
      bool const parts = alone < 0 || alone == k;
      one[k] = value(k);
      other[k] = !parts ? one[k] : with_nothing && sample % 5 == 0 ? os::engine::identity<T>(before) : value(k + 2);
      both[k] = parts ? t::combined(before, one[k], other[k]) : one[k];
    }
    auto const of = [&](T const* v) {
      if constexpr (std::is_invocable_v<F, T, T>) return f(v[0], v[1]);
      else return f(v[0]);
    };
    static_cast<void>(operands);
    if (!close(of(both), t::combined(after, of(one), of(other)))) return false;
  }
  return true;
}

// All that is declared holds; for floating-point numbers everything that holds is declared.
template <class T, class F>
void check_declared(std::string const& name, F const& f, bool complete) {
  constexpr int operands = std::is_invocable_v<F, T, T> ? 2 : 1;
  for (reduction kind :
       {reduction::sum, reduction::max, reduction::min, reduction::prod, reduction::bit_and, reduction::bit_or}) {
    if (!os::engine::is_reducible<T>(kind)) continue;
    os::preservation const p = os::preservations_of<os::detail::on<F, T>>[kind];
    for (int alone = -1; alone < operands; ++alone) {
      os::outcome declared = alone < 0 ? p.together : p.alone[alone];
      if (operands == 1 && !declared.kept) declared = alone < 0 ? p.alone[0] : p.together;
      INFO(name);
      CAPTURE(static_cast<int>(kind));
      CAPTURE(alone);
      if (declared.kept) CHECK(law_holds<T>(f, operands, kind, declared.kind, alone, true));
      if (declared.kept || !complete) continue;
      for (reduction after : {reduction::sum, reduction::max, reduction::min, reduction::prod})
        if (os::engine::is_reducible<T>(after)) CHECK_FALSE(law_holds<T>(f, operands, kind, after, alone, false));
    }
  }
}

template <class T, class F>
void check_beside_number(std::string const& name, F const& f) {
  for (T number : {T(3), T(-2)}) {  // laws for one sign alone are not declared
    check_declared<T>(name, os::detail::with_number<F, T, 0>{f, number}, false);
    check_declared<T>(name + ", that first", os::detail::with_number<F, T, 1>{f, number}, false);
  }
}

template <class T>
void check_declarations(bool complete) {
  namespace f = os::detail;
  check_declared<T>("plus", f::plus{}, complete);
  check_declared<T>("minus", f::minus{}, complete);
  check_declared<T>("negation", f::negation{}, complete);
  check_beside_number<T>("plus a number", f::plus{});
  check_beside_number<T>("minus a number", f::minus{});
  check_beside_number<T>("times a number", f::product{});
  check_beside_number<T>("over a number", f::quotient{});
  check_declared<T>("product", f::product{}, complete);
  check_declared<T>("quotient", f::quotient{}, complete);
  if constexpr (std::is_arithmetic_v<T>) {
    check_declared<T>("larger", f::larger{}, complete);
    check_declared<T>("smaller", f::smaller{}, complete);
    check_beside_number<T>("larger than a number", f::larger{});
    check_beside_number<T>("smaller than a number", f::smaller{});
  }
}

}  // namespace

TEST_CASE("what is declared of the operations holds") {
  check_declarations<double>(true);
  check_declarations<float>(false);
  check_declarations<std::int32_t>(false);
  check_declarations<Kokkos::complex<double>>(true);
}
