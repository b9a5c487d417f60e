// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::fft, ifft, rfft and irfft along several axes at once, and into existing tensors, against sums in long double,
/// axis after axis: axes that are whole, divided, and both, with and without batch axes, in slabs and pencils there and
/// back, in other orders; all small extents, uneven and empty; bytes predicted and counted. The same bits as axis after
/// axis.
// labels: essential
// checked: 2 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/fft.hpp>
#include <ostraka/operations.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
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

OSTRAKA_AXIS(P);
OSTRAKA_AXIS(Q);
OSTRAKA_AXIS(R);

namespace {

using complex = Kokkos::complex<double>;
using float_complex = Kokkos::complex<float>;

/// The letter of the axis that I, J or L becomes.
char made_of(char letter) { return letter == 'I' ? 'P' : letter == 'J' ? 'Q' : 'R'; }

/// The transform along these axes, the last of which is that of real numbers. `e`: the lengths of the transforms.
template <class U, class T>
t::global_tensor<U> by_sums_along(fourier_kind kind, t::global_tensor<T> const& x, std::string const& axes,
                                  t::extents_by_letter const& e) {
  fourier_kind const others = os::complex_kind(kind);
  char const last = axes.back();
  if constexpr (std::is_floating_point_v<U>) {
    auto z = x;
    for (char const a : axes.substr(0, axes.size() - 1)) z = t::by_sums<T>(others, z, a, made_of(a), e.at(a));
    return t::by_sums<U>(kind, z, last, made_of(last), e.at(last));
  } else {
    auto z = t::by_sums<U>(kind, x, last, made_of(last), e.at(last));
    for (char const a : axes.substr(0, axes.size() - 1)) z = t::by_sums<U>(others, z, a, made_of(a), e.at(a));
    return z;
  }
}

/// The extent of the last axis of the call, by the name of what it becomes.
template <char Last>
auto given(std::int64_t n) {
  if constexpr (Last == 'I')
    return P = n;
  else if constexpr (Last == 'J')
    return Q = n;
  else
    return R = n;
}

/// Transforms an A to Result, and counts. `axes`: those of the call, the last of which is `Last`.
template <fourier_kind Kind, char Last, class A, class Result, class Along, auto... To>
void check(t::test_mesh const& m, t::extents_by_letter const& lengths, std::string const& axes) {
  t::extents_by_letter e = lengths;
  if (os::has_real_result(Kind)) e[Last] = e[Last] / 2 + 1;
  INFO(m.text(), os::name_of(Kind), " along ", axes, ": ", t::text_of(lengths));
  std::string letters;
  std::int64_t count = 1;
  for (char const l : t::placement_of<A>().letters) letters += l, count *= std::max<std::int64_t>(e.at(l), 1);
  using U = typename Result::value_type;
  auto const g = t::whole_numbers<typename A::value_type>(letters, e, 3);
  auto const want = by_sums_along<U>(Kind, g, axes, lengths);
  auto const a = t::placed<A>(m, g);
  auto const n = given<Last>(lengths.at(Last));
  auto const got = t::transformed<Kind, Along, To...>(a, n);
  static_assert(std::is_same_v<std::remove_const_t<decltype(got)>, Result>);
  CHECK(t::disagreements(m, got, want, t::close_to<U>(count, 2)) == 0);
  CHECK(t::disagreements(m, a, g) == 0);  // the operand is as before
  std::int64_t const moved = t::traffic_of([&] { static_cast<void>(t::transformed<Kind, Along, To...>(a, n)); }).bytes;
  os::operation::fourier<Kind, Along, os::sharding_of<To...>> const operation{};
  CHECK(t::predicted_bytes(operation, a, n) == (moved + t::ranks() - 1) / t::ranks());

  auto const existing = os::zeros_like(got);
  auto const* const memory = existing.local().data();
  CHECK(t::traffic_of([&] { t::write_transformed<Kind, Result, Along>(existing, a); }).bytes == moved);
  CHECK(existing.local().data() == memory);
  CHECK(t::disagreements(m, existing, want, t::close_to<U>(count, 2)) == 0);
  CHECK(t::disagreements(m, a, g) == 0);
}

template <auto... Dims>
using as = os::sharding_of<Dims...>;

/// There, and of real numbers there and back.
template <char Last, class From, class Result, class Along, auto... To>
void check_layout(t::test_mesh const& m, t::extents_by_letter const& e, std::string const& axes) {
  check<fourier_kind::fft, Last, t::tensor_of<complex, From>, t::tensor_of<complex, Result>, Along, To...>(m, e, axes);
  check<fourier_kind::rfft, Last, t::tensor_of<double, From>, t::tensor_of<complex, Result>, Along, To...>(m, e, axes);
  check<fourier_kind::irfft, Last, t::tensor_of<complex, From>, t::tensor_of<double, Result>, Along, To...>(m, e, axes);
}

/// Calls f(extents) for lengths that are empty, one, even, odd and prime.
template <class F>
void for_extents(F const& f) {
  constexpr std::int64_t lengths[][3] = {{0, 0, 1}, {1, 1, 1}, {2, 3, 1}, {3, 2, 2}, {1, 0, 2},
                                         {0, 3, 2}, {5, 3, 2}, {4, 3, 0}, {2, 1, 3}, {7, 8, 6}};
  for (auto const& n : lengths) f(t::extents_by_letter{{'I', n[0]}, {'J', n[1]}, {'L', n[2]}});
}

}  // namespace

TEST_CASE("axes that are whole") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for_extents([&](t::extents_by_letter const& e) {
      check_layout<'J', as<I, J, L/X>, as<P, Q, L/X>, os::dims<I, J>, P, Q>(m, e, "IJ");
      check_layout<'L', as<I/X, J, L>, as<I/X, Q, R>, os::dims<J, L>, Q, R>(m, e, "JL");
    });
  });
}

TEST_CASE("slabs, there and back") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for_extents([&](t::extents_by_letter const& e) {
      check_layout<'L', as<I/X, J, L>, as<P, Q/X, R>, os::dims<I/X, J, L>, P, Q/X, R>(m, e, "IJL");
      check<fourier_kind::ifft, 'L', os::tensor<complex, I, J/X, L>, os::tensor<complex, P/X, Q, R>,
            os::dims<I, J/X, L>, P/X, Q, R>(m, e, "IJL");
    });
  });
}

TEST_CASE("pencils, there and back") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for_extents([&](t::extents_by_letter const& e) {
      check_layout<'L', as<I/X, J/Y, L>, as<P, Q/X, R/Y>, os::dims<I/X, J/Y, L>, P, Q/X, R/Y>(m, e, "IJL");
      check_layout<'L', as<I, J/X, L/Y>, as<P/X, Q/Y, R>, os::dims<I, J/X, L/Y>, P/X, Q/Y, R>(m, e, "IJL");
    });
  });
}

TEST_CASE("axes of the call in another order, results in another, and divisions that stay") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for_extents([&](t::extents_by_letter const& e) {
      check_layout<'I', as<I/X, J, L>, as<Q/X, P, L>, os::dims<J, I/X>, Q/X, P, L>(m, e, "JI");
      check_layout<'I', as<I/X, J>, as<Q, P/X>, os::dims<J, I/X>, Q, P/X>(m, e, "JI");
      check_layout<'J', as<I/X, J/Y>, as<P/X, Q/Y>, os::dims<I/X, J/Y>, P/X, Q/Y>(m, e, "IJ");
      check_layout<'J', as<I/X, L, J/Y>, as<P/X, L, Q/Y>, os::dims<I/X, J/Y>, P/X, Q/Y>(m, e, "IJ");
      check_layout<'I', as<I, J>, as<P/X, J>, os::dims<I>, P/X, J>(m, e, "I");
    });
  });
}

TEST_CASE("floats, and real numbers as complex ones") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for_extents([&](t::extents_by_letter const& e) {
      check<fourier_kind::fft, 'L', os::tensor<double, I/X, J, L>, os::tensor<complex, P, Q/X, R>,
            os::dims<I/X, J, L>, P, Q/X, R>(m, e, "IJL");
      check<fourier_kind::rfft, 'J', os::tensor<float, I/X, J>, os::tensor<float_complex, P, Q/X>, os::dims<I/X, J>, P,
            Q/X>(m, e, "IJ");
      check<fourier_kind::irfft, 'J', os::tensor<float_complex, I, J/X>, os::tensor<float, P/X, Q>, os::dims<I, J/X>,
            P/X, Q>(m, e, "IJ");
    });
  });
}

TEST_CASE("the same bits as axis after axis, in planes that caches hold and that they do not") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : {t::extents_by_letter{{'I', 9}, {'J', 16}, {'L', 24}},
                                          {{'I', 5}, {'J', 7}, {'L', 30}},
                                          {{'I', 12}, {'J', 2}, {'L', 3}},
                                          {{'I', 7}, {'J', 3}, {'L', 20}},
                                          {{'I', 1}, {'J', 300}, {'L', 512}}}) {
      auto const a = t::placed<os::tensor<complex, I/X, J, L>>(m, t::whole_numbers<complex>("IJL", e, 3));
      auto const at_once = os::fft<os::dims<I/X, J, L>, P, Q/X, R>(a);
      auto const in_turn = os::fft<I/X, P, Q/X, R>(os::fft<J, Q>(os::fft<L, R>(a)));
      std::size_t const bytes = at_once.local().size() * sizeof(complex);
      CHECK((bytes == 0 || std::memcmp(t::host_block(at_once).data(), t::host_block(in_turn).data(), bytes) == 0));
    }
  });
}

TEST_CASE("temporaries, parts of sums, and blocks of a body") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for_extents([&](t::extents_by_letter const& e) {
      auto const g = t::whole_numbers<complex>("IJL", e, 4);
      auto const want = by_sums_along<complex>(fourier_kind::fft, g, "JL", e);
      std::int64_t const count = 64;
      auto alone = t::placed<os::tensor<complex, I/X, J, L>>(m, g);
      auto const* const memory = alone.local().data();
      bool const has_elements = alone.local().size() > 0;
      auto const y = os::fft<os::dims<J, L>, Q, R>(std::move(alone));
      if (has_elements) CHECK(y.local().data() == memory);
      CHECK(t::disagreements(m, y, want, t::close_to<complex>(count, 2)) == 0);

      auto const parts = t::placed<os::tensor<complex, I/X, J, L, os::partial(Y)>>(m, g);
      CHECK(t::disagreements(m, os::fft<os::dims<I / X, J>, P / X, Q>(parts),
                             by_sums_along<complex>(fourier_kind::fft, g, "IJ", e),
                             t::close_to<complex>(count, 2)) == 0);

      auto const real = t::whole_numbers<double>("IJL", e, 5);
      auto const spectrum = by_sums_along<complex>(fourier_kind::rfft, real, "IJ", e);
      auto const half = os::shard_map<P, Q, L/X>(
          [](auto const& block) { return os::rfft<os::dims<I, J>, P, Q>(block); },
          t::placed<os::tensor<double, I, J, L/X>>(m, real));
      CHECK(t::disagreements(m, half, spectrum, t::close_to<complex>(count, 2)) == 0);
      std::int64_t const j = e.at('J');
      auto const back = os::shard_map<I, J, L/X>(
          [&](auto const& block) { return os::irfft<os::dims<P, Q>, I, J>(block, J = j); }, half);
      if (e.at('I') > 0 && j > 0) CHECK(t::disagreements(m, back, real, t::close_to<double>(count, 2)) == 0);
    });
  });
}

TEST_CASE("wrong lengths and destinations are reported alike") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 4}, {'J', 3}};
    auto const a = t::placed<os::tensor<complex, I/X, J>>(m, t::whole_numbers<complex>("IJ", e, 1));
    CHECK(t::said_alike([&] { static_cast<void>(os::irfft<os::dims<I/X, J>, P, Q/X>(a, Q = 8)); }) ==
          "irfft: n numbers are made of a spectrum of n/2 + 1, but Q = 8 was asked for and J = 3; give the number that "
          "os::rfft had, 4 or 5");
    auto const other = t::placed<os::tensor<complex, P, Q/X>>(
        m, t::whole_numbers<complex>("PQ", {{'P', 4}, {'Q', 5}}, 1));
    CHECK(t::said_alike([&] { os::fft_into<os::dims<I/X, J>>(other, a); }) ==
          "fft: the result has 3 numbers along Q, but the tensor that it is written to has 5; make that one with the "
          "extents of the result");
    CHECK(t::said_alike([&] {
            os::fft_into<os::dims<I/X, J>>(os::tensor<complex, P, Q/X>(), a);
          }).find("fft: an operand is an empty") == 0);
    auto const whole = t::placed<os::tensor<complex, I, J/X>>(m, t::whole_numbers<complex>("IJ", e, 1));
    auto const text = t::said_alike([&] { os::fft_into<I>(whole, whole); });
    CHECK(text.find("fft: the result is written while the operands are read, but it shares memory") == 0);
  });
}
