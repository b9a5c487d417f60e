// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensors and trees into files and out of them, on every mesh and from one mesh to another. The contents of a file are
/// read byte by byte, by hand.
// ranks: 1 2 4 6
// gpu: 2
// labels: essential

#include <doctest/doctest.h>

#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/files.hpp>
#include <ostraka/meshes/make_mesh.hpp>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using mesh_of_test = os::mesh<X_mesh, Y_mesh, Z_mesh>;

mesh_of_test mesh_of(t::test_mesh const& m) { return mesh_of_test(m.handle()); }

// The elements of a whole tensor as they stand in a file.
template <class T>
std::string bytes_of(t::global_tensor<T> const& g) {
  std::string bytes;
  for (T const& v : g.values) {
    char one[sizeof(T)];
    std::memcpy(one, static_cast<void const*>(&v), sizeof(T));
    bytes.append(one, sizeof(T));
  }
  return bytes;
}

// One mesh saves, and all load, under this sharding and another.
template <class From, class To>
void npy_round_trips(char const* descr, t::extents_by_letter const& extents) {
  using value = typename From::value_type;
  auto const g = t::whole_numbers<value>(t::letters_in<From>(), extents, 3);
  std::string shape;
  for (char l : g.labels) shape += (shape.empty() ? "" : ", ") + std::to_string(extents.at(l));
  if (g.labels.size() == 1) shape += ",";
  std::string header = std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.resize(117, ' ');
  std::string const wanted = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + '\n' + bytes_of(g);
  t::scratch_file const file("a.npy");
  t::on_every_mesh([&](t::test_mesh const& m) {
    CAPTURE(m.text());
    CAPTURE(t::text_of(extents));
    os::save(file.path(), t::placed<From>(m, g));
    CHECK(file.bytes() == wanted);
  });
  t::on_every_mesh([&](t::test_mesh const& m) {  // all meshes wrote the same file: each reads it once
    CAPTURE(m.text());
    CAPTURE(t::text_of(extents));
    CHECK(t::disagreements(m, os::load<From>(file.path(), mesh_of(m)), g) == 0);
    CHECK(t::disagreements(m, os::load<To>(file.path(), mesh_of(m)), g) == 0);
    auto const again = t::placed<To>(m, t::whole_numbers<value>(g.labels, extents, 4));
    os::load_into(again, file.path());
    CHECK(t::disagreements(m, again, g) == 0);
  });
}

// A file of another program: any header, and bytes.
std::string npy(std::string const& dictionary, std::string const& data) {
  std::string s("\x93NUMPY\x02\0", 8);
  for (int byte = 0; byte < 4; ++byte) s += static_cast<char>(dictionary.size() >> 8 * byte & 0xFF);
  return s + dictionary + data;
}

// Numbers of so many bytes in the other order.
std::string swapped(std::string bytes, std::size_t number) {
  for (std::size_t at = 0; at < bytes.size(); at += number)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + number));
  return bytes;
}

}  // namespace

TEST_CASE("a tensor in an .npy file, under any sharding") {
  for (t::extents_by_letter const& e : t::usual_extents()) {
    npy_round_trips<os::tensor<float, I/X, J/Y>, os::tensor<float, I, J/Y/X>>("<f4", e);
    npy_round_trips<os::tensor<std::int8_t, J/Z/X, I, K/Y>, os::tensor<std::int8_t, J, I/X, K>>("|i1", e);
  }
}

TEST_CASE("in rounds of a few bytes") {
  std::int64_t const usual = os::engine::file_round_bytes;
  for (std::int64_t const bytes : {1, 12, 100}) {
    os::engine::file_round_bytes = bytes;
    npy_round_trips<os::tensor<std::int16_t, I/X, J/Y, K>, os::tensor<std::int16_t, I, J/X, K/Y>>(
        "<i2", {{'I', 5}, {'J', 3}, {'K', 4}});
  }
  os::engine::file_round_bytes = usual;
}

TEST_CASE("elements of other types") {
  t::extents_by_letter const e = {{'I', 5}, {'J', 3}};
  npy_round_trips<os::tensor<double, I/X, J>, os::tensor<double, I, J/Y>>("<f8", e);
  npy_round_trips<os::tensor<os::float16, I/X, J>, os::tensor<os::float16, I/Y, J>>("<f2", e);
  npy_round_trips<os::tensor<os::bfloat16, I/X, J>, os::tensor<os::bfloat16, I/Y, J>>("<V2", e);
  npy_round_trips<os::tensor<std::int64_t, I/X>, os::tensor<std::int64_t, I>>("<i8", e);
  npy_round_trips<os::tensor<std::int32_t, I/X>, os::tensor<std::int32_t, I/Y/X>>("<i4", e);
  npy_round_trips<os::tensor<std::complex<double>, I/X, J>, os::tensor<std::complex<double>, I, J/X>>("<c16", e);
}

TEST_CASE("a scalar, on all devices") { npy_round_trips<os::tensor<float>, os::tensor<float>>("<f4", {}); }

TEST_CASE("a file of another program: columns first, most significant bytes first") {
  t::extents_by_letter const e = {{'I', 5}, {'J', 3}, {'K', 4}};
  auto const g = t::whole_numbers<double>("IJK", e, 5);
  t::global_tensor<double> turned{"KJI", e, {}};
  t::for_each_index("KJI", e,
                    [&](t::extents_by_letter const& at) { turned.values.push_back(g.values[g.position(at)]); });
  t::scratch_file const file("a.npy");
  for (bool const columns : {false, true})
    for (bool const most_significant_first : {false, true}) {
      std::string const data = bytes_of(columns ? turned : g);
      file.write(npy(std::string("{\"shape\": (5,3, 4L), 'descr': '") + (most_significant_first ? ">" : "<") +
                         "f8', 'fortran_order': " + (columns ? "True" : "False") + "}\n",
                     most_significant_first ? swapped(data, 8) : data));
      t::on_every_mesh([&](t::test_mesh const& m) {
        CAPTURE(m.text());
        CAPTURE(columns);
        CHECK(t::disagreements(m, os::load<double, I/X, J/Y, K>(file.path(), mesh_of(m)), g) == 0);
        CHECK(t::disagreements(m, os::load<double, I, J/Y/X, K/Z>(file.path(), mesh_of(m), I = 5), g) == 0);
      });
    }
  auto const c = t::whole_numbers<Kokkos::complex<float>>("I", e, 6);
  file.write(npy("{'shape': (5,), 'descr': '>c8', 'fortran_order': True}", swapped(bytes_of(c), 4)));
  t::on_every_mesh([&](t::test_mesh const& m) {
    CHECK(t::disagreements(m, os::load<std::complex<float>, I/Y>(file.path(), mesh_of(m)), c) == 0);
  });
}

TEST_CASE("an axis of a static extent") {
  OSTRAKA_AXIS(five, 5);
  OSTRAKA_AXIS(six, 6);
  t::scratch_file const file("a.npy");
  file.write(npy("{'shape': (5,), 'descr': '|i1', 'fortran_order': False}", "\1\2\3\4\5"));
  t::on_every_mesh([&](t::test_mesh const& m) {
    CHECK(os::load<std::int8_t, five/X>(file.path(), mesh_of(m)).extent(five) == 5);
    CHECK_THROWS_WITH_AS(static_cast<void>(os::load<std::int8_t, six/X>(file.path(), mesh_of(m))),
                         doctest::Contains("has the extents (5), and (6) are asked for"), os::error);
  });
}

TEST_CASE("a process that is none of the devices holds nothing, and knows the extents") {
  t::scratch_file const file("a.npy");
  file.write(npy("{'shape': (5,), 'descr': '|i1', 'fortran_order': False}", "\1\2\3\4\5"));
  auto const mesh = os::make_mesh(os::this_device, X = 1);
  auto const a = os::load<std::int8_t, I/X>(file.path(), mesh);
  CHECK(a.extent(I) == 5);
  CHECK(a.local().size() == 5);
  os::mesh<X_mesh> const absent(
      std::make_shared<os::engine::device_mesh const>(os::engine::device_mesh::absent({"X"}, {2})));
  auto const none = os::load<std::int8_t, I/X>(file.path(), absent);
  CHECK(none.extent(I) == 5);
  CHECK(none.local().size() == 0);
  os::save(file.path(), none);
  CHECK_THROWS_AS(os::save(file.path() + ".txt", none), os::error);
}
