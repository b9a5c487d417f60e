// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::zeros, ones, full, generate, random and from_local, os::zeros_like and os::copy. A[I_X, J_Y] holds the same
/// numbers on every mesh.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/on_meshes.hpp"

OSTRAKA_AXIS(D, 6);
OSTRAKA_AXIS(E, 4);

namespace os = ostraka;
namespace t = os::testing;

namespace {

// Runs f(mesh of the library, the same worked out here) for meshes made by name.
template <class F>
void on_named_meshes(F&& f) {
  for (t::mesh_shape const& s : t::mesh_shapes()) {
    if (s.axes == "XYZ") f(os::make_mesh(X = s.sizes[0], Y = s.sizes[1], Z = s.sizes[2]), t::test_mesh(s));
    if (s.axes == "ZYX") f(os::make_mesh(Z = s.sizes[0], Y = s.sizes[1], X = s.sizes[2]), t::test_mesh(s));
  }
}

using words = std::array<std::uint32_t, 4>;

// Philox4x32-10, written from the description in Salmon et al. (SC 2011), section 3.3.
words philox(words counter, std::array<std::uint32_t, 2> key) {
  auto const product = [](std::uint32_t a, std::uint32_t b) { return static_cast<std::uint64_t>(a) * b; };
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const left = product(3528531795u, counter[0]);
    std::uint64_t const right = product(3449720151u, counter[2]);
    words next{};
    next[0] = static_cast<std::uint32_t>(right >> 32) ^ counter[1] ^ key[0];
    next[1] = static_cast<std::uint32_t>(right & 0xffffffffu);
    next[2] = static_cast<std::uint32_t>(left >> 32) ^ counter[3] ^ key[1];
    next[3] = static_cast<std::uint32_t>(left & 0xffffffffu);
    counter = next;
    key[0] += 2654435769u;
    key[1] += 3144134277u;
  }
  return counter;
}

template <class T>
T random_number(words const& w, std::size_t at = 0) {
  if constexpr (std::is_same_v<T, float>)
    return std::ldexp(static_cast<float>(w[at] >> 8), -24);
  else if constexpr (std::is_same_v<T, double>)
    return std::ldexp(static_cast<double>((static_cast<std::uint64_t>(w[at] >> 5) << 26) + (w[at + 1] >> 6)), -53);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(w[0]) * 100 / 4294967296u);
  else
    return T(random_number<typename T::value_type>(w, 0), random_number<typename T::value_type>(w, 2));
}

template <class T>
t::global_tensor<T> random_numbers(std::string const& labels, t::extents_by_letter const& e, std::uint64_t seed) {
  t::global_tensor<T> g{labels, e, {}};
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(t::number_of_elements(labels, e)); ++i)
    g.values.push_back(
        random_number<T>(philox({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32), 0, 0},
                                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)})));
  return g;
}

template <class T>
void check_random() {
  on_named_meshes([](auto const& mesh, t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const a = os::random<T, I/X, J/Y>(mesh, I = e.at('I'), J = e.at('J'));
      auto const b = os::random<T, I, J/Z/X>(mesh, os::seed(0x123456789abcdefu), t::named(e));
      auto const c = os::random<T, K>(mesh, K = e.at('K'), os::seed(7));
      CHECK(t::disagreements(m, a, random_numbers<typename decltype(a)::value_type>("IJ", e, 0)) == 0);
      CHECK(t::disagreements(m, b, random_numbers<typename decltype(b)::value_type>("IJ", e, 0x123456789abcdefu)) == 0);
      CHECK(t::disagreements(m, c, random_numbers<typename decltype(c)::value_type>("K", e, 7)) == 0);
    }
  });
}

}  // namespace

TEST_CASE("the test's own Philox gives the published words") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE_TEMPLATE("random", T, float, double, std::complex<float>, Kokkos::complex<double>, std::int32_t,
                   std::int64_t) {
  check_random<T>();
}

TEST_CASE("zeros") {
  on_named_meshes([](auto const& mesh, t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const a = os::zeros<double, I/X, J/Y>(mesh, t::named(e));
      auto const b = os::zeros<os::tensor<std::int32_t, I, os::partial(X)>>(mesh, I = e.at('I'));
      auto const scalar = os::zeros<float>(mesh);
      CHECK(t::disagreements(m, a, {"IJ", e, std::vector<double>(static_cast<std::size_t>(e.at('I') * e.at('J')))}) ==
            0);
      CHECK(t::disagreements(m, b, {"I", e, std::vector<std::int32_t>(static_cast<std::size_t>(e.at('I')))}) == 0);
      CHECK(t::host_block(scalar)() == 0);
      CHECK(a.extent(J) == e.at('J'));
      CHECK(a.global_offset(I) == t::block_on<decltype(a)>(m, e, t::rank())[0].begin);
    }
  });
}

TEST_CASE("ones and full") {
  on_named_meshes([](auto const& mesh, t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const n = static_cast<std::size_t>(e.at('I') * e.at('J'));
      CHECK(t::disagreements(m, os::ones<double, I/X, J/Y>(mesh, t::named(e)), {"IJ", e, std::vector<double>(n, 1)}) ==
            0);
      CHECK(t::disagreements(m, os::full<float, I, J/X/Y>(mesh, I = e.at('I'), J = e.at('J'), 2.5),
                             {"IJ", e, std::vector<float>(n, 2.5f)}) == 0);
      CHECK(t::disagreements(m, os::full<std::int64_t, I/Z, J>(mesh, t::named(e), -3),
                             {"IJ", e, std::vector<std::int64_t>(n, -3)}) == 0);
      CHECK(t::disagreements(
                m, os::full<os::tensor<std::complex<float>, J/X>>(mesh, J = e.at('J'), std::complex<double>(1, 2)),
                {"J", e, std::vector<Kokkos::complex<float>>(static_cast<std::size_t>(e.at('J')), {1, 2})}) == 0);
    }
    CHECK(t::host_block(os::ones<os::bfloat16>(mesh))() == os::bfloat16(1));
    CHECK(t::host_block(os::full<os::float16>(mesh, 0.5))() == os::float16(0.5));
    CHECK(t::host_block(os::full<Kokkos::complex<double>>(mesh, 2))() == Kokkos::complex<double>(2, 0));
    CHECK(t::host_block(os::full<std::int32_t>(mesh, 7))() == 7);
  });
}

TEST_CASE("a whole number that elements cannot hold is an error, not another number") {
  auto const mesh = os::make_mesh(X = t::ranks());
  CHECK_THROWS_WITH_AS(
      (static_cast<void>(os::full<std::int32_t, I / X>(mesh, I = 4, 5'000'000'000))),
      "full: a number that meets integers has to be in their range, from -2147483648 to 2147483647, but it is "
      "5000000000; use a wider element type",
      os::error);
  CHECK_THROWS_AS((static_cast<void>(os::full<std::int32_t>(mesh, 4294967295u))), os::error);
  CHECK_THROWS_AS((static_cast<void>(os::full<std::int64_t>(mesh, ~0ull))), os::error);
  CHECK(t::host_block(os::full<std::int32_t>(mesh, std::int64_t{-2147483647} - 1))() ==
        std::numeric_limits<std::int32_t>::lowest());
  CHECK(t::host_block(os::full<std::int64_t>(mesh, 9'223'372'036'854'775'807ull))() ==
        std::numeric_limits<std::int64_t>::max());
  CHECK(t::host_block(os::full<std::int32_t>(mesh, true))() == 1);

  auto const a = os::ones<std::int32_t, I/X>(mesh, I = 4);
  auto const c = os::zeros_like(a);
  t::traffic moved = t::traffic_of([&] {
    CHECK_THROWS_AS(static_cast<void>(os::add(a, 4'294'967'297ull)), os::error);
    CHECK_THROWS_AS(static_cast<void>(os::scale(-4'294'967'295, a)), os::error);
    CHECK_THROWS_AS(os::einsum_into(c, a, os::alpha = 4'294'967'297), os::error);
    CHECK_THROWS_AS(os::einsum_into(c, a, os::beta = 4'294'967'297), os::error);
  });
  CHECK(moved.calls == 0);
}

TEST_CASE("zeros_like") {
  on_named_meshes([](auto const& mesh, t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const a = os::random<double, I/X, J/Y>(mesh, t::named(e));
      auto const b = os::zeros_like(a);
      static_assert(std::is_same_v<decltype(a), decltype(b)>);
      CHECK(t::disagreements(m, b, {"IJ", e, std::vector<double>(static_cast<std::size_t>(e.at('I') * e.at('J')))}) ==
            0);
      CHECK(t::disagreements(m, a, random_numbers<double>("IJ", e, 0)) == 0);
    }
  });
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::zeros_like(os::tensor<float, I>())),
      "zeros_like: an operand is an empty handle; make it with os::zeros, os::generate, … or assign a tensor to it "
      "first",
      os::error);
}

TEST_CASE("copy is deep") {
  on_named_meshes([](auto const& mesh, t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const a = os::random<double, I/X, J/Y>(mesh, t::named(e));
      auto const b = os::copy(a);
      static_assert(std::is_same_v<decltype(a), decltype(b)>);
      Kokkos::deep_copy(a.local(), -1.0);
      CHECK(t::disagreements(m, b, random_numbers<double>("IJ", e, 0)) == 0);
      // Parts stay parts.
      using partial = os::tensor<std::int32_t, I, os::partial(X)>;
      auto const g = t::whole_numbers<std::int32_t>("I", e, 5);
      CHECK(t::disagreements(m, os::copy(t::placed<partial>(m, g)), g) == 0);
    }
    auto const scalar = os::full<float>(mesh, 2.5);
    auto const copied = os::copy(scalar);
    Kokkos::deep_copy(scalar.local(), 0);
    CHECK(os::value(copied) == 2.5f);
  });
  CHECK_THROWS_AS(static_cast<void>(os::copy(os::tensor<float, I>())), os::error);
}

TEST_CASE("generate") {
  on_named_meshes([](auto const& mesh, t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      t::global_tensor<std::int64_t> wanted{"JIK", e, {}};
      t::for_each_index("JIK", e, [&](t::extents_by_letter const& at) {
        wanted.values.push_back(at.at('J') * 10000 + at.at('I') * 100 + at.at('K'));
      });
      auto const f = KOKKOS_LAMBDA(std::int64_t j, std::int64_t i, std::int64_t k) { return j * 10000 + i * 100 + k; };
      auto const a = os::generate<std::int64_t, J/X, I, K/Y>(mesh, K = e.at('K'), J = e.at('J'), I = e.at('I'),
                                                             f);  // in any order
      auto const b = os::generate<std::int64_t, J, I/Z/Y/X, K>(mesh, t::named(e), f);
      CHECK(t::disagreements(m, a, wanted) == 0);
      CHECK(t::disagreements(m, b, wanted) == 0);
    }
    CHECK(t::host_block(os::generate<float>(
              mesh, KOKKOS_LAMBDA() { return 2.5f; }))() == 2.5f);
  });
}

TEST_CASE("static extents") {
  auto const mesh = os::make_mesh(X = t::ranks());
  CHECK(os::zeros<float, D/X, E>(mesh).extent(D) == 6);
  CHECK(os::zeros<float, D/X, I>(mesh, I = 3, D = 6).extent(I) == 3);
  CHECK(os::random<float, D>(mesh, os::sizes(I = 3, D = 6)).local().extent(0) == 6);
  CHECK_THROWS_WITH_AS(static_cast<void>(os::zeros<float, D/X, I>(mesh, I = 3, D = 5)),
                       "zeros: the axis D has the static extent 6, but 5 was given; leave it out or give that extent",
                       os::error);
  CHECK_THROWS_WITH_AS(static_cast<void>(os::random<float, I>(mesh, I = -1)),
                       "random: an extent is not negative, but I = -1 was given; give 0 for an empty axis", os::error);
}

TEST_CASE("from_local shares memory") {
  on_named_meshes([](auto const& mesh, t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      using tensor = os::tensor<double, I/X, J/Y>;
      auto const g = t::whole_numbers<double>("IJ", e, 22);
      auto const source = t::placed<tensor>(m, g);
      tensor::view_type const mine("mine", source.local().extent(0), source.local().extent(1));
      auto const a = os::from_local<double, I/X, J/Y>(mesh, I = e.at('I'), J = e.at('J'), mine);
      auto const b = os::from_local<tensor>(mesh, t::named(e), mine);
      Kokkos::deep_copy(mine, source.local());
      CHECK(static_cast<void const*>(a.local().data()) == static_cast<void const*>(mine.data()));
      CHECK(t::disagreements(m, a, g) == 0);
      CHECK(t::disagreements(m, os::reshard<I, J/X>(b), g) == 0);
    }
  });
}

TEST_CASE("from_local: two rows that lie column-major on one device throw on all of them") {
  auto const mesh = os::make_mesh(X = t::ranks());
  int const n = t::ranks();
  Kokkos::View<float**, Kokkos::LayoutLeft> const mine("mine", t::rank() == n - 1 ? 2 : 1, 4);
  std::string const text =
      "from_local: a block lies row-major without gaps, but the view of device " + std::to_string(n - 1) +
      " is a part of a larger one, padded, or in another order; copy it with os::copy_from_local, or adopt what lies "
      "in another order as a tensor of the axes in that order, with os::in_order<…>(view)";
  CHECK_THROWS_WITH_AS(static_cast<void>(os::from_local<float, I/X, J>(mesh, I = n + 1, J = 4, mine)), text.c_str(),
                       os::error);
}

TEST_CASE("from_local: a view with gaps on one device throws on all of them") {
  auto const mesh = os::make_mesh(X = t::ranks());
  int const n = t::ranks();
  using tensor = os::tensor<float, I/X, J>;
  for (int culprit : {0, n - 1}) {
    tensor::view_type const larger("larger", 2, 8), dense("dense", 2, 4);
    tensor::view_type const mine =
        t::rank() == culprit ? tensor::view_type(Kokkos::subview(larger, Kokkos::ALL, std::pair(2, 6))) : dense;
    std::string const text =
        "from_local: a block lies row-major without gaps, but the view of device " + std::to_string(culprit) +
        " is a part of a larger one, padded, or in another order; copy it with os::copy_from_local, or adopt what "
        "lies in another order as a tensor of the axes in that order, with os::in_order<…>(view)";
    CHECK_THROWS_WITH_AS(static_cast<void>(os::from_local<tensor>(mesh, I = 2 * n, J = 4, mine)), text.c_str(),
                         os::error);
  }
  tensor::view_type const larger("larger", 8, 8);  // whole rows of a larger view have no gaps; nor has a single one
  CHECK(os::from_local<tensor>(mesh, I = 2 * n, J = 8,
                               tensor::view_type(Kokkos::subview(larger, std::pair(2, 4), Kokkos::ALL)))
            .extent(J) == 8);
  CHECK(os::from_local<tensor>(mesh, I = n, J = 4,
                               tensor::view_type(Kokkos::subview(larger, std::pair(2, 3), std::pair(1, 5))))
            .extent(J) == 4);
}

TEST_CASE("from_local: a wrong view on one device throws on all of them") {
  auto const mesh = os::make_mesh(X = t::ranks());
  int const n = t::ranks();
  for (int culprit : {0, n - 1}) {
    using tensor = os::tensor<float, I/X, J>;
    tensor::view_type const mine("mine", 2, t::rank() == culprit ? 4 : 3);
    std::string const text =
        "from_local: each view has the extents of its device's block, but that of device " + std::to_string(culprit) +
        " has not; device " + std::to_string(culprit) +
        " holds 3 elements along dimension 1 and its view has 4; "
        "device d of p holds [floor(d*n/p), floor((d+1)*n/p)) of an extent n";
    CHECK_THROWS_WITH_AS(static_cast<void>(os::from_local<tensor>(mesh, I = 2 * n, J = 3, mine)), text.c_str(),
                         os::error);
  }
  os::tensor<float, I/X, J>::view_type const right("right", 2, 3);
  CHECK(os::from_local<float, I/X, J>(mesh, I = 2 * n, J = 3, right).extent(I) == 2 * n);  // no rank is left behind
}
