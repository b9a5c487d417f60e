// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensors under names of their own: together in a safetensors file, and as fields in .npy files that an XDMF text
/// names for ParaView. A program without HDF5 says so.
// ranks: 1 2 3 4 6 8
// sham:

#include <doctest/doctest.h>

#include <ostraka/files.hpp>
#include <ostraka/tree.hpp>

#include <complex>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "files/failing.hpp"
#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using t::mesh_of;
using t::said_alike;
using t::says;

namespace {

std::string text_of_file(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class L>
struct waves {
  os::leaf<L, std::complex<double>, I/X> c;
};

}  // namespace

TEST_CASE("tensors together in a safetensors file") {
  t::scratch_file const file("a.safetensors");
  t::on_every_mesh([&](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const g = t::whole_numbers<float>("IJ", e, 3);
      auto const h = t::whole_numbers<std::int32_t>("J", e, 4);
      os::save(file.path(), os::together("u", t::placed<os::tensor<float, I/X, J/Y>>(m, g), "v",
                                         t::placed<os::tensor<std::int32_t, J>>(m, h)));
      auto const u = t::placed<os::tensor<float, I, J/X>>(m, t::whole_numbers<float>("IJ", e, 5));
      auto const v = t::placed<os::tensor<std::int32_t, J/Y>>(m, t::whole_numbers<std::int32_t>("J", e, 6));
      os::load_into(os::together("v", v, "u", u), file.path());
      CHECK(t::disagreements(m, u, g) == 0);
      CHECK(t::disagreements(m, v, h) == 0);
    }
    auto const c = os::zeros<std::complex<double>, I/X>(mesh_of(m), I = 3);
    says(said_alike([&] { os::save(file.path(), os::together("c", c)); }),
         "save: safetensors files have no complex numbers of two doubles, and c in ");
    waves<os::values> const tree{c};
    says(said_alike([&] { os::save(file.path(), tree); }),
         "save: safetensors files have no complex numbers of two doubles, and c in " + file.path() +
             " has them; save it in an HDF5 file, or alone in an .npy file");
    says(said_alike([&] { os::load_into(os::together("u", c), file.path()); }), "u in ");
  });
}

TEST_CASE("fields for ParaView") {
  t::scratch_file const file("flow.xdmf");
  std::string const folder = file.folder().string();
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const g = t::whole_numbers<double>("IJK", {{'I', 2}, {'J', 3}, {'K', 4}}, 3);
    auto const u = t::placed<os::tensor<double, I/X, J/Y, K>>(m, g);
    os::save_xdmf(file.path(),
                  os::together("u", u, "n", os::zeros<std::int16_t, I, J, K>(mesh_of(m), I = 2, J = 3, K = 4)),
                  {.origin = {1, 2, 0.1}, .spacing = {1, 1, 1e-3}});
    CHECK(text_of_file(file.path()) == R"(<?xml version="1.0"?>
<Xdmf Version="2.0">
 <Domain>
  <Grid Name="fields" GridType="Uniform">
   <Topology TopologyType="3DCoRectMesh" Dimensions="2 3 4"/>
   <Geometry GeometryType="ORIGIN_DXDYDZ">
    <DataItem Dimensions="3" NumberType="Float" Precision="8" Format="XML">1 2 0.1</DataItem>
    <DataItem Dimensions="3" NumberType="Float" Precision="8" Format="XML">1 1 0.001</DataItem>
   </Geometry>
   <Attribute Name="u" AttributeType="Scalar" Center="Node">
    <DataItem Dimensions="2 3 4" NumberType="Float" Precision="8" Format="Binary" )"
                                       R"(Endian="Little" Seek="128">flow.u.npy</DataItem>
   </Attribute>
   <Attribute Name="n" AttributeType="Scalar" Center="Node">
    <DataItem Dimensions="2 3 4" NumberType="Short" Precision="2" Format="Binary" )"
                                       R"(Endian="Little" Seek="128">flow.n.npy</DataItem>
   </Attribute>
  </Grid>
 </Domain>
</Xdmf>
)");
    CHECK(text_of_file(folder + "/flow.u.npy").size() == 128 + 24 * 8);
    CHECK(t::disagreements(m, os::load<double, I, J/X, K>(folder + "/flow.u.npy", mesh_of(m)), g) == 0);

    std::string const old = text_of_file(file.path());
    auto const said = [&](auto const& fields, os::xdmf_grid const& grid = {}) {
      std::string const text = said_alike([&] { os::save_xdmf(file.path(), fields, grid); });
      CHECK(text_of_file(file.path()) == old);
      return text;
    };
    says(said(os::together("u", u), {.origin = {0, 0}}),
         "has a number for each axis of the fields, 3, and 2 are given");
    says(said(os::together("u", u, "v", os::zeros<double, I>(mesh_of(m), I = 2))),
         "u has the extents (2, 3, 4), v (2)");
    says(said(os::together("c", os::zeros<std::complex<float>, I>(mesh_of(m), I = 2))), "and c has others");
    says(said(os::together("s", os::zeros<double>(mesh_of(m)))), "s has 0; save a part of it");
    says(said(os::together("a/b", u)), "the name of a field is part of the name of its file");
    says(said_alike([&] { os::save_xdmf(folder + "/a.xmf", os::together("u", u)); }), "give a path that ends in .xdmf");
    says(said_alike([&] { os::save_xdmf(folder + "/none/a.xdmf", os::together("u", u)); }),
         "No such file or directory");
    CHECK(file.files_beside() == 3);
  });
}

TEST_CASE("a program without HDF5") {
  t::scratch_file const file("u.h5");
  t::on_every_mesh([&](t::test_mesh const& m) {
    auto const u = os::zeros<double, I/X>(mesh_of(m), I = 3);
    std::string const none =
        ": " + file.path() +
        " is an HDF5 file, and this program has no HDF5; include <ostraka/hdf5.hpp> and link ostraka::hdf5";
    CHECK(said_alike([&] { os::save(file.path(), os::together("u", u)); }) == "save" + none);
    CHECK(said_alike([&] { os::load_into(os::together("u", u), file.path()); }) == "load_into" + none);
    CHECK(said_alike([&] { static_cast<void>(os::load<t::model>(file.path(), mesh_of(m))); }) == "load" + none);
    says(said_alike([&] { os::save(file.path(), u); }), "give a path that ends in .npy");
  });
}
