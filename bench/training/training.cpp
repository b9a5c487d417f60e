// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// One step of a transformer block, forward and backward, of os::value_and_grad against the same written by hand with
/// MPI and CBLAS (by_hand.hpp has the formulas), fully sharded and tensor parallel. "By hand" is the faster of two ways
/// to combine blocks. It runs twice in every round: the difference is the noise. Gradients are compared first. The
/// seconds are the slowest rank's. On an even number of ranks, four or more, the block also runs fully sharded over two
/// and tensor parallel over the others, without a version by hand. Bytes are counted below MPI, as a device's mean.
/// training.py adds JAX and PyTorch, in turns.
///
///     mpirun -n 2 bench/training [rounds=9] [only=TEXT] [json=FILE]

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include "by_hand.hpp"
#include "report.hpp"
#include "seconds_of_all.hpp"
#include "support/byte_counter.hpp"

namespace os = ostraka;

constexpr by_hand::extents e{4, 128, 512, 8, 64, 1408};  // training.py has the same

OSTRAKA_AXIS(B, e.batch);
OSTRAKA_AXIS(S, e.tokens);     // positions of queries
OSTRAKA_AXIS(T, e.tokens);     // positions of keys
OSTRAKA_AXIS(D, e.model);
OSTRAKA_AXIS(H, e.heads);
OSTRAKA_AXIS(P, 2);            // halves of a head's width, which rope rotates
OSTRAKA_AXIS(E, e.width / 2);
OSTRAKA_AXIS(F, e.hidden);
// JAX compiles for the devices that it finds; our plans are made for so many.
#ifndef TRAINING_DEVICES
#define TRAINING_DEVICES 2
#endif
OSTRAKA_MESH_AXIS(X, os::about(TRAINING_DEVICES));
OSTRAKA_MESH_AXIS(Y, os::about(2));

namespace {

// `over`: the mesh axis that divides the products.
struct fully_sharded {
  static constexpr char const* name = "fully sharded";
  static constexpr by_hand::layout layout = by_hand::layout::fully_sharded;
  static constexpr auto over = X;
  static constexpr auto b = B/X;
  static constexpr auto h = H;
  static constexpr auto f = F;
  template <class L>
  struct block {
    os::leaf<L, float, B/X, S, D> x;
    os::leaf<L, float, D/X> g1;
    os::leaf<L, float, D/X, H, P, E> wq, wk, wv;
    os::leaf<L, float, H/X, P, E, D> wo;
    os::leaf<L, float, D/X> g2;
    os::leaf<L, float, D/X, F> w1, w3;
    os::leaf<L, float, F/X, D> w2;
  };
};

struct tensor_parallel {
  static constexpr char const* name = "tensor parallel";
  static constexpr by_hand::layout layout = by_hand::layout::tensor_parallel;
  static constexpr auto over = X;
  static constexpr auto b = B;
  static constexpr auto h = H/X;
  static constexpr auto f = F/X;
  template <class L>
  struct block {
    os::leaf<L, float, B, S, D> x;
    os::leaf<L, float, D> g1;
    os::leaf<L, float, D, H/X, P, E> wq, wk, wv;
    os::leaf<L, float, H/X, P, E, D> wo;
    os::leaf<L, float, D> g2;
    os::leaf<L, float, D, F/X> w1, w3;
    os::leaf<L, float, F/X, D> w2;
  };
};

struct both {
  static constexpr char const* name = "fully sharded by 2, tensor parallel";
  static constexpr auto over = Y;
  static constexpr auto b = B/X;
  static constexpr auto h = H/Y;
  static constexpr auto f = F/Y;
  template <class L>
  struct block {
    os::leaf<L, float, B/X, S, D> x;
    os::leaf<L, float, D/X> g1;
    os::leaf<L, float, D/X, H/Y, P, E> wq, wk, wv;
    os::leaf<L, float, H/Y, P, E, D/X> wo;
    os::leaf<L, float, D/X> g2;
    os::leaf<L, float, D/X, F/Y> w1, w3;
    os::leaf<L, float, F/Y, D/X> w2;
  };
};

/// Σ y ⊙ t of the block's result y. `Layout`: how its products are divided.
template <class Layout>
struct loss_of {
  template <class Parameters, class Weights, class Mask>
  auto operator()(Parameters const& p, Weights const& t, Mask const& causal) const {
    constexpr auto b = Layout::b;
    constexpr auto h = Layout::h;
    constexpr auto f = Layout::f;
    auto const n = os::defer_over<Layout::over>(os::rms_norm<D>(p.x, os::reshard<D>(p.g1)));
    auto const q = os::einsum<b, S, h, P, E>(n, os::reshard<D, h, P, E>(p.wq));
    auto const k = os::einsum<b, S, h, P, E>(n, os::reshard<D, h, P, E>(p.wk));
    auto const v = os::einsum<b, S, h, P, E>(n, os::reshard<D, h, P, E>(p.wv));
    auto const queries = os::rope<S, E, P>(os::scale(q, 1 / std::sqrt(static_cast<double>(e.width))));
    auto const keys = os::rename<S, T>(os::rope<S, E, P>(k));
    auto const shares = os::softmax<T>(os::einsum<b, h, S, T>(queries, keys), causal);
    auto const o = os::einsum<b, S, h, P, E>(shares, os::rename<S, T>(v));
    auto const a = p.x + os::einsum<b, S, D>(o, os::reshard<h, P, E, D>(p.wo));
    auto const m = os::defer_over<Layout::over>(os::rms_norm<D>(a, os::reshard<D>(p.g2)));
    auto const gate = os::silu(os::einsum<b, S, f>(m, os::reshard<D, f>(p.w1)));
    auto const s = gate * os::einsum<b, S, f>(m, os::reshard<D, f>(p.w3));
    auto const y = a + os::einsum<b, S, D>(s, os::reshard<f, D>(p.w2));
    return os::einsum<>(y, t);
  }
};

/// Numbers around 0 that all contestants compute, from an element's place in the whole tensor.
struct numbers {
  std::uint32_t salt;
  float size;
  template <class... Indices>
  KOKKOS_FUNCTION float operator()(Indices... i) const {
    std::uint32_t h = salt;
    ((h = (h ^ static_cast<std::uint32_t>(i)) * 0x9E3779B1u, h ^= h >> 15), ...);
    return (static_cast<float>(h % 2001) / 1000 - 1) * size;
  }
};

template <class Tensor>
Tensor filled(auto const& mesh, std::uint32_t salt, float size) {
  return os::generate<Tensor>(mesh, numbers{salt, size});
}

template <class A>
float const* elements(A const& a) {
  return a.local().data();
}

/// The largest difference, in units of the largest number.
double difference(float const* ours, std::vector<float> const& theirs) {
  double most = 0, size = 0;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(ours[i]) - theirs[i]));
    size = std::max(size, std::abs(static_cast<double>(theirs[i])));
  }
  return bench::largest(most) / std::max(bench::largest(size), 1e-30);
}

template <class Layout>
using block_of = typename Layout::template block<os::values>;

/// The initial numbers of all contestants.
template <class Layout>
block_of<Layout> filled_block(auto const& mesh) {
  block_of<Layout> p;
  auto const fill = [&](auto& leaf, std::uint32_t salt, float size) {
    leaf = filled<std::remove_cvref_t<decltype(leaf)>>(mesh, salt, size);
  };
  fill(p.x, 1, 1);
  fill(p.g1, 2, 1);
  fill(p.wq, 3, 0.1f);
  fill(p.wk, 4, 0.1f);
  fill(p.wv, 5, 0.1f);
  fill(p.wo, 6, 0.1f);
  fill(p.g2, 7, 1);
  fill(p.w1, 8, 0.1f);
  fill(p.w3, 9, 0.1f);
  fill(p.w2, 10, 0.1f);
  return p;
}

/// The bytes that a device moves while f runs.
template <class F>
double bytes_of(F const& f) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return static_cast<double>(os::testing::traffic_of(f).bytes) / ranks;
}

template <class Layout>
void compare(bench::report& report, bench::arguments const& given) {
  if (!given.wants(Layout::name)) return;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  auto const mesh = os::make_mesh(X = ranks);
  auto const p = filled_block<Layout>(mesh);
  auto const t = filled<std::remove_cvref_t<decltype(p.x)>>(mesh, 11, 1);
  auto const causal = os::lower_triangle<std::int8_t, S, T>(mesh);
  auto const step = os::value_and_grad(loss_of<Layout>{});

  by_hand::transformer_block hand(e, Layout::layout, MPI_COMM_WORLD);
  std::array<float const*, by_hand::parameters> const parameters{
      elements(p.g1), elements(p.wq), elements(p.wk), elements(p.wv), elements(p.wo),
      elements(p.g2), elements(p.w1), elements(p.w3), elements(p.w2)};
  std::array<std::vector<float>, by_hand::parameters> gradients;
  std::array<float*, by_hand::parameters> into{};
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    gradients[k].resize(static_cast<std::size_t>(hand.elements_of(static_cast<by_hand::parameter>(k))));
    into[k] = gradients[k].data();
  }
  std::vector<float> dx(static_cast<std::size_t>(hand.elements_of_x()));
  auto const by_hand_step = [&] { return hand.step(elements(p.x), elements(t), parameters, dx.data(), into); };

  // Finds the faster way by hand, in the median of some rounds.
  std::array<double, 2> seconds{};
  for (int w = 0; w < 2; ++w) {
    hand.use(static_cast<by_hand::way>(w));
    std::vector<double> taken;
    for (int i = 0; i < 5; ++i) taken.push_back(bench::seconds_of_all([&] { by_hand_step(); }, 1));
    seconds[static_cast<std::size_t>(w)] = bench::spread_of(taken).median;
  }
  hand.use(seconds[0] < seconds[1] ? by_hand::way::collectives : by_hand::way::messages);

  float const loss = by_hand_step();
  auto const r = step(p, t, causal);
  std::array<float const*, by_hand::parameters> const ours{
      elements(r.gradient.g1), elements(r.gradient.wq), elements(r.gradient.wk),
      elements(r.gradient.wv), elements(r.gradient.wo), elements(r.gradient.g2),
      elements(r.gradient.w1), elements(r.gradient.w3), elements(r.gradient.w2)};
  double most = difference(elements(r.gradient.x), dx);
  for (std::size_t k = 0; k < gradients.size(); ++k) most = std::max(most, difference(ours[k], gradients[k]));
  double const own_loss = os::value(r.value);

  auto c = bench::compare(
      Layout::name,
      {{"os::value_and_grad", [&] { (void)step(p, t, causal); }},
       {"by hand", [&] { by_hand_step(); }},
       {"by hand again", [&] { by_hand_step(); }}},
      given.number("rounds", 9), bench::seconds_of_all);
  c.numbers["largest difference"] = most;
  c.numbers["loss"] = own_loss;
  c.numbers["loss by hand"] = loss;
  c.numbers["bytes"] = bytes_of([&] { (void)step(p, t, causal); });
  c.numbers["bytes by hand"] = bytes_of(by_hand_step);
  c.remark = seconds[0] < seconds[1] ? "collectives" : "messages";
  report.add(std::move(c));
}

/// Times X=2 with the other devices along Y, which has no version by hand.
void time_both(bench::report& report, bench::arguments const& given, int ranks) {
  if (ranks < 4 || ranks % 2 != 0 || !given.wants(both::name)) return;
  auto const mesh = os::make_mesh(X = 2, Y = ranks / 2);
  auto const p = filled_block<both>(mesh);
  auto const t = filled<std::remove_cvref_t<decltype(p.x)>>(mesh, 11, 1);
  auto const causal = os::lower_triangle<std::int8_t, S, T>(mesh);
  auto const step = os::value_and_grad(loss_of<both>{});
  double const loss = os::value(step(p, t, causal).value);
  auto c = bench::compare(both::name, {{"os::value_and_grad", [&] { (void)step(p, t, causal); }}},
                          given.number("rounds", 9), bench::seconds_of_all);
  c.numbers["loss"] = loss;
  c.numbers["bytes"] = bytes_of([&] { (void)step(p, t, causal); });
  report.add(std::move(c));
}

}  // namespace

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  bench::arguments const given(argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bench::report report("training", given, rank == 0);
  report.condition("ranks", std::to_string(env.devices()));
  char const* const core = std::getenv("OPENBLAS_CORETYPE");
  report.condition("OpenBLAS core type", core ? core : "as detected");
  compare<fully_sharded>(report, given);
  compare<tensor_parallel>(report, given);
  time_both(report, given, env.devices());
}
