// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// One program under four sets of rules: embedding, feed-forward layer with residual, and the gradient of its weights.
/// Only the rules change, and with them the communication and the memory; the answers are those of plain loops.
///
///     x[B, S, D] = t[B, S, V] · E[V, D]      h[B, S, F] = relu(x · W[D, F])
///     y = x + h · U[F, D]                    dU[F, D] = h · y

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <ostraka/ostraka.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(batch, 64);
OSTRAKA_AXIS(seq, 16);
OSTRAKA_AXIS(vocab, 96);
OSTRAKA_AXIS(embed, 48);  // the model's width, in activations
OSTRAKA_AXIS(rows, 48);   // the model's width, in weights: a name of its own, so that it may be divided otherwise
OSTRAKA_AXIS(hidden, 160);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

constexpr os::rules<batch/X/Y> data_parallel;
constexpr os::rules<hidden/X/Y, vocab/X/Y> tensor_parallel;
constexpr os::rules<batch/X/Y, rows/X/Y> fully_sharded;
constexpr os::rules<batch/X, embed/Y, rows/X, hidden/Y, vocab/Y> two_dimensional;

struct relu {
  KOKKOS_FUNCTION double operator()(double v) const { return v > 0 ? v : 0; }
};

struct plus {
  KOKKOS_FUNCTION double operator()(double v, double w) const { return v + w; }
};

/// Maps [0, 1) to [-1, 1).
struct centred {
  KOKKOS_FUNCTION double operator()(double v) const { return 2 * v - 1; }
};

/// 1 for the word at this place, 0 for all others.
struct one_hot {
  KOKKOS_FUNCTION double operator()(std::int64_t b, std::int64_t s, std::int64_t v) const {
    return (31 * b + 17 * s * s + 5) % vocab_axis::extent == v ? 1 : 0;
  }
};

/// The program. Its communication is known while compiling.
template <auto R>
struct program {
  using words = os::tensor_under<R, double, batch, seq, vocab>;
  using activations = os::tensor_under<R, double, batch, seq, embed>;
  using inner = os::tensor_under<R, double, batch, seq, hidden>;
  using table = os::tensor_under<R, double, vocab, rows>;
  using weights_up = os::tensor_under<R, double, rows, hidden>;
  using weights_down = os::tensor_under<R, double, hidden, rows>;

  template <auto From, auto To, class A>
  using renamed = decltype(os::rename<From, To>(std::declval<A>()));

  static constexpr auto look_up = os::plan_of<os::dims<R(batch, seq, embed)>, words, renamed<rows, embed, table>>;
  static constexpr auto up =
      os::plan_of<os::dims<R(batch, seq, hidden)>, activations, renamed<rows, embed, weights_up>>;
  static constexpr auto down = os::plan_of<os::dims<R(batch, seq, embed)>, inner, renamed<rows, embed, weights_down>>;
  static constexpr auto gradient = os::plan_of<os::dims<R(hidden, rows)>, inner, renamed<embed, rows, activations>>;

  /// The bytes per device that the program moves in steps of a kind.
  template <class... Sizes>
  static constexpr std::int64_t bytes_of(os::step kind, Sizes const&... sizes) {
    return look_up.bytes_of(kind, sizes...) + up.bytes_of(kind, sizes...) + down.bytes_of(kind, sizes...) +
           gradient.bytes_of(kind, sizes...);
  }

  static constexpr int communications() {
    return look_up.communications() + up.communications() + down.communications() + gradient.communications();
  }
};

// Pins what each set of rules moves: a change of the program that moves anything else does not compile.
using os::step;

// Data parallel: nothing moves, but the gradient is summed over all devices.
static_assert(program<data_parallel>::communications() == 1 &&
              program<data_parallel>::gradient.count(step::all_reduce) == 1);
static_assert(program<data_parallel>::bytes_of(step::all_reduce, X = 2, Y = 4) == 2 * 7 * 160 * 48 * 8 / 8);

// Tensor parallel: weights and their gradients stay in place, and activations are summed over the mesh axes that divide
// the inner width. The textbook uses an all-reduce; for these extents the planner finds a cheaper plan.
static_assert(program<tensor_parallel>::up.communications() == 0 &&
              program<tensor_parallel>::gradient.communications() == 0);
constexpr auto textbook = os::plan_of<os::dims<batch, seq, embed>, program<tensor_parallel>::inner,
                                      os::sharding_of<hidden/X/Y, embed>, decltype(os::reduce_result)>;
static_assert(textbook.count(step::all_reduce) == 1 && textbook.bytes(X = 2, Y = 4) == 2 * 7 * 64 * 16 * 48 * 8 / 8);
static_assert(program<tensor_parallel>::down.bytes(X = 2, Y = 4) < textbook.bytes(X = 2, Y = 4));

// Fully sharded: weights are gathered where they are used, and the gradient is scattered to its place; activations
// never move.
static_assert(program<fully_sharded>::communications() == 4 &&
              program<fully_sharded>::gradient.count(step::reduce_scatter) == 1);
static_assert(program<fully_sharded>::bytes_of(step::all_gather, X = 2, Y = 4) == 7 * (96 + 160 + 160) * 48 * 8 / 8);
static_assert(program<fully_sharded>::bytes_of(step::reduce_scatter, X = 2, Y = 4) == 7 * 160 * 48 * 8 / 8);

// Two-dimensional: activations are gathered and scattered along Y, weights along X, each over fewer devices.
static_assert(program<two_dimensional>::up.count(step::all_gather) == 2 &&
              program<two_dimensional>::up.communications() == 2);
static_assert(program<two_dimensional>::down.count(step::all_gather) == 1 &&
              program<two_dimensional>::down.count(step::reduce_scatter) == 1);
static_assert(program<two_dimensional>::down.communications() == 2);

/// The result of a run, on device 0; `held` are the bytes of weights on each device.
struct answer {
  std::vector<double> y;
  std::vector<double> gradient;
  std::size_t held = 0;
};

template <class A>
std::vector<double> values_of(A const& a) {
  auto const all = os::gather_to_root(a);
  return all ? std::vector<double>(all->data(), all->data() + all->size()) : std::vector<double>();
}

template <auto R, class Mesh>
answer run(Mesh const& mesh) {
  using p = program<R>;
  auto const words = os::generate<typename p::words>(mesh, one_hot{});
  typename p::table const table = os::map(centred{}, os::random<typename p::table>(mesh, os::seed(1)));
  typename p::weights_up const w_up = os::map(centred{}, os::random<typename p::weights_up>(mesh, os::seed(2)));
  typename p::weights_down const w_down = os::map(centred{}, os::random<typename p::weights_down>(mesh, os::seed(3)));

  auto const x = os::einsum<R(batch, seq, embed)>(words, os::rename<rows, embed>(table));
  auto const h = os::map(relu{}, os::einsum<R(batch, seq, hidden)>(x, os::rename<rows, embed>(w_up)));
  auto const y = os::map(plus{}, x, os::einsum<R(batch, seq, embed)>(h, os::rename<rows, embed>(w_down)));
  auto const gradient = os::einsum<R(hidden, rows)>(h, os::rename<embed, rows>(y));

  return {values_of(y), values_of(gradient),
          (table.local().size() + w_up.local().size() + w_down.local().size()) * sizeof(double)};
}

/// The same in plain loops. Given the magnitudes of the weights, it computes the magnitudes to which rounding errors
/// are relative.
answer by_loops(std::vector<double> const& table, std::vector<double> const& w_up, std::vector<double> const& w_down) {
  constexpr std::size_t D = embed_axis::extent;
  constexpr std::size_t F = hidden_axis::extent;
  answer a;
  a.gradient.assign(F * D, 0);
  std::vector<double> h(F);
  for (std::int64_t b = 0; b < batch_axis::extent; ++b)
    for (std::int64_t s = 0; s < seq_axis::extent; ++s) {
      std::int64_t word = 0;
      while (one_hot{}(b, s, word) == 0) ++word;
      double const* const x = table.data() + static_cast<std::size_t>(word) * D;
      for (std::size_t f = 0; f < F; ++f) {
        double sum = 0;
        for (std::size_t d = 0; d < D; ++d) sum += x[d] * w_up[d * F + f];
        h[f] = sum > 0 ? sum : 0;
      }
      for (std::size_t d = 0; d < D; ++d) {
        double sum = x[d];
        for (std::size_t f = 0; f < F; ++f) sum += h[f] * w_down[f * D + d];
        a.y.push_back(sum);
        for (std::size_t f = 0; f < F; ++f) a.gradient[f * D + d] += h[f] * sum;
      }
    }
  return a;
}

// A sum of n products is off by at most about n·2⁻⁵³ times the sum of their magnitudes, in whatever order, and errors
// of factors add up: x is exact, h is off by D of these units, y by D + F + 1, the gradient by B·S + 2·D + F + 1. Both
// sides have such errors; one more for what is of second order.
constexpr double tolerance =
    2 * (batch_axis::extent * seq_axis::extent + 2 * embed_axis::extent + hidden_axis::extent + 2) * 0x1p-53;

/// The largest difference in units of the rounding error that is allowed.
double largest_difference(std::vector<double> const& got, std::vector<double> const& wanted,
                          std::vector<double> const& magnitude) {
  double largest = got.size() == wanted.size() ? 0 : HUGE_VAL;
  for (std::size_t i = 0; i < wanted.size() && i < got.size(); ++i) {
    double const difference = std::abs(got[i] - wanted[i]);
    largest = std::fmax(largest, difference == 0 ? 0 : difference / (tolerance * magnitude[i]));
  }
  return largest;
}

constexpr step kinds[] = {step::all_gather, step::all_to_all, step::block_exchange, step::reduce_scatter,
                          step::all_reduce};

/// Runs the program, and prints its line of the table on device 0. @return true if the answer is right there
template <auto R, class Mesh>
bool row(char const* name, Mesh const& mesh, answer const& wanted, answer const& magnitude) {
  answer const got = run<R>(mesh);
  if (mesh.device() != 0) return true;
  std::printf("%-16s", name);
  std::int64_t sum = 0;
  for (step kind : kinds) {
    std::int64_t const bytes = program<R>::bytes_of(kind, mesh.sizes());
    std::printf(" %14s", os::planner::describe_bytes(bytes).c_str());
    sum += bytes;
  }
  double const difference = std::fmax(largest_difference(got.y, wanted.y, magnitude.y),
                                      largest_difference(got.gradient, wanted.gradient, magnitude.gradient));
  std::printf(" %12s %12s   %.0e %s\n", os::planner::describe_bytes(sum).c_str(),
              os::planner::describe_bytes(static_cast<std::int64_t>(got.held)).c_str(), difference,
              difference <= 1 ? "PASS" : "FAIL");
  return difference <= 1;
}

int main(int argc, char** argv) {
  os::environment const env(argc, argv);
  int const x = env.devices() % 2 == 0 ? 2 : 1;
  auto const mesh = os::make_mesh(X = x, Y = env.devices() / x);

  // The oracle's weights are on a mesh of one device.
  auto const alone = os::make_mesh(os::this_device, X = 1, Y = 1);
  using p = program<os::rules<>{}>;
  auto const table = values_of(os::map(centred{}, os::random<p::table>(alone, os::seed(1))));
  auto const w_up = values_of(os::map(centred{}, os::random<p::weights_up>(alone, os::seed(2))));
  auto const w_down = values_of(os::map(centred{}, os::random<p::weights_down>(alone, os::seed(3))));
  auto const magnitudes = [](std::vector<double> v) {
    for (double& e : v) e = std::abs(e);
    return v;
  };
  answer const wanted = by_loops(table, w_up, w_down);
  answer const magnitude = by_loops(magnitudes(table), magnitudes(w_up), magnitudes(w_down));

  if (mesh.device() == 0) {
    std::printf(
        "Bytes per device on X=%d · Y=%d, by kind of step; the bytes of weights that a device holds; the largest "
        "difference\nfrom plain loops, in units of what rounding allows.\n\n",
        mesh.size(X), mesh.size(Y));
    std::printf("%-16s", "");
    for (step kind : kinds) std::printf(" %14s", os::planner::name_of(kind).data());
    std::printf(" %12s %12s   %s\n", "moved", "weights", "difference");
  }
  bool good = row<data_parallel>("data parallel", mesh, wanted, magnitude);
  good = row<tensor_parallel>("tensor parallel", mesh, wanted, magnitude) && good;
  good = row<fully_sharded>("fully sharded", mesh, wanted, magnitude) && good;
  good = row<two_dimensional>("two-dimensional", mesh, wanted, magnitude) && good;
  if (mesh.device() == 0) std::printf("\nFour sets of rules, one answer: %s\n", good ? "PASS" : "FAIL");
  return good ? 0 : 1;
}
