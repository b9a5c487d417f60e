// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::sum, os::max, os::min and os::mean over every label and sharding, over nothing, and with NaN. max over J: [I_X,
/// J_Y] → [I_X]
// labels: essential
// gpu:

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;
using os::engine::on_host;

namespace {

// The value of the reduction over no elements, and the combination of two values.
template <class T>
T least() {
  return std::is_integral_v<T> ? std::numeric_limits<T>::lowest() : static_cast<T>(-std::numeric_limits<T>::infinity());
}
template <class T>
T most() {
  return std::is_integral_v<T> ? std::numeric_limits<T>::max() : std::numeric_limits<T>::infinity();
}

template <class T, auto... Out, auto... Dims>
void check(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, dims<Dims...>) {
  using operand = os::tensor<T, Dims...>;
  using result = os::tensor<T, Out...>;
  std::string const out = t::letters_in<result>();
  auto const g = t::whole_numbers<T>(t::letters_in<operand>(), e, 12);
  auto const a = t::placed<operand>(m, g);
  INFO(m.text(), t::text_of(e), os::describe(a));
  CHECK(t::disagreements(m, os::sum<Out...>(a), t::sum_by_loops(out, g)) == 0);
  if constexpr (std::is_arithmetic_v<T>) {
    CHECK(t::disagreements(m, os::max<Out...>(a),
                           t::reduction_by_loops(out, g, least<T>(), [](T x, T y) { return std::max(x, y); })) == 0);
    CHECK(t::disagreements(m, os::min<Out...>(a),
                           t::reduction_by_loops(out, g, most<T>(), [](T x, T y) { return std::min(x, y); })) == 0);
  }
  if constexpr (!std::is_integral_v<T>) {
    auto mean = t::sum_by_loops(out, g);
    std::int64_t const n =
        t::number_of_elements(g.labels, e) / std::max<std::int64_t>(1, t::number_of_elements(out, e));
    for (T& v : mean.values) v = v / T(static_cast<float>(n));
    CHECK(t::disagreements(m, os::mean<Out...>(a), mean, [](T const& got, T const& want) {
            return got == want || (got != got && want != want);
          }) == 0);
  }
}

template <class T>
void check_all() {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<T>(m, e, dims<I>{}, dims<I, J>{});
      check<T>(m, e, dims<I>{}, dims<I, J/X>{});
      check<T>(m, e, dims<I/X>{}, dims<I, J/X>{});
      check<T>(m, e, dims<I/X>{}, dims<I/X, J/Y>{});
      check<T>(m, e, dims<I/X/Y>{}, dims<I/X, J/Y>{});
      check<T>(m, e, dims<I/Y>{}, dims<I/X, J/Y>{});
      check<T>(m, e, dims<>{}, dims<I/X, J/Y>{});
      check<T>(m, e, dims<>{}, dims<J/X/Y/Z>{});
      check<T>(m, e, dims<K, B/X>{}, dims<B, J/X, K/Y>{});
      check<T>(m, e, dims<J/Y, I/X>{}, dims<I/X, J/Y>{});  // nothing is reduced
    }
  });
}

double const not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("double") { check_all<double>(); }
TEST_CASE("int32") { check_all<std::int32_t>(); }

TEST_CASE("other element types") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      check<float>(m, e, dims<I/X>{}, dims<I, J/X>{});
      check<std::int64_t>(m, e, dims<J/X>{}, dims<I/Y, J>{});
      check<Kokkos::complex<float>>(m, e, dims<I/X>{}, dims<I, J/X>{});
      check<Kokkos::complex<double>>(m, e, dims<>{}, dims<I/Y, J/X>{});
    }
  });
}

TEST_CASE("sums of and to partial tensors") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const g = t::whole_numbers<double>("IJ", e, 13);
      auto const wanted = t::sum_by_loops("I", g);
      auto const a = t::placed<os::tensor<double, I, J/Y, partial(X)>>(m, g);
      CHECK(t::disagreements(m, os::sum<I, partial(X)>(a), wanted) == 0);
      CHECK(t::disagreements(m, os::sum<I/X>(a), wanted) == 0);
      CHECK(t::disagreements(m, os::sum<I, partial(X, Y)>(a), wanted) == 0);
      os::tensor<double, I, partial(X, Y)> c;
      CHECK(t::traffic_of([&] { c = os::sum<I, partial(X, Y)>(a); }).calls == 0);  // asked for as it is: free
    }
  });
}

TEST_CASE("NaN wins wherever it stands, and signs of infinity are kept") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::int64_t const at : {0, 3, 10}) {
      t::global_tensor<double> g{"J", {{'J', 11}}, std::vector<double>(11, -2.0)};
      g.values[static_cast<std::size_t>(at)] = not_a_number;
      auto const a = t::placed<os::tensor<double, J/X/Y>>(m, g);
      CHECK(std::isnan(on_host(os::max<>(a).local())()));
      CHECK(std::isnan(on_host(os::min<>(a).local())()));
      CHECK(std::isnan(on_host(os::sum<>(a).local())()));
      g.values[static_cast<std::size_t>(at)] = std::numeric_limits<double>::infinity();
      auto const b = t::placed<os::tensor<double, J/Y/X>>(m, g);
      CHECK(on_host(os::max<>(b).local())() == std::numeric_limits<double>::infinity());
      CHECK(on_host(os::min<>(b).local())() == -2);
    }
  });
}

TEST_CASE("over nothing") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const a = t::placed<os::tensor<double, I, J/X>>(m, {"IJ", {{'I', 2}, {'J', 0}}, {}});
    auto const b = t::placed<os::tensor<std::int32_t, J/X>>(m, {"J", {{'J', 0}}, {}});
    CHECK(on_host(os::sum<I>(a).local())(1) == 0);
    CHECK(on_host(os::max<I>(a).local())(1) == -std::numeric_limits<double>::infinity());
    CHECK(on_host(os::min<I>(a).local())(1) == std::numeric_limits<double>::infinity());
    CHECK(std::isnan(on_host(os::mean<I>(a).local())(1)));
    CHECK(on_host(os::max<>(b).local())() == std::numeric_limits<std::int32_t>::lowest());
    CHECK(on_host(os::min<>(b).local())() == std::numeric_limits<std::int32_t>::max());
  });
}

TEST_CASE("bytes of a maximum are those of a sum") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const e = t::usual_extents()[1];
    auto const a = t::placed<os::tensor<float, I, J/X>>(m, t::whole_numbers<float>("IJ", e, 14));
    constexpr auto plan = os::plan_of<dims<I/Y>, decltype(a)>;
    os::tensor<float, I/Y> c;
    CHECK(t::traffic_of([&] { c = os::max<I/Y>(a); }).bytes == plan.total_bytes(t::named(e), m.sizes()));
    CHECK(t::traffic_of([&] { c = os::sum<I/Y>(a); }).bytes == plan.total_bytes(t::named(e), m.sizes()));
  });
}
