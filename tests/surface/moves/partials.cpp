// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Partial tensors of every kind: reductions that leave their result partial without communication, and the moves that
/// reduce them later, with the bytes that the same costs for sums. max over J: [I_X, J_Y] → [I_X] {max_Y} → [I_X]
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

// A kind: its entry, its reduction, the combination of two values, and the value of none.
struct sums {
  static constexpr char const* name = "{U_";
  static constexpr auto over = [](auto... axes) { return os::partial_sum(axes...); };
  template <auto... Out>
  static auto reduced(auto const& a) { return os::sum<Out...>(a); }
  template <class T>
  static T of(T x, T y) { return x + y; }
  template <class T>
  static T none() { return 0; }
};

struct maxima {
  static constexpr char const* name = "{max_";
  static constexpr auto over = [](auto... axes) { return os::partial_max(axes...); };
  template <auto... Out>
  static auto reduced(auto const& a) { return os::max<Out...>(a); }
  template <class T>
  static T of(T x, T y) { return std::max(x, y); }
  template <class T>
  static T none() {
    return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                : std::numeric_limits<T>::lowest();
  }
};

struct minima {
  static constexpr char const* name = "{min_";
  static constexpr auto over = [](auto... axes) { return os::partial_min(axes...); };
  template <auto... Out>
  static auto reduced(auto const& a) { return os::min<Out...>(a); }
  template <class T>
  static T of(T x, T y) { return std::min(x, y); }
  template <class T>
  static T none() {
    return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  }
};

struct products {
  static constexpr char const* name = "{prod_";
  static constexpr auto over = [](auto... axes) { return os::partial_prod(axes...); };
  template <auto... Out>
  static auto reduced(auto const& a) { return os::prod<Out...>(a); }
  template <class T>
  static T of(T x, T y) { return x * y; }
  template <class T>
  static T none() { return 1; }
};

struct common_bits {
  static constexpr char const* name = "{and_";
  static constexpr auto over = [](auto... axes) { return os::partial_and(axes...); };
  template <auto... Out>
  static auto reduced(auto const& a) { return os::bit_and<Out...>(a); }
  template <class T>
  static T of(T x, T y) { return x & y; }
  template <class T>
  static T none() { return -1; }
};

struct any_bits {
  static constexpr char const* name = "{or_";
  static constexpr auto over = [](auto... axes) { return os::partial_or(axes...); };
  template <auto... Out>
  static auto reduced(auto const& a) { return os::bit_or<Out...>(a); }
  template <class T>
  static T of(T x, T y) { return x | y; }
  template <class T>
  static T none() { return 0; }
};

// Small enough that products of all of them are exact.
template <class T>
t::global_tensor<T> numbers(std::string const& labels, t::extents_by_letter const& e) {
  auto g = t::whole_numbers<T>(labels, e, 21);
  for (T& v : g.values) v = static_cast<T>(v > 0 ? 1 + (v == 3 || v == 5) : v == -6 ? -3 : -1);
  return g;
}

template <class T, class Kind, auto... Out>
t::global_tensor<T> by_loops(dims<Out...>, t::global_tensor<T> const& g) {
  return t::reduction_by_loops(t::letters_in<os::tensor<T, Out...>>(), g, Kind::template none<T>(),
                               [](T x, T y) { return Kind::template of<T>(x, y); });
}

// Each result of reducing an operand: its values, and the bytes that sums need.
template <class Kind, class T, auto... Out, auto... Dims, auto... OutOfSums, auto... DimsOfSums>
void reduce(t::test_mesh const& m, t::extents_by_letter const& e, dims<Dims...>, dims<Out...> out, dims<DimsOfSums...>,
            dims<OutOfSums...>) {
  auto const g = numbers<T>(t::letters_in<os::tensor<T, Dims...>>(), e);
  auto const a = t::placed<os::tensor<T, Dims...>>(m, g);
  constexpr auto plan = os::plan_of<dims<OutOfSums...>, os::tensor<T, DimsOfSums...>>;
  os::tensor<T, Out...> c;
  t::traffic const moved = t::traffic_of([&] { c = Kind::template reduced<Out...>(a); });
  INFO(m.text(), t::text_of(e), os::describe(a), " to ", os::describe(c));
  CHECK(t::disagreements(m, c, by_loops<T, Kind>(out, g)) == 0);
  CHECK(moved.bytes == plan.total_bytes(t::named(e), m.sizes()));
}

template <class Kind, class T>
void every_way() {
  constexpr auto x = Kind::over(X);
  constexpr auto y = Kind::over(Y);
  constexpr auto xy = Kind::over(Y, X);
  constexpr auto sum_x = os::partial(X);
  constexpr auto sum_y = os::partial(Y);
  constexpr auto sum_xy = os::partial(Y, X);
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      // The result is asked for as it is: nothing is moved (plans of sums say so too).
      static_assert(os::plan_of<dims<I, sum_x>, os::sharding_of<I, J / X>>.communications() == 0);
      reduce<Kind, T>(m, e, dims<I, J / X>{}, dims<I, x>{}, dims<I, J / X>{}, dims<I, sum_x>{});
      reduce<Kind, T>(m, e, dims<I, J / X, y>{}, dims<I, xy>{}, dims<I, J / X, sum_y>{}, dims<I, sum_xy>{});
      // Partial operands: reduced with the labels.
      reduce<Kind, T>(m, e, dims<I, J, x>{}, dims<I>{}, dims<I, J, sum_x>{}, dims<I>{});
      reduce<Kind, T>(m, e, dims<I, J / Y, x>{}, dims<I / X>{}, dims<I, J / Y, sum_x>{}, dims<I / X>{});
      reduce<Kind, T>(m, e, dims<J / Y, I, x>{}, dims<>{}, dims<J / Y, I, sum_x>{}, dims<>{});
      // The local results are replicated; all devices but one must hold the neutral value.
      reduce<Kind, T>(m, e, dims<I, J>{}, dims<I, x>{}, dims<I, J>{}, dims<I, sum_x>{});
    }
  });
}

// The verbs and os::reshard of a partial tensor.
template <class Kind, class T>
void moves() {
  constexpr auto x = Kind::over(X);
  constexpr auto y = Kind::over(Y);
  constexpr auto xy = Kind::over(X, Y);
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const g = numbers<T>("IJ", e);
      auto const check = [&]<class Result>(Result const&, auto const& run, auto const& sums) {
        Result c;
        t::traffic const moved = t::traffic_of([&] { c = run(); });
        INFO(m.text(), t::text_of(e), os::describe(c));
        CHECK(t::disagreements(m, c, g) == 0);
        CHECK(moved.bytes == t::traffic_of([&] { static_cast<void>(sums()); }).bytes);
      };
      auto const a = t::placed<os::tensor<T, I, J / Y, x>>(m, g);
      auto const s = t::placed<os::tensor<T, I, J / Y, os::partial(X)>>(m, g);
      check(os::tensor<T, I, J / Y>(), [&] { return os::all_reduce<X>(a); }, [&] { return os::all_reduce<X>(s); });
      check(
          os::tensor<T, I / X, J / Y>(), [&] { return os::reduce_scatter<I / X>(a); },
          [&] { return os::reduce_scatter<I / X>(s); });
      check(os::tensor<T, I, J, x>(), [&] { return os::all_gather<Y>(a); }, [&] { return os::all_gather<Y>(s); });
      check(
          os::tensor<T, I / Y, J, x>(), [&] { return os::all_to_all<I / Y>(a); },
          [&] { return os::all_to_all<I / Y>(s); });
      check(
          os::tensor<T, I, J / Y / X>(), [&] { return os::reshard<I, J / Y / X>(a); },
          [&] { return os::reshard<I, J / Y / X>(s); });
      check(
          os::tensor<T, I, J, xy>(), [&] { return os::reshard<I, J, xy>(a); },
          [&] { return os::reshard<I, J, os::partial(X, Y)>(s); });
      // Made of a tensor that is not partial, and renamed on the way.
      auto const r = t::placed<os::tensor<T, I / X, J>>(m, g);
      check(os::tensor<T, I / X, J, y>(), [&] { return os::reshard<I / X, J, y>(r); }, [] { return 0; });
      check(
          os::tensor<T, I, J, x>(), [&] { return os::rename<K, J>(os::rename<J, K>(os::reshard<I, J, x>(r))); },
          [&] { return os::reshard<I, J, os::partial(X)>(r); });
      // One kind to another: reduced in between, since a sum of maxima is no maximum of sums. (The bytes depend on Y,
      // too: an idle axis.)
      auto const other = t::placed<os::tensor<T, I, J, os::partial(X)>>(m, g);
      auto const same = os::reshard<I, J, y>(other);
      INFO(m.text(), t::text_of(e), os::describe(other), " to ", os::describe(same));
      CHECK(t::disagreements(m, same, g) == 0);
    }
  });
}

template <class Kind, class T>
void check_all() {
  std::string const text = os::describe(os::tensor<T, I / Y, J, Kind::over(X, Z)>());
  CHECK(text.find(std::string("[I_Y, J] ") + Kind::name + "XZ}") != std::string::npos);
  every_way<Kind, T>();
  moves<Kind, T>();
}

}  // namespace

TEST_CASE("sums") { check_all<sums, std::int32_t>(); }
TEST_CASE("maxima") { check_all<maxima, double>(); }
TEST_CASE("minima") { check_all<minima, std::int32_t>(); }
TEST_CASE("products") { check_all<products, double>(); }
TEST_CASE("bits that all have") { check_all<common_bits, std::int64_t>(); }
TEST_CASE("bits that any has") { check_all<any_bits, std::int32_t>(); }

TEST_CASE("zeros are zeros in every kind") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const largest = [](auto const& a) { return os::value(os::max<>(os::all_reduce<X>(a))); };
  CHECK(largest(os::zeros<double, I, os::partial(X)>(mesh, I = 5)) == 0);
  CHECK(largest(os::zeros<double, I, os::partial_max(X)>(mesh, I = 5)) == 0);
  CHECK(largest(os::zeros<double, I, os::partial_prod(X)>(mesh, I = 5)) == 0);
  CHECK(largest(os::zeros<std::int32_t, I, os::partial_and(X)>(mesh, I = 5)) == 0);
}
