// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// The generator against its published known answers, and the values made from its words.
// ranks: 1
#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

#include <ostraka/engine/kernels/numbers/philox.hpp>

namespace {

using namespace ostraka::engine;

void check_answer(philox_words counter, std::uint32_t key0, std::uint32_t key1, philox_words expected) {
  philox_words const words = philox4x32(counter, key0, key1);
  for (int i = 0; i < 4; ++i) CHECK(words.word[i] == expected.word[i]);
}

template <class T>
double mean_of(std::uint64_t seed, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += static_cast<double>(random_value<T>(seed, static_cast<std::uint64_t>(i)));
  return sum / count;
}

}  // namespace

TEST_CASE("known answers of Philox4x32-10") {
  constexpr std::uint32_t ones = 0xffffffffu;
  check_answer({{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}});
  check_answer({{ones, ones, ones, ones}}, ones, ones, {{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}});
  check_answer({{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, 0xa4093822u, 0x299f31d0u,
               {{0xd16cfe09u, 0x94fdcceb, 0x5001e420u, 0x24126ea1u}});
}

TEST_CASE("values are made of the words as documented") {
  // seed 0, element 0: the first known answer
  CHECK(random_value<float>(0, 0) == static_cast<float>(0x6627e8d5u >> 8) / 16777216.0f);
  CHECK(random_value<double>(0, 0) ==
        (double(0x6627e8d5u >> 5) * 67108864.0 + double(0xe169c58du >> 6)) / 9007199254740992.0);
  Kokkos::complex<float> const z = random_value<Kokkos::complex<float>>(0, 0);
  CHECK(z.real() == static_cast<float>(0x6627e8d5u >> 8) / 16777216.0f);
  CHECK(z.imag() == static_cast<float>(0xbc57ac4cu >> 8) / 16777216.0f);
  Kokkos::complex<double> const w = random_value<Kokkos::complex<double>>(0, 0);
  CHECK(w.real() == random_value<double>(0, 0));
  CHECK(w.imag() == (double(0xbc57ac4cu >> 5) * 67108864.0 + double(0x9b00dbd8u >> 6)) / 9007199254740992.0);
  CHECK(random_value<std::int32_t>(0, 0) == 39);  // 0x6627e8d5 / 2^32 = 0.399…
  CHECK(random_value<std::int64_t>(0, 0) == 39);
}

TEST_CASE("both halves of the seed and of the index count") {
  double const base = random_value<double>(5, 9);
  CHECK(random_value<double>(5, 9) == base);
  CHECK(random_value<double>(6, 9) != base);
  CHECK(random_value<double>(5 + (std::uint64_t(1) << 32), 9) != base);
  CHECK(random_value<double>(5, 10) != base);
  CHECK(random_value<double>(5, 9 + (std::uint64_t(1) << 32)) != base);
}

TEST_CASE("ranges and means") {
  std::vector<int> hits(100, 0);
  for (std::uint64_t i = 0; i < 20000; ++i) {
    float const f = random_value<float>(1, i);
    double const d = random_value<double>(1, i);
    std::int64_t const n = random_value<std::int64_t>(1, i);
    REQUIRE((f >= 0 && f < 1 && d >= 0 && d < 1 && n >= 0 && n < 100));
    ++hits[static_cast<std::size_t>(n)];
  }
  for (int h : hits) CHECK(std::abs(h - 200) < 100);  // seven standard deviations
  CHECK(std::abs(mean_of<float>(2, 20000) - 0.5) < 0.01);
  CHECK(std::abs(mean_of<double>(3, 20000) - 0.5) < 0.01);
  CHECK(std::abs(mean_of<std::int32_t>(4, 20000) - 49.5) < 1);
}
