// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Training steps on dry meshes against the same steps on as many ranks: gradients of a layer with attention and norms,
/// tensor parallel and fully sharded, an optimiser whose state is divided further, pipelines forward and backward, a
/// reduction by a function. Each device sends as many bytes over the same mesh axes, and has as much memory in use at
/// once, to the byte.
// ranks: 1 2 4 8
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/local_view/pipelines/pipeline.hpp>
#include <ostraka/operations.hpp>
#include <ostraka/optimizers.hpp>

#include <tuple>

#include "surface/meshes/dry_and_wet.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

OSTRAKA_AXIS(S, 12);
OSTRAKA_AXIS(D, 16);
OSTRAKA_AXIS(F, 24);
OSTRAKA_AXIS(H, 8);
OSTRAKA_AXIS(E, 2);
OSTRAKA_AXIS(M);
OSTRAKA_AXIS(N);

namespace {

template <class L>
struct layer {
  os::leaf<L, double, D/X> gain;
  os::leaf<L, double, D/X, H/Y, E> q, k, v;
  os::leaf<L, double, H/Y, E, D/X> o;
  os::leaf<L, double, D/X, F/Y> up;
  os::leaf<L, double, F/Y, D/X> down;
};

layer<os::values> parameters(auto const& mesh) {
  return os::make_tree<layer>(mesh, os::seed(1), [](auto const& leaf) {
    using tensor = typename std::remove_cvref_t<decltype(leaf)>::type;
    return os::random<tensor>(leaf.mesh(), leaf.sizes(), leaf.seed());
  });
}

// Weights are stored divided over X and gathered where they are used.
auto const loss = [](auto const& p, auto const& x) {
  auto const h = os::rms_norm<D>(x, os::all_gather<X>(p.gain));
  auto const project = [&](auto const& w) { return os::einsum<B/X, S, H/Y, E>(h, os::reshard<D, H/Y, E>(w)); };
  auto const seen = os::attention<S, J, E>(project(p.q), os::rename<S, J>(project(p.k)),
                                           os::rename<S, J>(project(p.v)), os::causal);
  auto const y = x + os::einsum<B/X, S, D>(seen, os::reshard<H/Y, E, D>(p.o));
  auto const z = os::gelu(os::einsum<B/X, S, F/Y>(y, os::reshard<D, F/Y>(p.up)));
  auto const out = y + os::einsum<B/X, S, D>(z, os::reshard<F/Y, D>(p.down));
  return os::mean<>(os::square(out));
};

}  // namespace

TEST_CASE("a training step of a layer, stored divided over X, tensor parallel over Y") {
  t::costs_the_same("step", [](auto const& m) {
    auto const p = parameters(m);
    os::adamw const optimizer{.learning_rate = 1e-3};
    auto const state = optimizer.init(p);
    for (int step = 0; step < 2; ++step) {
      auto const x = os::random<double, B/X, S, D>(m, B = 16);
      auto const [value, gradient] = os::value_and_grad(os::checkpoint(loss))(p, x);
      os::clip_by_global_norm(gradient, 1);
      optimizer.update(p, gradient, state);
    }
  });
}

TEST_CASE("a state that is divided further") {
  t::costs_the_same("ZeRO 1", [](auto const& m) {
    auto const w = os::random<double, D, F/Y>(m);
    os::adam const optimizer{.learning_rate = 1e-3};
    auto const state = optimizer.init(w, os::split_over<X>);
    auto const x = os::random<double, B/X, D>(m, B = 11);
    auto const step = os::value_and_grad<os::deferred_over<X>>(
        [](auto const& p, auto const& data) { return os::mean<>(os::square(os::einsum<B/X, F/Y>(data, p))); });
    optimizer.update(w, step(w, x).gradient, state);
  });
}

TEST_CASE("a convolution over divided rows, forward and backward") {
  t::costs_the_same("halos", [](auto const& m) {
    auto const x = os::random<double, I/X, J/Y, K>(m, I = 4 * m.size(X), J = 3 * m.size(Y), K = 2);
    auto const w = os::random<double, M, N, K, L>(m, M = 3, N = 3, K = 2, L = 2);
    auto const of = [](auto const& image, auto const& weights) {
      auto const y = os::shard_map<I/X, J/Y, L>(
          [](auto a, auto k) {
            auto const padded = os::exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(a, os::periodic);
            auto const mean = os::differentiable(
                [](auto const& u) { return (u(-1, 0) + u(1, 0)) / 2; },
                [](os::neighbour<2> n, auto const&) { return n[1] == 0 && n[0] != 0 ? 0.5 : 0.0; });
            auto const smooth = os::stencil(mean, os::start_exchange_halo<os::halo<I, 1>/X, os::halo<J, 1>/Y>(a));
            return os::einsum<I, J, L>(os::add(os::patches<M, N>(padded), smooth), k);
          },
          image, weights);
      return os::sum<>(os::multiply(y, y));
    };
    static_cast<void>(os::value_and_grad(of)(x, w));
    static_cast<void>(os::value_and_grad([&](auto const& k, auto const& image) { return of(image, k); })(w, x));
  });
}

TEST_CASE("pipelines, forward and backward") {
  t::costs_the_same("pipelines", [](auto const& m) {
    std::int64_t const stages = m.size(X);
    auto const w = os::random<double, L/X, I, J>(m, L = 2 * stages, I = 6, J = 6);
    auto const x = os::random<double, B/X, I>(m, B = 4 * stages, I = 6);
    auto const apply = [](auto const& h, auto const& v) {
      return os::add(h, os::rename<J, I>(os::tanh(os::einsum<B, J>(h, v, os::sum_over(L)))));
    };
    static_cast<void>(os::pipeline<os::gpipe, L/X, B>(os::microbatches = 2 * stages, apply, x, w));
    auto const of = [&](auto const& p) {
      return os::sum<>(os::pipeline<os::gpipe, L/X, B>(os::microbatches = 2 * stages, apply, x, p));
    };
    static_cast<void>(os::value_and_grad(of)(w));
  });
}

TEST_CASE("a reduction by a function of the program, back through its rounds") {
  t::costs_the_same("preduce", [](auto const& m) {
    auto const x = os::random<double, B/X, D>(m, B = 3 * m.size(X));
    auto const of = [](auto const& p) {
      auto const y = os::shard_map<B, D>(
          [](auto a) {
            auto const [s, u] = os::preduce<X>(
                [](auto const& first, auto const& second) {
                  return std::tuple(
                      os::multiply(std::get<0>(first), std::get<0>(second)),
                      os::add(os::multiply(std::get<1>(first), std::get<0>(second)), std::get<1>(second)));
                },
                a, os::multiply(a, a));
            return os::add(s, u);
          },
          p);
      return os::sum<>(os::square(y));
    };
    static_cast<void>(os::value_and_grad(of)(x));
    static_cast<void>(os::value_and_grad(os::checkpoint(of))(x));
  });
}
