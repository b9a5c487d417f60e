// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// fields xdmf FOLDER: saves fields for ParaView. fields hdf5 FOLDER: loads what fields_oracle.py has written there,
/// divided over all ranks, and saves it again, divided otherwise, in one run, in chunks and compressed; appends steps.

#include <ostraka/creation/generate.hpp>
#include <ostraka/environment/environment.hpp>
#include <ostraka/files.hpp>
#include <ostraka/meshes/make_mesh.hpp>
#include <ostraka/moves/reshard.hpp>
#if OSTRAKA_TEST_HDF5
#  include <ostraka/hdf5.hpp>
#endif

#include <complex>
#include <cstdint>
#include <cstdio>
#include <string>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(step);
OSTRAKA_MESH_AXIS(X);

namespace {

// Element (i, j, k) is 100 i + 10 j + k.
struct number_of_point {
  KOKKOS_FUNCTION double operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return static_cast<double>(100 * i + 10 * j + k);
  }
};
struct number_in_plane {
  KOKKOS_FUNCTION std::int32_t operator()(std::int64_t i, std::int64_t j) const {
    return static_cast<std::int32_t>(10 * i + j);
  }
};
struct number_on_line {
  KOKKOS_FUNCTION float operator()(std::int64_t i) const { return static_cast<float>(i) / 2; }
};

template <class Mesh>
void save_for_paraview(std::string const& folder, Mesh const& mesh) {
  auto const u = os::generate<double, I, J/X, K>(mesh, I = 2, J = 3, K = 4, number_of_point());
  auto const v = os::generate<double, I/X, J, K>(mesh, I = 2, J = 3, K = 4, number_of_point());
  os::save_xdmf(folder + "/solid.xdmf", os::together("u", u, "v & w", v),
                {.origin = {1, 2, 3}, .spacing = {0.5, 0.25, 2}});
  os::save_xdmf(folder + "/plane.xdmf",
                os::together("n", os::generate<std::int32_t, I/X, J>(mesh, I = 5, J = 3, number_in_plane())));
  os::save_xdmf(folder + "/line.xdmf", os::together("x", os::generate<float, I/X>(mesh, I = 7, number_on_line())));
}

#if OSTRAKA_TEST_HDF5

template <class T, class Mesh>
void one(std::string const& folder, std::string const& name, Mesh const& mesh) {
  auto const a = os::load<T, I/X, J>(folder + "/h5py.h5", mesh, os::dataset(name));
  auto const b = os::reshard<I, J/X>(a);
  os::save(folder + "/" + name + ".run.h5", os::together("all/" + name, b));
  os::save(folder + "/" + name + ".chunks.h5", os::together("all/" + name, b), os::chunked(I = 2, J = 2));
  os::save(folder + "/" + name + ".deflated.h5", os::together("all/" + name, b), os::chunked(I = 2).deflated(6));
}

template <class Mesh>
void exchange(std::string const& folder, Mesh const& mesh) {
  one<double>(folder, "f64", mesh);
  one<float>(folder, "f32", mesh);
  one<float>(folder, "f32_big_endian", mesh);
  one<os::float16>(folder, "f16", mesh);
  one<std::int64_t>(folder, "i64", mesh);
  one<std::int32_t>(folder, "i32_big_endian", mesh);
  one<std::int16_t>(folder, "i16", mesh);
  one<std::int8_t>(folder, "i8", mesh);
  one<bool>(folder, "flags", mesh);
  one<std::complex<float>>(folder, "c64", mesh);
  one<std::complex<double>>(folder, "c128", mesh);
  one<float>(folder, "chunks_deflated", mesh);
  one<os::bfloat16>(folder, "bf16", mesh);
  auto const part =
      os::load<double, I/X, J>(folder + "/h5py.h5", mesh, os::dataset("series").at(step = -2).from(I = 1));
  os::save(folder + "/part.h5", os::together("part", part));
  for (int k = 0; k < 3; ++k) {
    auto const u = os::generate<double, I/X, J, K>(mesh, I = 2, J = 3, K = 4, number_of_point());
    auto const t = os::generate<float>(mesh, [k] { return 0.5f * static_cast<float>(k); });
    os::append<step>(folder + "/run.h5", os::together("u", u, "step", t), os::chunked(I = 1).deflated(2));
  }
  os::append<step>(folder + "/h5py_series.h5",
                   os::together("series", os::load<double, I/X, J>(folder + "/h5py.h5", mesh, os::dataset("f64"))));
}

#else

template <class Mesh>
void exchange(std::string const&, Mesh const&) {
  std::puts("SKIPPED: this program has no HDF5");
}

#endif

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  if (argc != 3) return std::puts("usage: fields xdmf|hdf5 FOLDER"), 2;
  auto const mesh = os::make_mesh(X = env.devices());
  std::string(argv[1]) == "hdf5" ? exchange(argv[2], mesh) : save_for_paraview(argv[2], mesh);
}
