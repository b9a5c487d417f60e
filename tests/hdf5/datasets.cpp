// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensors as datasets of HDF5 files and back, on meshes of all ranks, under any sharding: in one run, in chunks and
/// compressed; parts of datasets, and datasets that grow. HDF5's C interface reads what is saved, element by element,
/// and writes what is loaded.
// sham:

#include <doctest/doctest.h>

#include <ostraka/engine/files/transfer.hpp>
#include <ostraka/hdf5.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/meshes/make_mesh.hpp>
#include <ostraka/tree.hpp>

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "files/scratch_file.hpp"
#include "hdf5/plain_hdf5.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using mesh_of_test = os::mesh<X_mesh, Y_mesh, Z_mesh>;

mesh_of_test mesh_of(t::test_mesh const& m) { return mesh_of_test(m.handle()); }

// f on every mesh; of many ranks, which open and close files slowly, on every third one.
template <class F>
void on_meshes(F const& f) {
  auto const shapes = t::mesh_shapes();
  for (std::size_t k = 0; k<shapes.size(); k += t::ranks()> 4 ? 3 : 1) f(t::test_mesh(shapes[k]));
}

template <class T>
std::string bytes_of(std::vector<T> const& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), static_cast<void const*>(values.data()), bytes.size());
  return bytes;
}

std::vector<std::int64_t> extents_of(std::string const& letters, t::extents_by_letter const& extents) {
  std::vector<std::int64_t> all;
  for (char l : letters) all.push_back(extents.at(l));
  return all;
}

// Each mesh saves the same file, and loads it under this sharding and another.
template <class From, class To, class... Stored>
void round_trips(t::extents_by_letter const& extents, Stored const&... stored) {
  using value = typename From::value_type;
  std::string const letters = t::letters_in<From>();
  auto const g = t::whole_numbers<value>(letters, extents, 3);
  auto const other = t::whole_numbers<std::int32_t>("I", {{'I', 5}}, 2);
  t::scratch_file const file("a.h5");
  on_meshes([&](t::test_mesh const& m) {
    CAPTURE(m.text());
    CAPTURE(t::text_of(extents));
    auto const a = t::placed<From>(m, g);
    auto const b = t::placed<os::tensor<std::int32_t, I/X>>(m, other);
    os::save(file.path(), os::together("a", a, "group/b", b), stored...);
    auto const is = t::read_plain(file.path(), "a");
    CHECK(is.is_there);
    CHECK(is.extents == extents_of(letters, extents));
    CHECK(is.bytes == bytes_of(g.values));
    for (std::size_t k = 0; k < letters.size(); ++k) CHECK(is.labels[k] == std::string(1, letters[k]));
    CHECK(t::read_plain(file.path(), "group/b").bytes == bytes_of(other.values));
    CHECK(file.files_beside() == 1);

    CHECK(t::disagreements(m, os::load<From>(file.path(), mesh_of(m), os::dataset("a")), g) == 0);
    CHECK(t::disagreements(m, os::load<To>(file.path(), mesh_of(m), os::dataset("/a")), g) == 0);
    auto const again = t::placed<To>(m, t::whole_numbers<value>(letters, extents, 4));
    auto const b_again =
        t::placed<os::tensor<std::int32_t, I/Y>>(m, t::whole_numbers<std::int32_t>("I", {{'I', 5}}, 6));
    os::load_into(os::together("a", again, "group/b", b_again), file.path());
    CHECK(t::disagreements(m, again, g) == 0);
    CHECK(t::disagreements(m, b_again, other) == 0);
  });
}

template <class L>
struct layer {
  os::leaf<L, float, I/X, J> w;
};
template <class L>
struct model {
  os::leaf<L, double, J> b;
  std::array<layer<L>, 3> layers;
};
template <class L>
struct mode {
  os::leaf<L, std::complex<double>, I/X, J> amplitude;
};
template <class L>
struct waves {
  std::array<mode<L>, 2> modes;
};

}  // namespace

TEST_CASE("a tensor as a dataset, under any sharding") {
  for (t::extents_by_letter const& e : t::usual_extents()) {
    round_trips<os::tensor<double, I/X, J/Y>, os::tensor<double, I, J/Y/X>>(e);
    round_trips<os::tensor<std::int8_t, J/Z/X, I, K/Y>, os::tensor<std::int8_t, J, I/X, K>>(e);
  }
  for (std::int64_t i : {0, 1, 2, 3})
    for (std::int64_t j : {0, 1, 3})
      round_trips<os::tensor<float, I/X, J/Y>, os::tensor<float, I/Y, J>>({{'I', i}, {'J', j}});
  round_trips<os::tensor<float>, os::tensor<float>>({});
}

TEST_CASE("in chunks, compressed and not, and in rounds of a few bytes") {
  using a = os::tensor<double, I/X, J/Y>;
  using b = os::tensor<double, I/Y, J>;
  std::int64_t const usual = os::engine::file_round_bytes;
  for (t::extents_by_letter const& e :
       {t::extents_by_letter{{'I', 5}, {'J', 3}}, {{'I', 8}, {'J', 4}}, {{'I', 2}, {'J', 0}}}) {
    round_trips<a, b>(e, os::chunked().deflated(9));
    for (std::int64_t const bytes : {usual, std::int64_t{24}}) {
      os::engine::file_round_bytes = bytes;
      round_trips<a, b>(e, os::chunked(I = 2, J = 2));
      round_trips<a, b>(e, os::chunked(I = 2, J = 2).deflated(1));
    }
    os::engine::file_round_bytes = 1;
    if (e.at('I') == 5) round_trips<a, b>(e);
    os::engine::file_round_bytes = usual;
  }
}

TEST_CASE("elements of other types") {
  t::extents_by_letter const e = {{'I', 5}, {'J', 3}};
  round_trips<os::tensor<os::float16, I/X, J>, os::tensor<os::float16, I/Y, J>>(e);
  round_trips<os::tensor<os::bfloat16, I/X, J>, os::tensor<os::bfloat16, I/Y, J>>(e);
  round_trips<os::tensor<std::int64_t, I/X>, os::tensor<std::int64_t, I>>(e);
  round_trips<os::tensor<std::int16_t, I/X>, os::tensor<std::int16_t, I/Y/X>>(e);
  round_trips<os::tensor<std::complex<float>, I/X, J>, os::tensor<std::complex<float>, I, J/X>>(e);
  round_trips<os::tensor<std::complex<double>, I/X, J>, os::tensor<std::complex<double>, I, J/X>>(
      e, os::chunked(I = 2).deflated(4));
}

TEST_CASE("axes are dimension scales, and the values of an axis are its scale") {
  t::scratch_file const file("a.h5");
  auto const g = t::whole_numbers<double>("IJ", {{'I', 6}, {'J', 2}}, 3);
  auto const points = t::whole_numbers<float>("I", {{'I', 6}}, 4);
  on_meshes([&](t::test_mesh const& m) {
    os::save(file.path(), os::together("u", t::placed<os::tensor<double, I/X, J>>(m, g), "I",
                                       t::placed<os::tensor<float, I/X>>(m, points)));
    auto const u = t::read_plain(file.path(), "u");
    CHECK(u.labels == std::vector<std::string>{"I", "J"});
    CHECK(u.scales == std::vector<std::string>{"/I", "/J"});
    CHECK(u.chunk.empty());
    CHECK(t::read_plain(file.path(), "I").bytes == bytes_of(points.values));
    CHECK(t::read_plain(file.path(), "J").extents == std::vector<std::int64_t>{2});
    auto const I_again = os::load<float, I/Y>(file.path(), mesh_of(m), os::dataset("I"));
    CHECK(t::disagreements(m, I_again, points) == 0);
    os::load_into(os::together("u", t::placed<os::tensor<double, I, J/X>>(m, g), "I", I_again),
                  file.path());  // no more is there

    auto const large = os::zeros<double, I/X, J>(mesh_of(m), I = 700, J = 300);
    os::save(file.path(), os::together("u", large, "v", os::zeros<double, I>(mesh_of(m), I = 3)), os::chunked(I = 64));
    CHECK(t::read_plain(file.path(), "u").chunk == std::vector<std::int64_t>{64, 300});
    CHECK(t::read_plain(file.path(), "v").chunk == std::vector<std::int64_t>{3});
    CHECK(t::read_plain(file.path(), "v").scales == std::vector<std::string>{"/I_3"});
  });
}

TEST_CASE("trees have a dataset for each leaf") {
  t::scratch_file const file("model.h5");
  on_meshes([&](t::test_mesh const& m) {
    auto const params = os::make_tree<model>(mesh_of(m), I = 5, J = 3, os::seed(1));
    os::save(file.path(), params, os::stored_as{{"layers.{}.w", "net/{}/w"}});
    CHECK(t::read_plain(file.path(), "net/2/w").extents == std::vector<std::int64_t>{5, 3});
    auto const again = os::load<model>(file.path(), mesh_of(m), os::stored_as{{"layers.{}.w", "net/{}/w"}});
    os::for_each_leaf(
        [](std::string const&, auto const& a, auto const& b) {
          CHECK(t::read_elements(a.local().data(), a.local().size()) ==
                t::read_elements(b.local().data(), b.local().size()));
        },
        params, again);
  });
}

TEST_CASE("complex numbers of two doubles in trees") {
  t::scratch_file const file("waves.h5");
  for (std::int64_t const rows : {0, 1, 5})
    on_meshes([&](t::test_mesh const& m) {
      CAPTURE(m.text());
      auto g = t::whole_numbers<Kokkos::complex<double>>("IJ", {{'I', rows}, {'J', 3}}, 3);
      for (std::size_t k = 0; k < g.values.size(); ++k) g.values[k].imag() = 0.5 * static_cast<double>(k);
      waves<os::values> given;
      for (auto& one : given.modes) one.amplitude = t::placed<os::tensor<std::complex<double>, I/X, J>>(m, g);
      os::save(file.path(), given);
      CHECK(t::read_plain(file.path(), "modes.1.amplitude").bytes == bytes_of(g.values));
      auto const again = os::load<waves>(file.path(), mesh_of(m));
      CHECK(t::disagreements(m, again.modes[1].amplitude, g) == 0);
      for (auto& one : given.modes)
        os::map_into(
            one.amplitude, [](auto z) { return -z; }, one.amplitude);
      os::load_into(given, file.path());
      CHECK(t::disagreements(m, given.modes[0].amplitude, g) == 0);
    });
}

TEST_CASE("parts of a dataset, against loops") {
  t::scratch_file const file("a.h5");
  t::extents_by_letter const e = {{'B', 3}, {'I', 5}, {'J', 2}};
  auto const g = t::whole_numbers<double>("BIJ", e, 7);
  for (std::vector<char const*> const& labels :
       {std::vector<char const*>{"B", "I", "J"}, std::vector<char const*>{}, std::vector<char const*>{"B", "I"}}) {
    t::write_plain_hdf5(file.path(), [&](hid_t to) {
      t::make_plain(to, "u", {3, 5, 2}, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, g.values.data(), labels);
    });
    bool is_first = true;  // the others read fewer parts
    on_meshes([&](t::test_mesh const& m) {
      CAPTURE(m.text());
      CAPTURE(labels.size());
      for (std::int64_t b : {-3, 0, 2})
        for (std::int64_t begin = 0; begin <= 5; ++begin)
          for (std::int64_t count = 0; count <= 5 - begin; ++count) {
            if (!is_first && (b != -3 || begin % 2 != 0 || count % 2 == 0)) continue;
            t::global_tensor<double> part{"IJ", {{'I', count}, {'J', 2}}, {}};
            t::for_each_index("IJ", part.extents, [&](t::extents_by_letter const& at) {
              t::extents_by_letter const whole = {
                  {'B', b < 0 ? b + 3 : b}, {'I', at.at('I') + begin}, {'J', at.at('J')}};
              part.values.push_back(g.values[g.position(whole)]);
            });
            auto const which = os::dataset("u").at(B = b).from(I = begin);
            auto const a = os::load<double, I/X, J/Y>(file.path(), mesh_of(m), which, I = count);
            CHECK(t::disagreements(m, a, part) == 0);
            if (begin + count != 5) continue;
            CHECK(t::disagreements(m, os::load<double, I/X, J>(file.path(), mesh_of(m), which), part) == 0);
            os::load_into(a, file.path(), which);
            CHECK(t::disagreements(m, a, part) == 0);
          }
      is_first = false;
    });
  }
}

TEST_CASE("on a dry mesh the headers are read, and no element") {
  t::scratch_file const file("a.h5");
  on_meshes([&](t::test_mesh const& m) {
    os::save(file.path(), os::together("u", os::zeros<double, I/X, J>(mesh_of(m), I = 5, J = 3)));
  });
  auto const dry = os::dry_mesh(os::as_device(1), X = 2);
  auto const u = os::load<double, I/X, J>(file.path(), dry, os::dataset("u"));
  CHECK(u.extent(I) == 5);
  CHECK(u.local().extent(0) == 3);
  os::load_into(os::together("u", u), file.path());
  CHECK_THROWS_AS(static_cast<void>(os::load<double, I/X, J>(file.path(), dry, os::dataset("u"), I = 6)), os::error);
  CHECK_THROWS_AS(static_cast<void>(os::load<double, I/X, J>(file.path(), dry, os::dataset("v"))), os::error);
}

TEST_CASE("elements of another program are converted where asked") {
  t::scratch_file const file("a.h5");
  std::vector<double> const values = {1, 2.5, -3, 1e300};
  std::vector<std::int8_t> const flags = {1, 0, 1, 1};
  t::write_plain_hdf5(file.path(), [&](hid_t to) {
    t::make_plain(to, "x", {4}, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, values.data());
    t::make_plain(to, "n", {4}, H5T_STD_I16BE, H5T_NATIVE_INT8, flags.data());
    t::make_plain(to, "text", {4}, H5T_C_S1, H5T_C_S1, nullptr);
  });
  on_meshes([&](t::test_mesh const& m) {
    auto const x = os::load<float, I/X>(file.path(), mesh_of(m), os::dataset("x"), os::cast_to<float>);
    auto const wanted = t::global_tensor<float>{"I", {{'I', 4}}, {1, 2.5, -3, static_cast<float>(1e300)}};
    CHECK(t::disagreements(m, x, wanted) == 0);
    auto const n = os::load<std::int16_t, I/X>(file.path(), mesh_of(m), os::dataset("n"), I = 4);
    CHECK(t::disagreements(m, n, t::global_tensor<std::int16_t>{"I", {{'I', 4}}, {1, 0, 1, 1}}) == 0);
  });
}

TEST_CASE("bools") {
  t::scratch_file const file("a.h5");
  on_meshes([&](t::test_mesh const& m) {
    auto const n = t::placed<os::tensor<std::int32_t, I/X>>(m, {"I", {{'I', 7}}, {0, 1, 2, 3, 4, 5, 6}});
    os::save(file.path(), os::together("b", os::map([](std::int32_t k) { return k % 3 == 0; }, n)));
    CHECK(t::read_plain(file.path(), "b").bytes == std::string("\1\0\0\1\0\0\1", 7));
    auto const b = os::load<bool, I/Y>(file.path(), mesh_of(m), os::dataset("b"));
    auto const again = os::map([](bool x) { return x ? 1 : 0; }, b);
    CHECK(t::disagreements(m, again, t::global_tensor<std::int32_t>{"I", {{'I', 7}}, {1, 0, 0, 1, 0, 0, 1}}) == 0);
  });
}

TEST_CASE("datasets grow along an axis") {
  for (auto const& stored : {os::chunked(), os::chunked(B = 2, I = 2).deflated(3)})
    for (t::extents_by_letter const& e :
         {t::extents_by_letter{{'I', 5}, {'J', 3}}, {{'I', 1}, {'J', 4}}, {{'I', 2}, {'J', 0}}}) {
      on_meshes([&](t::test_mesh const& m) {
        CAPTURE(m.text());
        CAPTURE(t::text_of(e));
        t::scratch_file const file("run.h5");
        std::string wanted, times;
        for (int step = 0; step < 3; ++step) {
          auto const g = t::whole_numbers<double>("IJ", e, static_cast<std::uint64_t>(step));
          auto const time = t::global_tensor<double>{"", {}, {0.5 * step}};
          os::append<B>(file.path(),
                        os::together("u", t::placed<os::tensor<double, I/X, J/Y>>(m, g), "B",
                                     t::placed<os::tensor<double>>(m, time)),
                        stored);
          wanted += bytes_of(g.values);
          times += bytes_of(time.values);
          auto const u = t::read_plain(file.path(), "u");
          CHECK(u.extents == std::vector<std::int64_t>{step + 1, e.at('I'), e.at('J')});
          CHECK(u.labels == std::vector<std::string>{"B", "I", "J"});
          CHECK(u.bytes == wanted);
          CHECK(t::read_plain(file.path(), "B").bytes == times);
          auto const last = os::load<double, I, J/X>(file.path(), mesh_of(m), os::dataset("u").at(B = -1));
          CHECK(t::disagreements(m, last, g) == 0);
        }
      });
    }
}

TEST_CASE("datasets of another program grow, too") {
  t::scratch_file const file("run.h5");
  auto const g = t::whole_numbers<double>("IJ", {{'I', 5}, {'J', 3}}, 3);
  on_meshes([&](t::test_mesh const& m) {
    t::write_plain_hdf5(file.path(), [&](hid_t to) {
      hsize_t const extents[] = {0, 5, 3}, most[] = {H5S_UNLIMITED, 5, 3}, chunk[] = {2, 3, 2};
      hid_t const space = H5Screate_simple(3, extents, most), settings = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_chunk(settings, 3, chunk);  // room is made when elements are written
      H5Dclose(H5Dcreate2(to, "u", H5T_IEEE_F64BE, space, H5P_DEFAULT, settings, H5P_DEFAULT));
      H5Pset_deflate(settings, 3);
      H5Dclose(H5Dcreate2(to, "v", H5T_IEEE_F64LE, space, H5P_DEFAULT, settings, H5P_DEFAULT));
      H5Pclose(settings);
      H5Sclose(space);
    });
    auto const u = t::placed<os::tensor<double, I/X, J/Y>>(m, g);
    for (int step = 0; step < 3; ++step) os::append<B>(file.path(), os::together("u", u, "v", u));
    std::string const once = bytes_of(g.values);
    CHECK(t::read_plain(file.path(), "v").bytes == once + once + once);
    t::numbers_of_ranks(0);
    auto const again = os::load<double, I, J/X>(file.path(), mesh_of(m), os::dataset("u").at(B = 1));
    CHECK(t::disagreements(m, again, g) == 0);
  });
}
