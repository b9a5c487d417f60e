// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// @file
/// The time that it takes to price a training step: 12 layers of a transformer, 3.2·10⁹ parameters each, stored divided
/// over X and tensor parallel over Y, on dry meshes of 1 to 65,536 devices. One process: `dry_meshes`

#include <ostraka/gradient.hpp>  // before the templates to be differentiated

#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <utility>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/meshes/dry_mesh.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/optimizers.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(S, 2048);
OSTRAKA_AXIS(T, 2048);
OSTRAKA_AXIS(D, 16384);
OSTRAKA_AXIS(F, 65536);
OSTRAKA_AXIS(H, 128);
OSTRAKA_AXIS(E, 128);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

namespace {

template <class Leaves>
struct layer {
  os::leaf<Leaves, float, D/X> gain;
  os::leaf<Leaves, float, D/X, H/Y, E> q, k, v;
  os::leaf<Leaves, float, H/Y, E, D/X> o;
  os::leaf<Leaves, float, D/X, F/Y> up;
  os::leaf<Leaves, float, F/Y, D/X> down;
};

template <class Leaves>
struct network {
  std::array<layer<Leaves>, 12> layers;
};

struct through_layer {
  template <class P, class A>
  auto operator()(P const& p, A const& x) const {
    auto const h = os::rms_norm<D>(x, os::all_gather<X>(p.gain));
    auto const project = [&](auto const& w) { return os::einsum<B/X, S, H/Y, E>(h, os::reshard<D, H/Y, E>(w)); };
    auto const seen = os::attention<S, T, E>(project(p.q), os::rename<S, T>(project(p.k)),
                                             os::rename<S, T>(project(p.v)), os::causal);
    auto const y = x + os::einsum<B/X, S, D>(seen, os::reshard<H/Y, E, D>(p.o));
    auto const z = os::gelu(os::einsum<B/X, S, F/Y>(y, os::reshard<D, F/Y>(p.up)));
    return y + os::einsum<B/X, S, D>(z, os::reshard<F/Y, D>(p.down));
  }
};

struct loss {
  template <class P, class A>
  auto operator()(P const& p, A const& x) const {
    auto h = os::checkpoint(through_layer())(p.layers[0], x);
    for (std::size_t l = 1; l < p.layers.size(); ++l) h = os::checkpoint(through_layer())(p.layers[l], h);
    return os::mean<>(os::square(h));
  }
};

template <class Mesh>
void price(Mesh const& m) {
  std::array<double, 4> ms{};
  auto const cost = os::cost_of(m, [&] {
    auto const p = os::make_tree<network>(m, os::seed(1), [](auto const& leaf) {
      using tensor = typename std::remove_cvref_t<decltype(leaf)>::type;
      return os::random<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed());
    });
    os::adamw const optimizer{.learning_rate = 1e-3};
    auto const state = optimizer.init(p);
    for (double& t : ms) {
      auto const begin = std::chrono::steady_clock::now();
      auto const x = os::random<float, B/X, S, D>(m, B = 2 * m.size(X));
      auto const [value, gradient] = os::value_and_grad(loss())(p, x);
      os::clip_by_global_norm(gradient, 1);
      optimizer.update(p, gradient, state);
      t = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    }
  });
  rusage now{};
  getrusage(RUSAGE_SELF, &now);
  std::printf("%5d x %2d: %5.1f ms the first step, %5.1f the fourth; a device sends %6.2f GB a step, computes "
              "%8.1f Tflop and holds %5.1f GB; this process %ld MB\n",
              m.size(X), m.size(Y), ms.front(), ms.back(), static_cast<double>(cost.bytes) / 4e9,
              static_cast<double>(cost.flops) / 4e12, static_cast<double>(cost.peak_memory) / 1e9,
              now.ru_maxrss / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  for (auto const& [x, y] : {std::pair{1, 1}, {4, 2}, {128, 8}, {1024, 64}}) price(os::dry_mesh(X = x, Y = y));
}
