// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/from-shard_map.md as the page prints them, run on 4 ranks; the checks of their results are
/// behind them.

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/tree.hpp>

#include <array>
#include <cstdint>
#include <tuple>

#include "support/on_meshes.hpp"

namespace os = ostraka;

namespace from_shard_map {

// axes
OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);  OSTRAKA_AXIS(K);  OSTRAKA_AXIS(N);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

auto const counting = [](std::int64_t i, std::int64_t j) { return static_cast<float>(4 * i + j); };

// Σ_i (Σ_j x_ij w_j)²
auto energy(auto const& x, auto const& w) {
  auto y = os::einsum<I>(x, w);
  return os::sum<>(os::multiply(y, y));
}

template <class L>
struct affine {
  os::leaf<L, float, J> w;
  os::leaf<L, float> b;
};

TEST_CASE("gradients") {
  auto mesh = os::make_mesh(X = 4);
  auto samples = os::generate<float, I/X, J>(mesh, I = 4, J = 2, [](std::int64_t i, std::int64_t j) {
    return i == 0 ? float(j) : i == 1 ? 1.f : i == 2 ? float(1 - j) : 0.f;    // (0 1), (1 1), (1 0), (0 0)
  });
  auto weights = os::generate<float, J>(mesh, J = 2, [](std::int64_t j) { return float(j + 1); });    // (1 2)
  auto scale = os::full<float>(mesh, 3.f);

  // the sum's
  auto [loss, of_sum] = os::shard_map<os::dims<>{}, os::dims<J>{}>([](auto w, auto x) {
    // w: float[J], x: float[I, J] {V_X}
    auto r = os::value_and_grad([&](auto const& v) { return os::psum<X>(energy(x, v)); })(w);
    return std::tuple{r.value, r.gradient};    // float[J]: of the sum over X
  }, weights, samples);
  CHECK(os::value(loss) == 4 + 9 + 1);
  CHECK(of_sum.local()(0) == 6 + 2);
  CHECK(of_sum.local()(1) == 4 + 6);

  // each device's own: (0 4), (6 6), (2 0), (0 0)
  auto norms = os::shard_map<N/X>([](auto w, auto x) {
    auto r = os::value_and_grad([&](auto const& v) { return energy(x, v); })(os::pvary<X>(w));
    return os::broadcast<N>(os::einsum<>(r.gradient, r.gradient), N = 1);                  // r.gradient: float[J] {V_X}
  }, weights, samples);
  CHECK(norms.local()(0) == (mesh.device() == 0 ? 16 : mesh.device() == 1 ? 72 : mesh.device() == 2 ? 4 : 0));

  // a tree
  auto [dw, db] = os::shard_map<os::dims<J>{}, os::dims<>{}>([](auto const& p, auto x) {
    auto r = os::value_and_grad([&](auto const& q) { return os::psum<X>(os::multiply(q.b, energy(x, q.w))); })(p);
    return std::tuple{r.gradient.w, r.gradient.b};
  }, affine<os::values>{weights, scale}, samples);
  CHECK(dw.local()(0) == 3 * 8);
  CHECK(dw.local()(1) == 3 * 10);
  CHECK(os::value(db) == 14);
}

TEST_CASE("bodies") {
  auto mesh = os::make_mesh(X = 2, Y = 2);
  auto A = os::generate<float, I/X, J/Y>(mesh, I = 8, J = 16, counting);
  auto B = os::generate<float, J/Y, K>(mesh, J = 16, K = 4, counting);

  auto C = os::shard_map<I/X, K>([](auto a, auto b) {    // a: float[I, J] {V_X V_Y}, b: float[J, K] {V_Y}
    auto part = os::einsum<I, K>(a, b);                  // float[I, K] {V_X V_Y}: its J is this device's
    return os::psum<Y>(part);                            // float[I, K] {V_X}
  }, A, B);                                              // C: float[I_X, K]

  auto D = os::einsum<I/X, K>(A, B);    // what jit does: the same, planned
  CHECK(os::value(os::max<>(os::subtract(C, D))) == 0);
  CHECK(os::value(os::min<>(os::subtract(C, D))) == 0);

  // several
  auto [total, rows] = os::shard_map<os::dims<>{}, os::dims<I/X>{}>([](auto a) {
    auto of_rows = os::psum<Y>(os::sum<I>(a));
    return std::tuple{os::psum<X>(os::sum<>(of_rows)), of_rows};
  }, A);
  CHECK(os::value(total) == os::value(os::sum<>(A)));
  CHECK(rows.extent(I) == 8);

  // manual over X alone
  auto E = os::shard_map<os::manual(X), I/X, K>([](auto a, auto b) {    // a: float[I, J_Y] {V_X}
    return os::einsum<I, K>(a, b);                                      // planned over Y: an all-reduce
  }, A, B);
  CHECK(os::value(os::max<>(os::subtract(E, D))) == 0);

  // captured
  auto bias = os::full<float, K>(mesh, K = 4, 0.5);
  auto F = os::shard_map<I/X, K>([&](auto c) { return os::add(c, bias); }, C);    // bias is the same everywhere
  CHECK(os::value(os::sum<>(F)) == doctest::Approx(os::value(os::sum<>(C)) + 16));

  // in loops
  auto G = os::shard_map<K>([&](auto c) {
    auto sum = os::pvary<X>(bias);                                   // varies from the start, as it will in the end
    for (int step = 0; step < 3; ++step) sum = os::add(sum, os::sum<K>(c));
    return os::psum<X>(sum);
  }, C);
  CHECK(os::value(os::sum<>(G)) == doctest::Approx(3 * os::value(os::sum<>(C)) + 4));

  // transposed blocks
  auto T = os::shard_map<I/Y, J/X>([](auto a) { return a; }, A);    // the block of device (x, y) stands at (y, x)
  CHECK(T.extent(I) == 8);
}

TEST_CASE("rings") {
  auto mesh = os::make_mesh(X = 4);
  auto L = os::generate<float, I/X, J>(mesh, I = 8, J = 6, counting);
  auto R = os::generate<float, J/X, K>(mesh, J = 6, K = 4, counting);

  auto P = os::shard_map<I/X, K>([](auto l, auto r) {    // l: float[I, J] {V_X}, r: float[J, K] {V_X}
    int n = os::axis_size<X>(r);
    auto i = os::axis_index<X>(r);
    auto out = os::einsum<I, K>(os::part<J>(l, i, n), r);
    for (int s = 1; s < n; ++s) {
      r = os::shift<X>(r, +1);
      os::einsum_into(out, os::part<J>(l, (i - s) % n, n), r, os::beta = 1);    // % is never negative
    }
    return out;
  }, L, R);

  auto Q = os::einsum<I/X, K>(L, R);
  CHECK(os::value(os::max<>(os::subtract(P, Q))) == 0);
  CHECK(os::value(os::min<>(os::subtract(P, Q))) == 0);
}

TEST_CASE("lists of tensors") {
  auto mesh = os::make_mesh(X = 4);
  auto x = os::generate<float, I/X, J>(mesh, I = 8, J = 4, counting);
  auto W = std::array{os::ones<float, J/X, K>(mesh, J = 4, K = 4), os::ones<float, J/X, K>(mesh, J = 4, K = 4)};

  auto y = os::shard_map<I/X, J>([](auto h, auto layers) {    // layers: a std::array of blocks
    for (auto const& layer : layers) h = os::rename<K, J>(os::einsum<I, K>(h, os::all_gather<J/X>(layer)));
    return h;
  }, x, W);
  CHECK(os::value(os::sum<>(y)) == 16 * os::value(os::sum<>(x)));
}

}  // namespace from_shard_map
