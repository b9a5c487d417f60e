// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// ESM2's encoder (Lin et al., 2022), tensor-parallel under two-dimensional rules. The program plans the layer of the
/// 15-billion model at its real shapes (plan.cpp), prices its 48 layers on up to 65,536 devices (dry.cpp), opens its
/// checkpoint by its headers (checkpoint.cpp), and runs 48 layers of a small model, whose result equals one device's.
// ranks: 1 8
// labels: ci

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "dry.hpp"
#include "layer.hpp"

void print_plan();

/// Opens the published checkpoint without its numbers. Returns true if devices would read what the plan says.
bool print_checkpoint();

using namespace esm2;

constexpr int layers_of_model = 48;

/// Maps [0, 1) to numbers around 0, or to gains around 1.
struct shifted {
  float scale, offset;
  KOKKOS_FUNCTION float operator()(float v) const { return offset + scale * (2 * v - 1); }
};

/// A token for each position.
struct token {
  KOKKOS_FUNCTION std::int32_t operator()(std::int64_t b, std::int64_t s) const {
    return static_cast<std::int32_t>((31 * b + 17 * s * s + 5) % 33);
  }
};

namespace {

template <class Mesh>
activations run(Mesh const& mesh) {
  auto const sizes = os::sizes(B = 4, S = 16, V = 33, M = 64, N = 64, H = 8, D = 8, F = 256);
  std::uint64_t seed = 0;
  auto const fill = [&](auto& tensor, float scale, float offset = 0) {
    using type = std::remove_reference_t<decltype(tensor)>;
    tensor = os::map(shifted{scale, offset}, os::random<type>(mesh, sizes, os::seed(++seed)));
  };
  tensor<V, M> table;
  fill(table, 1);
  activations x = os::take<V>(table, os::generate<std::int32_t, B/X, S>(mesh, sizes, token{}));
  for (int i = 0; i < layers_of_model; ++i) {
    layer<os::values> l;
    for (auto* weights : {&l.q, &l.k, &l.v}) fill(*weights, 0.2f);
    for (auto* bias : {&l.q_bias, &l.k_bias, &l.v_bias}) fill(*bias, 0.1f);
    for (auto* bias : {&l.out_bias, &l.bias, &l.inner_bias, &l.down_bias}) fill(*bias, 0.1f);
    for (auto* gain : {&l.gain, &l.inner_gain}) fill(*gain, 0.1f, 1);
    fill(l.out, 0.2f);
    fill(l.up, 0.2f);
    fill(l.up_bias, 0.1f);
    fill(l.down, 0.1f);
    x = apply(l, x);
  }
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("OSTRAKA_CHECK_SPMD", "0", 1);  // the checks between devices in check mode are not the model's
  os::environment const env(argc, argv);
  int const x = env.devices() % 2 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(X = x, Y = env.devices() / x);
  if (mesh.device() == 0) print_plan();
  if (mesh.device() == 0) print_prices();
  bool const opened = mesh.device() != 0 || print_checkpoint();
  bool const as_dry = costs_as_dry(mesh);
  double const others = os::value(os::sum<>(os::full<double, B/X/Y>(mesh, B = env.devices(), as_dry ? 0.0 : 1.0)));

  auto const found = os::gather_to_root(run(mesh));
  auto const wanted = os::gather_to_root(run(os::make_mesh(os::this_device, X = 1, Y = 1)));
  if (mesh.device() != 0) return 0;
  double largest = 0, size = 0;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    largest =
        std::fmax(largest, std::abs(static_cast<double>(found->data()[i]) - static_cast<double>(wanted->data()[i])));
    size = std::fmax(size, std::abs(static_cast<double>(wanted->data()[i])));
  }
  // A layer adds to its input, so the rounding errors of 48 layers add up; norms keep them from growing.
  bool const good = largest <= 48 * 2e-6 * size;
  std::printf("\n%d layers of width 64 on X=%d · Y=%d differ from one device by %.0e of the largest element: %s\n",
              layers_of_model, mesh.size(X), mesh.size(Y), largest / size, good ? "PASS" : "FAIL");
  std::printf("A step costs each device what it costs on a dry mesh, to the byte: %s\n", others == 0 ? "PASS" : "FAIL");
  return good && others == 0 && opened ? 0 : 1;
}
