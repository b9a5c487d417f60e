// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Elements that are converted while they are loaded: every pattern of 8 and 16 bits, by plain arithmetic, into every
/// type; each device reads the file's bytes of its blocks, in rounds of any size. Nothing is converted unasked.
// ranks: 1 2 4
// gpu: 2
// labels: essential

#include <doctest/doctest.h>

#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/files.hpp>
#include <ostraka/tree.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "files/failing.hpp"
#include "files/plain_safetensors.hpp"
#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using t::mesh_of;
using t::said_alike;
using t::says;

namespace {

template <class L>
struct patterns {
  os::leaf<L, float, I / X> e4m3, e5m2;
  os::leaf<L, float, J / X / Y> f16, bf16;
};

// A pattern with so many bits of the exponent and of the fraction, as IEEE 754 says, or E4M3 without infinities.
double value_of(std::uint32_t pattern, int exponent_bits, int fraction_bits) {
  bool const has_infinity = exponent_bits != 4;
  std::uint32_t const sign = pattern >> (exponent_bits + fraction_bits) & 1u;
  std::uint32_t const exponent = pattern >> fraction_bits & ((1u << exponent_bits) - 1);
  std::uint32_t const fraction = pattern & ((1u << fraction_bits) - 1);
  int const bias = (1 << (exponent_bits - 1)) - 1;
  bool const last = exponent == (1u << exponent_bits) - 1;
  double v = 0;
  if (has_infinity && last)
    v = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  else if (last && fraction == (1u << fraction_bits) - 1)
    v = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    v = std::ldexp(fraction, 1 - bias - fraction_bits);
  else
    v = std::ldexp((1u << fraction_bits) + fraction, static_cast<int>(exponent) - bias - fraction_bits);
  return std::copysign(v, sign != 0 ? -1.0 : 1.0);
}

// All patterns of so many bytes, one behind the other.
std::string all_patterns(int bytes) {
  std::string s;
  for (std::uint32_t p = 0; p < 1u << 8 * bytes; ++p)
    for (int byte = 0; byte < bytes; ++byte) s += static_cast<char>(p >> 8 * byte & 0xFF);
  return s;
}

std::string file_of_patterns() {
  return t::plain_safetensors({{"f16", "F16", {1 << 16}, all_patterns(2)},
                               {"bf16", "BF16", {1 << 16}, all_patterns(2)},
                               {"e4m3", "F8_E4M3", {1 << 8}, all_patterns(1)},
                               {"e5m2", "F8_E5M2", {1 << 8}, all_patterns(1)}});
}

// The same number, zeros of the same sign, or both NaN, of the same sign.
bool same(double a, double b) {
  return std::signbit(a) == std::signbit(b) && (a == b || (std::isnan(a) && std::isnan(b)));
}

// The wrong elements on this device of a tensor that is to hold all patterns as values; only the values that its type
// has, if it lacks some.
template <class A>
std::int64_t wrong(A const& a, int exponent_bits, int fraction_bits) {
  using type = typename A::value_type;
  std::int64_t found = 0;
  auto const read = t::read_elements<type>(a.local().data(), a.local().size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    double const wanted = value_of(static_cast<std::uint32_t>(a.range(0).begin + static_cast<std::int64_t>(i)),
                                   exponent_bits, fraction_bits);
    bool const has_it = same(static_cast<double>(type(wanted)), wanted);
    found += has_it && !same(static_cast<double>(read[i]), wanted);
    found += !has_it && !same(static_cast<double>(read[i]), static_cast<double>(type(static_cast<float>(wanted))));
  }
  return found;
}

template <class Tree>
void check(Tree const& p) {
  CHECK(wrong(p.e4m3, 4, 3) == 0);
  CHECK(wrong(p.e5m2, 5, 2) == 0);
  CHECK(wrong(p.f16, 5, 10) == 0);
  CHECK(wrong(p.bf16, 8, 7) == 0);
}

template <class Tree>
std::int64_t bytes_in_file(Tree const& p) {
  return std::int64_t(p.e4m3.local().size() + p.e5m2.local().size() + 2 * p.f16.local().size() +
                      2 * p.bf16.local().size());
}

template <class U>
void load_as(t::test_mesh const& m, t::scratch_file const& file, std::int64_t header) {
  auto const before = os::engine::traffic_of_files.read;
  auto const p = os::load<patterns<os::values_of<U>>>(file.path(), mesh_of(m), os::cast_to<U>);
  CHECK(os::engine::traffic_of_files.read - before == bytes_in_file(p) + (m.handle()->device() == 0 ? header : 0));
  check(p);
}

// Files of one tensor without names: the array `text` of `dtype`, loaded as U.
template <class U, class T>
std::vector<U> loaded(t::test_mesh const& m, t::scratch_file const& npy, std::string const& descr,
                      std::vector<T> values) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + std::to_string(values.size()) + ",), }";
  header.resize(118, ' ');
  npy.write(std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + t::bytes_of_values(values));
  auto const a = os::load<U, I>(npy.path(), mesh_of(m), os::cast_to<U>);
  return t::read_elements<U>(a.local().data(), a.local().size());
}

}  // namespace

TEST_CASE("every pattern of 8 and 16 bits, on every mesh, in rounds of any size") {
  t::scratch_file const file("model.safetensors");
  file.write(file_of_patterns());
  auto const header = static_cast<std::int64_t>(file.bytes().size()) - (2 * 2 * 65536 + 2 * 256);
  auto const usual = os::engine::file_round_bytes;
  for (std::int64_t const round : {usual, std::int64_t{100'000}, std::int64_t{20'000}}) {
    os::engine::file_round_bytes = round;
    t::on_every_mesh([&](t::test_mesh const& m) {
      CAPTURE(m.text());
      load_as<float>(m, file, header);
      if (round != usual) return;
      load_as<double>(m, file, header);
      load_as<os::float16>(m, file, header);
      load_as<os::bfloat16>(m, file, header);
      auto const there = os::make_tree<patterns>(mesh_of(m), I = 256, J = 65536);
      os::load_into(there, file.path(), os::cast_to<double>, os::cast_to<float>);
      check(there);
    });
  }
  os::engine::file_round_bytes = usual;
}

TEST_CASE("to the nearest number, rounded once; of .npy files, too") {
  t::scratch_file const npy("a.npy");
  t::test_mesh const m(t::mesh_shapes().front());
  double const inf = std::numeric_limits<double>::infinity();
  // Between 1 and the next numbers of float16, 1 + 2^-10, and of bfloat16, 1 + 2^-7, are ties; a little more is none.
  double const mid = std::ldexp(1, -11), little = std::ldexp(1, -40);
  auto const f16 = loaded<os::float16>(m, npy, "<f8",
                                       std::vector<double>{1 + mid, 1 + 3 * mid, 1 + mid + little, 65520, -65519, 1e300,
                                                           std::ldexp(1, -25), std::ldexp(3, -25)});
  std::vector<std::uint16_t> const f16_bits = {0x3C00, 0x3C02, 0x3C01, 0x7C00, 0xFBFF, 0x7C00, 0, 2};
  REQUIRE(f16.size() == f16_bits.size());
  for (std::size_t i = 0; i < f16.size(); ++i) CHECK(f16[i].bits() == f16_bits[i]);

  float const tie = std::ldexp(1.0f, -8);
  auto const bf16 = loaded<os::bfloat16>(
      m, npy, "<f4", std::vector<float>{1 + tie, 1 + 3 * tie, -3.4e38f, 3.4028235e38f, std::ldexp(1.0f, -140)});
  std::vector<std::uint16_t> const bf16_bits = {0x3F80, 0x3F82, 0xFF80, 0x7F80, 0};
  REQUIRE(bf16.size() == bf16_bits.size());
  for (std::size_t i = 0; i < bf16.size(); ++i) CHECK(bf16[i].bits() == bf16_bits[i]);

  auto const floats =
      loaded<float>(m, npy, "<f8", std::vector<double>{0.1, 1e300, -inf, 1 + std::ldexp(1, -24), std::ldexp(1, -149)});
  CHECK(floats == std::vector<float>{0.1f, std::numeric_limits<float>::infinity(),
                                     -std::numeric_limits<float>::infinity(), 1.0f,
                                     std::numeric_limits<float>::denorm_min()});
  // 1.5 and −2 of two bytes each, the most significant one first
  CHECK(loaded<double>(m, npy, ">f2", std::vector<std::uint16_t>{0x003E, 0x00C0}) == std::vector<double>{1.5, -2});
}

TEST_CASE("what is not asked for is not converted") {
  t::scratch_file const file("model.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const with = [&](std::string const& dtype, std::int64_t bytes) {
      file.write(t::plain_safetensors({{"w", dtype, {2, 3}, std::string(static_cast<std::size_t>(6 * bytes), '\0')}}));
    };
    auto const said = [&](auto... options) {
      return said_alike([&] { static_cast<void>(os::load<t::smaller>(file.path(), mesh_of(m), options...)); });
    };
    std::string const begin = "load: w in " + file.path() + " has elements ";
    with("BF16", 2);
    CHECK(said() ==
          begin +
              "BF16, and F32 are asked for; floating-point numbers are converted by os::cast_to among the arguments "
              "(the leaf w)");
    CHECK(said(os::cast_to<double>).starts_with(begin + "BF16, and F32 are asked for; floating"));
    CHECK(said(os::cast_to<float>) == "nothing");
    for (auto const& [dtype, bytes] : std::vector<std::pair<std::string, std::int64_t>>{
             {"I64", 8}, {"I32", 4}, {"U8", 1}, {"BOOL", 1}, {"C64", 8}, {"F8_E4M3FNUZ", 1}, {"F8_E8M0", 1}}) {
      with(dtype, bytes);
      CHECK(said(os::cast_to<float>) ==
            begin + dtype +
                ", and F32 are asked for; nothing is converted, so load them as they are and os::cast (the leaf w)");
    }
    with("F32", 4);
    CHECK(said(os::cast_to<os::bfloat16>) == "nothing");
  });
}
