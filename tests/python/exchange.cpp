// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// exchange FOLDER: loads the files that files_oracle.py has written there, divided over all ranks, and saves each
/// again under another name, divided otherwise.

#include <ostraka/environment/environment.hpp>
#include <ostraka/files.hpp>
#include <ostraka/meshes/make_mesh.hpp>
#include <ostraka/moves/reshard.hpp>

#include <array>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Z);

template <class L>
struct layer {
  os::leaf<L, os::float16, I/X, J> f16;
  os::leaf<L, os::bfloat16, I, J/X> bf16;
  os::leaf<L, std::complex<float>, I/X, J> c64;
};

// The layers of a model: elements of a vector, or stacked over the devices.
template <class L>
struct stages {
  layer<os::stacked<L, N/Z>> layers;
};

template <class L>
struct model {
  os::leaf<L, double, I/X, J> f64;
  os::leaf<L, float, I, J/X> f32;
  std::vector<layer<L>> layers;
  std::array<os::leaf<L, std::int64_t, I/X, J>, 1> i64;
  os::leaf<L, std::int32_t, I, J> i32;
  os::leaf<L, std::int16_t, I/X, J> i16;
  os::leaf<L, std::int8_t, I/X, J> i8;
  os::leaf<L, bool, I, J/X> flags;
  os::leaf<L, float> scalar;
  os::leaf<L, float, I/X, K> nothing;
};

// All numbers of 8 and of 16 bits.
template <class L>
struct narrow {
  os::leaf<L, float, I/X> e4m3, e5m2;
  os::leaf<L, float, J/X> f16, bf16;
};

template <class T, class Mesh>
void one(std::string const& folder, std::string const& name, Mesh const& mesh) {
  auto const a = os::load<T, I/X, J>(folder + "/" + name + ".npy", mesh);
  os::save(folder + "/" + name + ".saved.npy", os::reshard<I, J/X>(a));
}

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  if (argc != 2) return std::puts("usage: exchange FOLDER"), 2;
  std::string const folder = argv[1];
  auto const mesh = os::make_mesh(X = env.devices());

  one<double>(folder, "f64", mesh);
  one<float>(folder, "f32", mesh);
  one<float>(folder, "f32_fortran", mesh);
  one<float>(folder, "f32_big_endian", mesh);
  one<os::float16>(folder, "f16", mesh);
  one<os::bfloat16>(folder, "bf16", mesh);
  one<std::int64_t>(folder, "i64", mesh);
  one<std::int32_t>(folder, "i32", mesh);
  one<std::int16_t>(folder, "i16", mesh);
  one<std::int16_t>(folder, "i16_big_endian_fortran", mesh);
  one<std::int8_t>(folder, "i8", mesh);
  one<bool>(folder, "flags", mesh);
  one<std::complex<float>>(folder, "c64", mesh);
  one<std::complex<double>>(folder, "c128", mesh);
  one<std::complex<double>>(folder, "c128_big_endian", mesh);
  os::save(folder + "/scalar.saved.npy", os::load<float>(folder + "/scalar.npy", mesh));
  os::save(folder + "/long.saved.npy", os::load<std::int32_t, I/X>(folder + "/long.npy", mesh));
  os::save(folder + "/nothing.saved.npy", os::load<float, I, J/X, K>(folder + "/nothing.npy", mesh));

  os::save(folder + "/model.saved.safetensors", os::load<model>(folder + "/model.safetensors", mesh));
  os::save(folder + "/hub.saved.safetensors", os::load<model>(folder + "/hub", mesh));
  os::save(folder + "/parts", os::load<model>(folder + "/hub", mesh), os::in_parts_of(200));
  os::stored_as const names = {{"e4m3", "model.layers.3.e4m3.weight"},
                                 {"e5m2", "model.layers.3.e5m2.weight"},
                                 {"f16", "model.layers.3.f16.weight"},
                                 {"bf16", "model.layers.3.bf16.weight"}};
  os::save(folder + "/narrow.saved.safetensors",
           os::load<narrow>(folder + "/narrow.safetensors", mesh, names, os::cast_to<float>), names);
  auto const pipeline = os::make_mesh(X = 1, Z = env.devices());
  os::save(folder + "/layers.saved.safetensors",
           os::load<stages>(folder + "/model.safetensors", pipeline, os::ignore_others));
}
