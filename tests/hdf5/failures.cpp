// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Failed saves, appends and loads of HDF5 files: every rank throws the same sentence, none hangs, and files and
/// tensors stay as they were.
// sham:

#include <doctest/doctest.h>

#include <ostraka/hdf5.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/tree.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "files/failing.hpp"
#include "files/scratch_file.hpp"
#include "hdf5/plain_hdf5.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using t::mesh_of;
using t::said_alike;
using t::says;

namespace {

template <class Mesh>
auto grid_of(Mesh const& mesh, std::int64_t i, std::int64_t j) {
  return os::zeros<double, I/X, J/Y>(mesh, I = i, J = j);
}

}  // namespace

TEST_CASE("a file that is not there, no HDF5 file, or damaged") {
  t::scratch_file const file("a.h5");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const load = [&] {
      static_cast<void>(os::load<double, I/X, J/Y>(file.path(), mesh_of(m), os::dataset("u")));
    };
    says(said_alike([&] {
           static_cast<void>(os::load<double, I, J>((file.folder() / "x.h5").string(), mesh_of(m), os::dataset("u")));
         }),
         "No such file or directory");
    says(said_alike([&] {
           static_cast<void>(os::load<double, I, J>((file.folder() / "x.npy").string(), mesh_of(m), os::dataset("u")));
         }),
         "give a path that ends in .h5");
    for (std::string const& wrong :
         {std::string(), std::string("text"), std::string(3000, '\0'), std::string(8, '\xff')}) {
      file.write(wrong);
      says(said_alike(load), "a.h5 is no HDF5 file; give the path of one");
    }
    os::save(file.path(), os::together("u", grid_of(mesh_of(m), 5, 3)));
    std::string const good = file.bytes();
    for (std::size_t n = 8; n < good.size(); n += 97) {
      file.write(good.substr(0, n));
      CAPTURE(n);
      says(said_alike(load), "cannot be opened (HDF5: ");
    }
    file.write(good);
    CHECK(said_alike(load) == "nothing");
    CHECK(said_alike([&] {
            static_cast<void>(os::load<t::model>(file.folder().string(), mesh_of(m)));
          }).find("has neither a model") != std::string::npos);
  });
}

TEST_CASE("a file that another program has locked") {
  t::scratch_file const file("a.h5");
  t::on_every_mesh([&](t::test_mesh const& m) {
    os::save(file.path(), os::together("u", grid_of(mesh_of(m), 5, 3)));
    int const other = ::open(file.path().c_str(), O_RDWR);
    int const locked = t::rank() == 0 ? ::flock(other, LOCK_EX | LOCK_NB) : 0;
    CHECK(locked == 0);
    t::numbers_of_ranks(0);
    says(said_alike(
             [&] { static_cast<void>(os::load<double, I/X, J/Y>(file.path(), mesh_of(m), os::dataset("u"))); }),
         "lock");
    says(said_alike([&] { os::append<B>(file.path(), os::together("u", grid_of(mesh_of(m), 5, 3))); }), "lock");
    t::numbers_of_ranks(0);
    ::close(other);
    t::numbers_of_ranks(0);
    CHECK(said_alike([&] {
            static_cast<void>(os::load<double, I/X, J/Y>(file.path(), mesh_of(m), os::dataset("u")));
          }) == "nothing");
  });
}

TEST_CASE("datasets that are not what is asked for") {
  t::scratch_file const file("a.h5");
  std::vector<double> const values(30, 1.0);
  t::write_plain_hdf5(file.path(), [&](hid_t to) {
    t::make_plain(to, "u", {5, 3}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(), {"I", "J"});
    t::make_plain(to, "plain", {5, 3}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data());
    t::make_plain(to, "text", {5}, H5T_C_S1, H5T_C_S1, nullptr);
    hid_t const null = H5Screate(H5S_NULL);
    H5Dclose(H5Dcreate2(to, "null", H5T_IEEE_F64LE, null, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(null);
    hsize_t const five = 5;
    hid_t const space = H5Screate_simple(1, &five, nullptr);
    hid_t const elsewhere = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(elsewhere, "/etc/passwd", 0, H5F_UNLIMITED);
    H5Dclose(H5Dcreate2(to, "elsewhere", H5T_IEEE_F64LE, space, H5P_DEFAULT, elsewhere, H5P_DEFAULT));
    H5Pclose(elsewhere);
    hid_t const filtered = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(filtered, 1, &five);
    H5Pset_filter(filtered, 300, H5Z_FLAG_OPTIONAL, 0, nullptr);
    H5Dclose(H5Dcreate2(to, "filtered", H5T_IEEE_F64LE, space, H5P_DEFAULT, filtered, H5P_DEFAULT));
    H5Pclose(filtered);
    H5Sclose(space);
    H5Lcreate_external("other.h5", "/u", to, "link", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/nowhere", to, "soft", H5P_DEFAULT, H5P_DEFAULT);
  });
  std::string const in = "load: u in " + file.path();
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const mesh = mesh_of(m);
    auto const of = [&](char const* name) {
      return said_alike([&] { static_cast<void>(os::load<double, I/X>(file.path(), mesh, os::dataset(name))); });
    };
    says(of("v"), "has no tensor called v");
    says(of("link"), "has no tensor called link");
    says(of("soft"), "has no tensor called soft");
    says(of("u"), in + " has 2 axes, of extents (5, 3), and one of the axes (I) is asked for");
    says(of("text"), "has elements that no tensor has");
    says(of("null"), "has no elements, not even none");
    says(of("elsewhere"), "lies in other files, which are not opened");
    says(of("filtered"), "is stored by filter 300, which this HDF5 lacks");
    auto const u = [&](os::dataset const& which, auto... given) {
      return said_alike([&] { static_cast<void>(os::load<double, I/X, J/Y>(file.path(), mesh, which, given...)); });
    };
    os::dataset const all("u");
    says(u(all, I = 6), in + " has the extents (5, 3), and (6, any) are asked for");
    says(said_alike([&] { static_cast<void>(os::load<float, I, J>(file.path(), mesh, all)); }),
         in + " has elements F64, and F32 are asked for");
    says(said_alike([&] { static_cast<void>(os::load<double, J, I>(file.path(), mesh, all)); }),
         "was saved with the axes I, J, which are asked for in another order");
    says(u(os::dataset("plain").at(B = 99)), "has 2 dimensions, and its part has 3 axes, with those at one index");
    says(u(all.from(K = 1)), in + " has the axes (I, J), and a part along K is asked for");
    says(u(all.from(I = 2), I = 4), in + " has the extent 5 along I, and 4 indices from 2 on are asked for");
    says(u(all.from(I = 6)), in + " has the extent 5 along I, and indices from 6 on are asked for");
    says(u(all.from(I = -1)), "indices from -1 on are asked for");
    says(said_alike([&] { static_cast<void>(os::load<double, J>(file.path(), mesh, all.at(I = 5))); }),
         "and 5 is asked for");
    says(said_alike([&] { static_cast<void>(os::load<double, J>(file.path(), mesh, all.at(I = -6))); }),
         "and -6 is asked for");
    auto const there = os::full<double, I/X, J/Y>(mesh, I = 4, J = 3, 7.0);
    says(said_alike([&] { os::load_into(there, file.path(), all); }), "(4, 3) are asked for");
    says(said_alike([&] { os::load_into(os::together("u", there), file.path()); }), "(4, 3) are asked for");
    says(said_alike([&] { os::load_into(os::together("v", there), file.path()); }),
         "has no tensor called v, and also has elsewhere, filtered, null, plain, text and u");
    for (double x : t::read_elements(there.local().data(), there.local().size())) CHECK(x == 7.0);
  });
}

TEST_CASE("ranks that ask for different datasets, parts or extents") {
  if (t::ranks() < 2) return;
  t::scratch_file const file("a.h5");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const mesh = mesh_of(m);
    if (mesh.handle()->world().compared() == os::engine::compared_calls::none) return;
    os::save(file.path(), os::together("u", grid_of(mesh, 5, 3)));
    std::int64_t const mine = t::rank() == 0 ? 0 : 1;
    auto const said = [&](os::dataset const& which, auto... given) {
      return said_alike([&] { static_cast<void>(os::load<double, I / X, J>(file.path(), mesh, which, given...)); });
    };
    std::string const rule =
        "load: all ranks call the same operations in the same order with the same sizes, but rank 0 ";
    os::dataset const u("u");
    says(said(u, I = 5 - mine), rule + "calls load u of the extents (5, any); ");
    says(said(u.from(I = mine)), rule + "calls load u from I = 0, of the extents (any, any); ");
    says(said(t::rank() == 0 ? u : os::dataset("v")), rule + "calls load u of the extents (any, any); ");
    says(said_alike([&] { static_cast<void>(os::load<double, J>(file.path(), mesh, u.at(I = mine))); }),
         rule + "calls load u at I = 0, of the extents (any); ");
    CHECK(said(u) == "nothing");
  });
}

TEST_CASE("leaves that are not whole datasets, on a dry mesh, too") {
  t::scratch_file const file("a.h5");
  t::on_every_mesh([&](t::test_mesh const& m) {
    os::save(file.path(), os::together("u", os::zeros<float, I/X, J>(mesh_of(m), I = 6, J = 4)));
    auto const dry = os::dry_mesh(X = 64, Y = 8);
    for (os::stored_as const& rules :
         {os::stored_as{{"w", "u", os::transposed}}, os::stored_as{{"w", "u", os::chunk(1, 3)}}}) {
      std::string const said =
          "load: a leaf is a dataset of an HDF5 file, and by os::stored_as w is a part of u, or lies transposed there; "
          "give rules of names alone";
      CHECK(said_alike([&] { static_cast<void>(os::load<t::smaller>(file.path(), mesh_of(m), rules)); }) == said);
      CHECK(said_alike([&] { static_cast<void>(os::load<t::smaller>(file.path(), dry, rules)); }) == said);
    }
    // Missing tensors are reported first.
    says(said_alike([&] {
           static_cast<void>(os::load<t::model>(file.path(), mesh_of(m), os::stored_as{{"w", "u", os::transposed}}));
         }),
         "has no tensor called b");
  });
}

TEST_CASE("what cannot be saved leaves the old file") {
  t::scratch_file const file("a.h5");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const u = grid_of(mesh_of(m), 5, 3);
    os::save(file.path(), os::together("u", u));
    std::string const old = file.bytes();
    auto const said = [&](auto const& trees, auto const&... option) {
      std::string const text = said_alike([&] { os::save(file.path(), trees, option...); });
      CHECK(file.bytes() == old);
      CHECK(file.files_beside() == 1);
      return text;
    };
    for (char const* wrong : {"", "/u", "u/", "a//u", ".", "a/../u"})
      says(said(os::together(wrong, u)), "is no name of a dataset");
    says(said(os::together("u", u, "u", u)), "two leaves are called u");
    says(said(os::together("a", u, "a/b", u, "a.c", u)),
         "a is a dataset in " + file.path() + ", and in a/b it is a group");
    says(said(os::together("I", u)), "the name of an axis, I, is that of a dataset with the axis' values");
    says(said(os::together("I/v", u)), "the leaf I/v is not along this axis alone");
    says(said_alike([&] { os::save(file.path(), os::together("u", u), os::chunked(), os::in_parts_of(100)); }),
         "an HDF5 file is one file, and os::in_parts_of asks for several");
    says(said(os::together("u", u), os::chunked(K = 2)), "os::chunked names the axis K");
    says(said(os::together("u", u), os::chunked(I = 0)), "asks for chunks of 0 along I");
    says(said(os::together("u", u), os::chunked().deflated(10)), "deflated at the levels 1 to 9");
    says(said(os::together("u", u), os::chunked().deflated(0)), "deflated at the levels 1 to 9, and not 0");
    says(said_alike([&] { os::save(file.path() + "/a.h5", os::together("u", u)); }), "cannot be opened");
    says(said_alike([&] { os::save((file.folder() / "none" / "a.h5").string(), os::together("u", u)); }),
         "No such file or directory");
    says(said_alike([&] { static_cast<void>(os::start_save(file.path(), os::together("u", u))); }),
         "os::start_save writes no HDF5 file");
    says(said_alike([&] { os::save(file.path() + "x", os::together("u", u), os::chunked()); }),
         "give a path that ends in .h5 or .hdf5");
  });
}

TEST_CASE("what cannot be appended leaves all datasets as they were") {
  t::scratch_file const file("run.h5");
  t::scratch_file const fixed("fixed.h5");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const mesh = mesh_of(m);
    auto const u = grid_of(mesh, 5, 3);
    auto const s = os::zeros<float>(mesh);
    if (t::rank() == 0) ::unlink(file.path().c_str());
    t::numbers_of_ranks(0);
    os::append<B>(file.path(), os::together("u", u, "s", s));
    os::save(fixed.path(), os::together("u", u));
    auto const said = [&](auto const& trees) {
      std::string const text = said_alike([&] { os::append<B>(file.path(), trees); });
      CHECK(t::read_plain(file.path(), "u").extents == std::vector<std::int64_t>{1, 5, 3});
      CHECK(t::read_plain(file.path(), "s").extents == std::vector<std::int64_t>{1});
      t::numbers_of_ranks(0);  // reading locks the file
      return text;
    };
    says(said(os::together("s", s, "u", grid_of(mesh, 5, 4))),
         "u in " + file.path() + " has the extents (1, 5, 3) and is appended to by (5, 4)");
    says(said(os::together("s", s, "u", os::zeros<float, I/X, J>(mesh, I = 5, J = 3))),
         "has elements f8, and f4 are appended");
    says(said(os::together("s", s, "u", os::zeros<double, J, I/X>(mesh, I = 3, J = 5))),
         "has the axes B, I, J, and (B, J, I) are appended");
    says(said(os::together("u", u, "v", s)), "has no dataset called v");
    says(said(os::together("u", os::zeros<double, B, J>(mesh, B = 5, J = 3))),
         "which is no axis of what is appended, and u has it");
    says(said_alike([&] { os::append<K>(file.path(), os::together("u", u)); }), "grows along B, and not along K");
    says(said_alike([&] { os::append<B>(fixed.path(), os::together("u", u)); }), "has a fixed number of indices");
    os::append<B>(file.path(), os::together("u", u));
    says(said_alike([&] { os::append<B>(file.path(), os::together("u", u, "s", s)); }),
         "u has 2, s 1; append the same tensors each time");
  });
}
