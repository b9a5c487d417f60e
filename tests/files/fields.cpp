// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensors under names of their own: together in a safetensors file, and as fields in .npy files that an XDMF text
/// names for ParaView. A program without HDF5 says so.
// ranks: 1 2 3 4 6 8

#include <doctest/doctest.h>

#include <ostraka/files.hpp>
#include <ostraka/tree.hpp>

#include <complex>
#include <cstdint>
#include <string>

#include "files/failing.hpp"
#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using t::mesh_of;
using t::said_alike;
using t::says;

TEST_CASE("tensors together in a safetensors file") {
  t::scratch_file const file("a.safetensors");
  t::on_every_mesh([&](t::mesh_at_hand const& m) {
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
    says(said_alike([&] { os::load_into(os::together("u", c), file.path()); }), "u in ");
  });
}
