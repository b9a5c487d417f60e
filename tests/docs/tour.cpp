// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/tour.md as the page prints them, run on 4 ranks; the checks of their results are behind them.

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/seeing/visualize.hpp>
#include <ostraka/tree.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;

namespace tour {

// axes
OSTRAKA_AXIS(batch);                  // its extent is given when a tensor is made
OSTRAKA_AXIS(seq, os::about(512));    // so is this one's; plans are made for 512, which is no promise
OSTRAKA_AXIS(hidden, 256);            // known while compiling
OSTRAKA_AXIS(model, 64);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

// types
using activations = os::tensor<float, batch/X, seq, hidden/Y>;    // activations[batch_X, seq, hidden_Y]
using weights = os::tensor<float, hidden/Y, model>;
using summands = os::tensor<float, batch/X, model, os::partial(Y)>;    // {U_Y}: every device along Y holds a summand

// function
activations normalised(activations const& h) {
  auto length = os::sum<batch/X, seq>(
      os::multiply(h, h));  // over hidden, which Y divides: naming the result authorises an all-reduce
  return os::map([](float v, float l) { return v / std::sqrt(l); }, h,
                 length);  // what lacks an axis is repeated along it; nothing moves
}

// of references
auto projected(activations const& h, weights const& w) {
  auto const plan = os::plan<batch/X, seq, model/Y>(h, w);
  static_assert(plan.communications() == 1);
  return os::einsum<batch/X, seq, model/Y>(h, w);
}

// pinned
constexpr auto down = os::plan_of<os::dims<batch/X, model>, os::sharding_of<batch/X, hidden/Y>, weights>;
static_assert(down.communications() == 1 && down.count(os::step::all_reduce) == 1);
static_assert(down.bytes(batch = 128, X = 2, Y = 2) == 2 * 64 * 64 * 4 / 2);    // 2 (n - 1) / n of a block of 64 × 64

// rules
constexpr os::rules<batch/X, model/Y> R;
using outputs =
    os::tensor<float, R(batch, seq, model)>;  // outputs[batch_X, seq, model_Y]; an axis without a rule is not divided
static_assert(std::is_same_v<outputs, os::tensor<float, batch/X, seq, model/Y>>);

// trees
template <class L>
struct network {                                // L says what stands in the leaves
  os::leaf<L, float, hidden/Y, model> w;
  os::leaf<L, float, model> b;
};

std::vector<float> read_table() { return std::vector<float>(4 * 256, 3.f); }

template <class View>
void print(View const& view) {
  CHECK(view.extent(0) == 64);
}

TEST_CASE("making") {
  auto mesh = os::make_mesh(X = 2, Y = 2);    // 4 devices, each an MPI rank
  auto on_nodes = os::make_mesh(os::within_node(Y = 2), X = 2, Y = 2);    // a node holds both devices along Y
  CHECK(on_nodes.within_node(X) == 1);
  CHECK(on_nodes.within_node(Y) == 2);

  auto h = os::random<float, batch/X, seq, hidden/Y>(mesh, batch = 6, seq = 10);    // the same numbers on every mesh
  auto w = os::random<float, hidden/Y, model>(mesh, os::seed(1));
  auto mask = os::full<float, seq>(mesh, seq = 10, 0.5);    // and os::zeros, os::ones
  auto eye = os::generate<float, batch/X, seq>(mesh, batch = 6, seq = 10,
                                               [](std::int64_t b, std::int64_t s) { return b == s ? 1.f : 0.f; });
  auto g = os::zeros<activations>(
      mesh, os::sizes(batch = 6, seq = 10));  // a type is as good as its dimensions, an os::sizes as its extents
  auto twin = os::copy(h);    // a deep copy: `auto also = h;` is another handle of the same elements
  CHECK(os::value(os::sum<>(mask)) == 5);
  CHECK(os::value(os::sum<>(eye)) == 6);
  CHECK(os::value(os::sum<>(g)) == 0);
  CHECK(w.extent(model) == 64);
  CHECK(twin.local().data() != h.local().data());

  std::vector<float> table;
  if (mesh.device() == 0) table = read_table();    // 4 rows of 256
  auto positions = os::scatter_from_root<float, batch/X, hidden/Y>(mesh, batch = 4, table);
  CHECK(os::value(os::sum<>(positions)) == 4 * 256 * 3);

  auto block = h.local();                      // a Kokkos::View of rank 3, row-major: 3 × 10 × 128 here
  auto first = h.global_offset(batch);  // the global index of its first element: 0 where X's coordinate is 0, else 3
  block(0, 0, 0) = static_cast<float>(first);
  auto other = os::ones<float, seq, hidden/Y>(h.mesh(), h.sizes());    // beside h, on its mesh
  bool writes = os::holds_first_copy(other);   // of the devices that hold a block one says so: here X's coordinate is 0
  CHECK(first == 3 * mesh.coordinate(X));
  CHECK(writes == (mesh.coordinate(X) == 0));
  CHECK(block.extent(2) == 128);

  auto unit = normalised(h);
  CHECK(std::abs(os::value(os::sum<>(os::multiply(unit, unit))) - 60) < 1e-3);
}

TEST_CASE("products, elements, reductions, moves") {
  auto mesh = os::make_mesh(X = 2, Y = 2);
  auto h = os::random<float, batch/X, seq, hidden/Y>(mesh, batch = 6, seq = 10);
  auto w = os::random<float, hidden/Y, model>(mesh, os::seed(1));

  auto a = os::einsum<batch/X, seq, model>(h, w);                    // summed over hidden, then an all-reduce
  auto b = os::einsum<batch/X, seq, model/Y>(h, w);                  // the same, scattered: half of the bytes
  auto p = os::einsum<batch/X, seq, model, os::partial(Y)>(h, w);    // not reduced yet: nothing is moved
  // auto c = os::contract<hidden>(h, w);                            // does not compile: name one of these three
  auto scores = os::einsum<batch/X, seq>(
      h, w, os::ones<float, model>(mesh));  // up to 8 operands; the order of the products is planned
  os::einsum_into(b, h, w, os::alpha = 0.5, os::beta = 0.5);         // into a tensor that is there
  auto diagonal = os::einsum<batch>(os::relabel<batch, batch>(os::ones<float, batch, seq>(mesh, batch = 10, seq = 10)));
  CHECK(os::value(os::max<>(os::subtract(os::all_reduce<Y>(p), a))) < 1e-3f);
  CHECK(scores.extent(seq) == 10);
  CHECK(os::value(os::sum<>(diagonal)) == 10);

  auto relu = os::map([](float v) { return v > 0 ? v : 0; }, a);
  os::map_into(
      relu, [](float v, float s) { return v * s; }, relu,
      scores);  // in place; scores lack model and are repeated along it
  auto doubles = os::cast<double>(relu + 2 * a - 1);
  auto chosen = os::where(a > scores, a, 0);
  CHECK(os::value(os::min<>(doubles)) >= -1);
  CHECK(os::value(os::min<>(chosen)) >= 0);

  auto mean = os::mean<model>(a);          // over batch and seq; X is summed
  auto largest = os::max<batch/X>(a);      // moves nothing: what is reduced is not divided
  float norm = os::value(os::sum<>(os::multiply(a, a)));    // a tensor without axes is a number, on every device
  CHECK(mean.extent(model) == 64);
  CHECK(largest.extent(batch) == 6);
  CHECK(norm > 0);

  auto rows = os::reshard<batch/X/Y, seq, model>(b);    // any sharding to any other, by the cheapest plan
  auto whole = os::all_gather<X>(a);                    // one move by name: it compiles only if it is that move
  auto parts = os::reduce_scatter<model/Y>(p);          // and os::all_reduce, os::all_to_all, os::slice
  auto keys = os::rename<seq, batch>(os::sum<seq, model/Y>(b));    // an axis by another name, without a copy
  CHECK(rows.local().extent(0) <= 2);
  CHECK(whole.local().extent(0) == 6);
  CHECK(parts.local().extent(2) == 32);
  CHECK(keys.extent(batch) == 10);

  auto e = os::shard_map<batch/X, model>([](auto x, auto v) {
    // x: float[batch, seq, hidden] {V_X V_Y}, v: float[hidden, model] {V_Y}
    auto part = os::einsum<batch, model>(x, v, os::sum_over(seq));    // {V_X V_Y}: over the hidden that this device has
    auto next = os::start_shift<X>(part, +1);                    // begun: do not write to part before wait
    auto total = os::psum<Y>(part);                              // {V_X}: the same along Y
    return os::add(total, os::psum<Y>(std::move(next).wait()));
  }, h, w);                                                      // e: float[batch_X, model]
  CHECK(os::value(os::sum<>(e)) == doctest::Approx(2 * os::value(os::sum<>(a))).epsilon(1e-4));

  auto host = os::gather_to_root(mean);    // true on device 0, which has all of it as a Kokkos::View on the host
  if (host) print(*host);
}

TEST_CASE("plans") {
  auto mesh = os::make_mesh(X = 2, Y = 2);

  auto h = os::named("h", os::random<float, batch/X, seq, hidden/Y>(mesh, batch = 6, seq = 10));
  auto w = os::named("w", os::random<float, hidden/Y, model>(mesh));
  constexpr auto plan = os::plan<batch/X, seq, model/Y>(h, w);
  std::string text = os::describe(plan, h, w);
  CHECK(text ==
        "C[batch_X, seq, model_Y] = h[batch_X, seq, hidden_Y] · w[hidden_Y, model]\n"
        "  contract             h[batch_X, seq, hidden_Y] · w[hidden_Y, model] → C[batch_X, seq, model] {U_Y}\n"
        "  reduce_scatter<Y>    C[batch_X, seq, model] {U_Y} → C[batch_X, seq, model_Y] 3,840 B\n"
        "  moves 3,840 B per device\n");

  auto a = os::einsum<batch/X, seq, model/Y>(
      h, w, os::at_most<100'000>);  // to move more bytes a device is an error, before anything moves
  auto b = os::einsum<batch/X, seq, model/Y>(
      h, w, os::within(1 << 20));  // at most this much workspace, in passes if need be
  CHECK(a.extent(batch) == 6);
  CHECK(projected(h, w).extent(model) == 64);
  CHECK(b.extent(seq) == 10);

  auto x = os::ones<outputs>(mesh, batch = 6, seq = 10);
  auto y = os::einsum<R(batch, seq)>(x);
  CHECK(os::value(os::sum<>(y)) == 6 * 10 * 64);
}

TEST_CASE("trees and pictures") {
  auto mesh = os::make_mesh(X = 2, Y = 2);

  auto p = os::make_tree<network>(mesh, os::seed(1));    // network<os::values>: tensors
  auto g = os::tree_map([](auto const& t) { return os::scale(0.1f, t); }, p);
  auto next = os::tree_map([](auto const& t, auto const& d) { return os::subtract(t, d); }, p, g);
  auto narrow = os::tree_cast<os::bfloat16>(next);       // network<os::values_of<os::bfloat16>>
  CHECK(os::value(os::sum<>(next.b)) < os::value(os::sum<>(p.b)));
  CHECK(narrow.b.extent(model) == 64);

  std::string listed = os::describe<network>(os::sizes(Y = 2));    // nothing is allocated
  CHECK(listed ==
        "w  float[hidden_Y, model]  256 × 64  32,768 B\n"
        "b  float[model]            64           256 B\n"
        "2 leaves, 16,448 elements, 33,024 B a device\n");

  std::string drawn = os::visualize(p.w);    // which devices hold which block; nothing moves
  CHECK(drawn ==
        "float[hidden_Y, model] of 256 × 64 on X=2 · Y=2\n"
        "                    model [0, 64)\n"
        "                  ┌───────────────┐\n"
        "hidden [0, 128)   │      0,2      │\n"
        "                  ├───────────────┤\n"
        "       [128, 256) │      1,3      │\n"
        "                  └───────────────┘\n");
}

}  // namespace tour
