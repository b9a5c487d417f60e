// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::einsum in every element type: whole numbers exactly, fractions to the rounding that sums of that length may
/// have, |Ĉ − C| ≤ γ Σ|a||b| (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), in whatever order
/// they are summed.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "support/einsum_case.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;

namespace {

template <class T>
struct real {
  using type = T;
};
template <class T>
struct real<Kokkos::complex<T>> {
  using type = T;
};

using wide = std::complex<long double>;

template <class T>
wide widen(T const& v) {
  if constexpr (std::is_arithmetic_v<T>)
    return {static_cast<long double>(v), 0};
  else
    return {static_cast<long double>(v.real()), static_cast<long double>(v.imag())};
}

// Sevenths: no finite binary fraction, so that every operation rounds.
template <class T>
t::global_tensor<T> fractions(std::string const& labels, t::extents_by_letter const& e, std::uint64_t salt) {
  auto g = t::whole_numbers<T>(labels, e, salt);
  for (T& v : g.values) v = v / T(7);
  return g;
}

template <class T, auto... Out, auto... DimsA, auto... DimsB>
void check_rounding(t::test_mesh const& m, t::extents_by_letter const& e, dims<Out...>, dims<DimsA...>,
                    dims<DimsB...>) {
  using left = os::tensor<T, DimsA...>;
  using right = os::tensor<T, DimsB...>;
  using result = os::tensor<T, Out...>;
  auto const a = fractions<T>(t::letters_in<left>(), e, 4);
  auto const b = fractions<T>(t::letters_in<right>(), e, 5);
  auto const c = os::einsum<Out...>(t::placed<left>(m, a), t::placed<right>(m, b));
  // The sums of moduli run beside the sums, so that both are looked up by position.
  std::string const labels = t::letters_in<result>();
  t::global_tensor<T> number_of_result{labels, e, {}};
  std::vector<wide> sums;
  std::vector<long double> moduli;
  for (std::int64_t i = 0; i < t::number_of_elements(labels, e); ++i)
    number_of_result.values.push_back(t::whole_number<T>(i));
  sums.assign(number_of_result.values.size(), {});
  moduli.assign(number_of_result.values.size(), 0);
  t::for_each_index(t::labels_of_both(a.labels, b.labels), e, [&](t::extents_by_letter const& at) {
    wide const x = widen(a.values[a.position(at)]);
    wide const y = widen(b.values[b.position(at)]);
    sums[number_of_result.position(at)] += x * y;
    moduli[number_of_result.position(at)] += std::abs(x) * std::abs(y);
  });
  // One rounding an addition, and at most a few for a complex product; ε is twice the unit roundoff.
  auto const summands = static_cast<long double>(e.at('J'));
  long double const bound =
      (summands + 3) * static_cast<long double>(std::numeric_limits<typename real<T>::type>::epsilon());
  INFO(m.text(), t::text_of(e));
  CHECK(t::disagreements(m, c, number_of_result, [&](T const& got, T const& which) {
          auto const i = static_cast<std::size_t>(widen(which).real());
          return std::abs(widen(got) - sums[i]) <= bound * moduli[i];
        }) == 0);
}

template <class T>
void check_all() {
  t::on_meshes_and_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    t::check_einsum<T>(m, e, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/X, K/Y>{});
    t::check_einsum<T>(m, e, dims<I, K, os::partial(X)>{}, dims<I, J/X>{}, dims<J, K, os::partial(Y)>{});
    t::check_einsum<T>(m, e, dims<K, B/X>{}, dims<B, J/X>{}, dims<B, J, K/X>{});
    t::check_einsum<T>(m, e, dims<I/X, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
    t::check_einsum<T>(m, e, dims<>{}, dims<I/X, J/Y>{});
    if constexpr (!std::is_integral_v<T>) {
      check_rounding<T>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
      check_rounding<T>(m, e, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/X, K/Y>{});
    }
  });
}

}  // namespace

TEST_CASE("float") { check_all<float>(); }
TEST_CASE("complex<float>") { check_all<Kokkos::complex<float>>(); }
TEST_CASE("complex<double>") { check_all<Kokkos::complex<double>>(); }
TEST_CASE("int32") { check_all<std::int32_t>(); }

TEST_CASE("double, longer sums") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 2}, {'I', 9}, {'J', 613}, {'K', 5}, {'L', 1}};
    check_rounding<double>(m, e, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check_rounding<double>(m, e, dims<I/X/Y, K>{}, dims<I, J/X/Y>{}, dims<J, K>{});
    check_rounding<float>(m, e, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/X, K/Y>{});
  });
}

TEST_CASE("std::complex is Kokkos::complex in a tensor") {
  static_assert(std::is_same_v<os::tensor<std::complex<float>, I/X>, os::tensor<Kokkos::complex<float>, I/X>>);
  static_assert(std::is_same_v<os::host_tensor<std::complex<double>, I>::value_type, Kokkos::complex<double>>);
  t::on_every_mesh([](t::test_mesh const& m) {
    t::check_einsum<std::complex<double>>(m, t::usual_extents()[1], dims<I/X, K>{}, dims<I, J/X>{}, dims<J, K>{});
  });
}
