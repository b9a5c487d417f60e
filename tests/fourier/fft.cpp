// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::fft, ifft, rfft and irfft against sums in long double: axes that are whole and divided, results in the layout of
/// the operand, in another and transposed, on every mesh; all small extents, uneven and empty; bytes predicted and
/// counted.
// labels: essential
// checked: 2 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/fft.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fourier/by_sums.hpp"
#include "fourier/of_kind.hpp"
#include "support/on_meshes.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;
using os::fourier_kind;

namespace {

/// Transforms an A along I to Result, and counts.
template <fourier_kind Kind, class A, class Result, auto Along, auto... To>
void check(t::test_mesh const& m, t::extents_by_letter e, std::int64_t n) {
  e['I'] = os::has_real_result(Kind) ? n / 2 + 1 : n;
  INFO(m.text(), os::name_of(Kind), " of ", n, ": ", t::text_of(e));
  std::string letters;
  for (char const l : t::placement_of<A>().letters) letters += l;
  auto const g = t::whole_numbers<typename A::value_type>(letters, e, 3);
  auto const a = t::placed<A>(m, g);
  auto const got = t::transformed<Kind, Along, To...>(a, K = n);
  std::int64_t const moved =
      t::traffic_of([&] { static_cast<void>(t::transformed<Kind, Along, To...>(a, K = n)); }).bytes;
  static_assert(std::is_same_v<std::remove_const_t<decltype(got)>, Result>);
  using U = typename Result::value_type;
  CHECK(t::disagreements(m, got, t::by_sums<U>(Kind, g, 'I', 'K', n), t::close_to<U>(n, 1)) == 0);
  CHECK(t::disagreements(m, a, g) == 0);  // the operand is as before
  os::operation::fourier<Kind, os::detail::type_of<Along>, os::sharding_of<To...>> const operation{};
  CHECK(t::predicted_bytes(operation, a, K = n) == (moved + t::ranks() - 1) / t::ranks());
}

template <auto... Dims>
using as = os::sharding_of<Dims...>;

using complex = Kokkos::complex<double>;

/// There and back, and of real numbers.
template <class From, class Result, auto Along, auto... To>
void check_layout(t::test_mesh const& m, t::extents_by_letter const& e, std::int64_t n) {
  check<fourier_kind::fft, t::tensor_of<complex, From>, t::tensor_of<complex, Result>, Along, To...>(m, e, n);
  check<fourier_kind::rfft, t::tensor_of<double, From>, t::tensor_of<complex, Result>, Along, To...>(m, e, n);
  check<fourier_kind::irfft, t::tensor_of<complex, From>, t::tensor_of<double, Result>, Along, To...>(m, e, n);
}

/// Calls f(extents, n) for lengths and batches that are empty, one, uneven and prime.
template <class F>
void for_extents(F const& f) {
  for (std::int64_t const n : {0, 1, 2, 3, 4, 5, 6, 7, 12})
    for (std::int64_t const j : {0, 1, 3}) f(t::extents_by_letter{{'J', j}, {'L', 2}}, n);
  f(t::extents_by_letter{{'J', 7}, {'L', 5}}, 11);
  f(t::extents_by_letter{{'J', 8}, {'L', 1}}, 16);
}

}  // namespace

TEST_CASE("axes that are whole: nothing moves") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for_extents([&](t::extents_by_letter const& e, std::int64_t n) {
      check_layout<as<I, J/X>, as<K, J/X>, I, K>(m, e, n);
      check_layout<as<J/X, I, L/Y>, as<J/X, K, L/Y>, I, K>(m, e, n);
      CHECK(t::traffic_of([&] {
              static_cast<void>(os::fft<I, K>(t::placed<os::tensor<complex, J/X, I>>(
                  m, t::whole_numbers<complex>("JI", {{'I', n}, {'J', e.at('J')}}, 1))));
            }).bytes == 0);
    });
  });
}

TEST_CASE("a divided axis, whose result lies as it does, or transposed") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for_extents([&](t::extents_by_letter const& e, std::int64_t n) {
      check_layout<as<I/X, J>, as<K/X, J>, I/X, K/X>(m, e, n);
      check_layout<as<I/X, J>, as<K, J/X>, I/X, K, J/X>(m, e, n);
      check_layout<as<I, J/X>, as<K/X, J>, I, K/X, J>(m, e, n);
    });
  });
}

TEST_CASE("results in another order of axes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for_extents([&](t::extents_by_letter const& e, std::int64_t n) {
      check_layout<as<I/X, J>, as<J/X, K>, I/X, J/X, K>(m, e, n);
      check_layout<as<I/X, J>, as<J, K/X>, I/X, J, K/X>(m, e, n);
      check_layout<as<I, J/X>, as<J, K/X>, I, J, K/X>(m, e, n);
      check_layout<as<I, J/X>, as<J/X, K>, I, J/X, K>(m, e, n);
      check_layout<as<I/X, J/Y, L>, as<L/X, J/Y, K>, I/X, L/X, J/Y, K>(m, e, n);
    });
  });
}

TEST_CASE("pencils, several mesh axes, one axis alone") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for_extents([&](t::extents_by_letter const& e, std::int64_t n) {
      check_layout<as<I/X, J/Y, L>, as<K/X, J/Y, L>, I/X, K/X>(m, e, n);
      check_layout<as<L, J/Y, I/X>, as<L/X, J/Y, K>, I/X, L/X, J/Y, K>(m, e, n);
      check_layout<as<I/X/Y>, as<K/X/Y>, I/X/Y, K/X/Y>(m, e, n);
      check_layout<as<I/X, J/Y>, as<K/Y, J/X>, I/X, K/Y, J/X>(m, e, n);
    });
  });
}

TEST_CASE("floats, the inverse, real numbers as complex ones, an axis that keeps its name") {
  using float_complex = Kokkos::complex<float>;
  t::on_every_mesh([](t::test_mesh const& m) {
    for_extents([&](t::extents_by_letter const& e, std::int64_t n) {
      check<fourier_kind::ifft, os::tensor<complex, I/X, J>, os::tensor<complex, K, J/X>, I/X, K, J/X>(m, e, n);
      check<fourier_kind::ifft, os::tensor<float_complex, J/X, I>, os::tensor<float_complex, J/X, K>, I, K>(m, e,
                                                                                                                n);
      check<fourier_kind::rfft, os::tensor<float, I, J/X>, os::tensor<float_complex, K, J/X>, I, K>(m, e, n);
      check<fourier_kind::irfft, os::tensor<float_complex, I, J/X>, os::tensor<float, K, J/X>, I, K>(m, e, n);
      check<fourier_kind::fft, os::tensor<double, I/X, J>, os::tensor<complex, K/X, J>, I/X, K/X>(m, e, n);
      auto const g = t::whole_numbers<complex>("IJ", {{'I', n}, {'J', e.at('J')}}, 5);
      auto const there = os::fft<I/X, I/X>(t::placed<os::tensor<complex, I/X, J>>(m, g));
      CHECK(t::disagreements(m, os::ifft<I / X, I / X>(there), g, t::close_to<complex>(n, 1)) == 0);
    });
  });
}

TEST_CASE("parts of a sum are transformed as they are") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 3}};
    auto const g = t::whole_numbers<double>("IJ", e, 4);
    auto const a = t::placed<os::tensor<double, I/X, J, os::partial(Y)>>(m, g);
    auto const want = t::by_sums<complex>(fourier_kind::rfft, g, 'I', 'K', 5);
    auto const parts = os::rfft<I/X, K/X>(a);
    static_assert(std::is_same_v<std::remove_const_t<decltype(parts)>, os::tensor<complex, K/X, J, os::partial(Y)>>);
    CHECK(t::disagreements(m, parts, want, t::close_to<complex>(64, 1)) == 0);
    auto const whole = os::rfft<I/X, K, J/X>(a);
    static_assert(std::is_same_v<std::remove_const_t<decltype(whole)>, os::tensor<complex, K, J/X>>);
    CHECK(t::disagreements(m, whole, want, t::close_to<complex>(64, 1)) == 0);
  });
}

TEST_CASE("blocks of a body, whose extents differ") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 6}, {'J', 5}};
    auto const g = t::whole_numbers<double>("IJ", e, 6);
    auto const a = t::placed<os::tensor<double, I, J/X>>(m, g);
    auto const y = os::shard_map<K, J/X>([](auto const& block) { return os::rfft<I, K>(block); }, a);
    CHECK(t::disagreements(m, y, t::by_sums<complex>(fourier_kind::rfft, g, 'I', 'K', 6), t::close_to<complex>(6, 1)) ==
          0);
    auto const back = os::shard_map<I, J/X>([](auto const& block) { return os::irfft<K, I>(block, I = 6); }, y);
    CHECK(t::disagreements(m, back, g, t::close_to<double>(6, 1)) == 0);
  });
}

TEST_CASE("the result takes the memory of a temporary that nothing else holds") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for_extents([&](t::extents_by_letter const& given, std::int64_t n) {
      t::extents_by_letter e = given;
      e['I'] = n;
      auto const g = t::whole_numbers<complex>("IJ", e, 4);
      auto const there = t::by_sums<complex>(fourier_kind::fft, g, 'I', 'K', n);
      auto const back = t::by_sums<complex>(fourier_kind::ifft, g, 'I', 'K', n);
      using A = os::tensor<complex, I, J / X>;
      auto alone = t::placed<A>(m, g);
      auto const* const memory = alone.local().data();
      bool const has_elements = alone.local().size() > 0;
      auto const y = os::fft<I, K>(std::move(alone));
      if (has_elements) CHECK(y.local().data() == memory);
      CHECK(t::disagreements(m, y, there, t::close_to<complex>(n, 1)) == 0);
      auto held = t::placed<A>(m, g);
      A const other = held;
      auto const z = os::ifft<I, K>(std::move(held));
      CHECK(t::disagreements(m, other, g) == 0);
      CHECK(t::disagreements(m, z, back, t::close_to<complex>(n, 1)) == 0);
      auto viewed = t::placed<A>(m, g);
      typename A::view_type const block = viewed.local();
      if (has_elements) CHECK(os::ifft<I, K>(std::move(viewed)).local().data() != block.data());
      CHECK(t::disagreements(m, os::ifft<K, I>(os::fft<I, K>(t::placed<A>(m, g))), g, t::close_to<complex>(n, 1)) == 0);
      CHECK(t::disagreements(m, os::fft<I / X, K / X>(t::placed<os::tensor<complex, I / X, J>>(m, g)), there,
                             t::close_to<complex>(n, 1)) == 0);
    });
  });
}

OSTRAKA_AXIS(F5, 5);

TEST_CASE("wrong lengths are reported alike") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const e = t::extents_by_letter{{'I', 4}, {'J', 3}};
    auto const a = t::placed<os::tensor<complex, I/X, J>>(m, t::whole_numbers<complex>("IJ", e, 1));
    CHECK(t::said_alike([&] { static_cast<void>(os::irfft<I/X, K/X>(a, K = 8)); }) ==
          "irfft: n numbers are made of a spectrum of n/2 + 1, but K = 8 was asked for and I = 4; give the number that "
          "os::rfft had, 6 or 7");
    CHECK(t::said_alike([&] {
            static_cast<void>(os::irfft<I/X, K/X>(a, K = -1));
          }).find("irfft: an extent is not negative") == 0);
    CHECK(t::said_alike([&] { static_cast<void>(os::fft<I/X, F5/X>(a)); }) ==
          "fft: the result has 4 numbers along F5, whose static extent is 5; name an axis without a static extent, or "
          "one of this extent");
    CHECK(t::said_alike([&] {
            static_cast<void>(os::fft<I, K>(os::tensor<complex, I, J>()));
          }).find("fft: an operand is an empty") == 0);
  });
}
