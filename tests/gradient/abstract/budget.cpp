// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The cost of a training step, as a constant expression, against the figures of os::cost_of when it runs, on ranks and
/// on dry meshes: bytes of all devices, flops, and memory in use at once.
// ranks: 1 2 4 8

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <ostraka/foresight/budget.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include "surface/meshes/dry_and_wet.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

OSTRAKA_AXIS(S, 16);
OSTRAKA_AXIS(D, 32);
OSTRAKA_AXIS(F, 64);
OSTRAKA_AXIS(H, 8);
OSTRAKA_AXIS(E, 4);
OSTRAKA_AXIS(N, 8);
OSTRAKA_AXIS(P, 300);

namespace {

struct of_products {
  template <class W, class A>
  constexpr auto operator()(W const& w, A const& x) const {
    auto const h = os::einsum<B/X, F/Y>(x, os::reshard<D, F/Y>(w));
    return os::sum<>(h * h);
  }
};

template <class L>
struct layer {
  os::leaf<L, double, D/X, F/Y> up;
  os::leaf<L, double, F/Y, D/X> down;
};

template <class L>
struct network {
  std::array<layer<L>, 3> layers;
};

struct through_layer {
  template <class L, class A>
  constexpr auto operator()(L const& l, A const& x) const {
    auto const z = os::relu(os::einsum<B/X, F/Y>(x, os::reshard<D, F/Y>(l.up)));
    return x + os::einsum<B/X, D>(z, os::reshard<F/Y, D>(l.down));
  }
};

struct of_layers {
  template <class P, class A>
  constexpr auto operator()(P const& p, A const& x) const {
    auto const h = through_layer()(p.layers[2], through_layer()(p.layers[1], through_layer()(p.layers[0], x)));
    return os::mean<>(os::square(h));
  }
};
struct in_regions {
  template <class P, class A>
  constexpr auto operator()(P const& p, A const& x) const {
    auto const f = os::checkpoint(through_layer());
    return os::mean<>(os::square(f(p.layers[2], f(p.layers[1], f(p.layers[0], x)))));
  }
};
struct gathers_again {
  template <class P, class A>
  constexpr auto operator()(P const& p, A const& x) const {
    auto const f = os::checkpoint(through_layer(), os::save_all_but_gathers);
    return os::mean<>(os::square(f(p.layers[2], f(p.layers[1], f(p.layers[0], x)))));
  }
};

// Attention, norms, and tensors that share memory: renamed, merged.
template <class L>
struct block {
  os::leaf<L, double, D> gain;
  os::leaf<L, double, D, H/Y, E> q, k, v;
  os::leaf<L, double, H/Y, E, D> o;
};
struct of_block {
  template <class P, class A>
  constexpr auto operator()(P const& p, A const& x) const {
    auto const h = os::rms_norm<D>(x, p.gain);
    auto const project = [&](auto const& w) { return os::einsum<B/X, S, H/Y, E>(h, w); };
    auto const seen = os::attention<S, J, E>(project(p.q), os::rename<S, J>(project(p.k)),
                                             os::rename<S, J>(project(p.v)), os::causal);
    return os::mean<>(os::square(x + os::einsum<B/X, S, D>(seen, p.o)));
  }
};

// More queries than a decoding step has: attention in tiles, whose derivative computes the scores again.
template <auto... Options>
struct of_tiles {
  template <class Weights, class A>
  constexpr auto operator()(Weights const& p, A const& x) const {
    auto const project = [&](auto const& w) { return os::einsum<N/X, P, H/Y, E>(x, w); };
    auto const seen = os::attention<P, J, E>(project(p.q), os::rename<P, J>(project(p.k)),
                                             os::rename<P, J>(project(p.v)), Options...);
    return os::mean<>(os::square(x + os::einsum<N/X, P, D>(seen, p.o)));
  }
};

// Rows that change their devices, and another number of them.
struct of_pieces {
  template <class W, class A>
  constexpr auto operator()(W const& w, A const& x) const {
    auto const h = os::einsum<B/X, F/Y>(x, os::reshard<D, F/Y>(w));
    auto const y = os::roll<B/X>(h, 3);
    auto const some = os::pad<B/X>(os::window<B/X>(y, 1, 60, 3), 3, 1);  // 20 rows, and 4
    auto const all = os::concatenate<B/X>(os::window<B/X>(y, 5, y.extent(B) - 19), some, os::flip<B/X>(some));
    return os::sum<>(all * all) + os::sum<>(os::window<B/X>(all, 3, 11) * 2.0);
  }
};

// The largest of a divided axis, and where they were.
struct of_largest {
  template <class W, class A>
  constexpr auto operator()(W const& w, A const& x) const {
    auto const h = os::einsum<B/X, F/Y>(x, os::reshard<D, F/Y>(w));
    return os::sum<>(os::square(os::top_k<F/Y, K>(h, K = 5).values));
  }
};

using weights = os::tensor<double, D/X, F/Y>;
using rows = os::tensor<double, B/X, D>;
using sequences = os::tensor<double, B/X, S, D>;
using long_sequences = os::tensor<double, N/X, P, D>;

// All of it is counted: the predicted workspace is allocated. `Bound`: plans use less workspace than they may (small
// sums go over MPI's own all-reduce, a gather along the first dimension arrives in place), and kernels some of their
// own, a sixteenth or `kernels`.
template <bool Bound, class P, class A, class Loss>
void costs_as_predicted(char const* name, std::int64_t kernels = 0) {
  using step_type = os::training_step<Loss, P, A>;
  static_assert(step_type::plan.unpriced() == 0);
  t::on_meshes_of_ranks([&](t::mesh_of_tests const& wet) {
    INFO(name, " on ", wet.handle()->describe());
    os::step_budget const b = os::budget<step_type>(B = 64, X = wet.size(X), Y = wet.size(Y), Z = wet.size(Z));
    auto const run = [&](t::mesh_of_tests const& m) {
      auto const fill = [&]<class T>(std::type_identity<T>) { return os::random<T>(m, os::sizes(B = 64)); };
      os::memory_counter const operands;
      auto const p = [&] {
        if constexpr (os::Tensor<P>)
          return fill(std::type_identity<P>());
        else
          return os::make_tree<P>(m, os::seed(1), [&](auto const& leaf) {
            return fill(std::type_identity<typename std::remove_cvref_t<decltype(leaf)>::type>());
          });
      }();
      auto const x = fill(std::type_identity<A>());
      os::memory_counter::release_workspace();
      CHECK(operands.in_use() == b.operands);
      auto const step = os::value_and_grad(Loss());
      std::optional<decltype(step(p, x))> kept;
      auto const c = os::cost_of(m, [&] { kept = step(p, x); });
      CHECK(c.memory_kept == b.results);
      CHECK(c.flops == b.flops);
      if constexpr (Bound) {
        CHECK(c.peak_memory <= b.memory + std::max(kernels, b.memory >> 4));
        CHECK(c.peak_memory >= b.memory - b.workspace - (b.memory >> 4));
      } else {
        CHECK(c.peak_memory == b.memory);
      }
      return c;
    };
    auto const counted = run(wet);
    t::check_same(run(os::dry_mesh(os::as_device(wet.device()), X = wet.size(X), Y = wet.size(Y), Z = wet.size(Z))),
                  counted);
    std::int64_t sent = 0;
    for (std::int64_t bytes : t::numbers_of_ranks(counted.bytes)) sent += bytes;
    CHECK(sent == b.total_bytes);
  });
}

// All static: a constant without arguments.
OSTRAKA_AXIS(C, 48);
OSTRAKA_MESH_AXIS(V, 4);
OSTRAKA_MESH_AXIS(W, 2);
struct static_loss {
  template <class P, class A>
  constexpr auto operator()(P const& w, A const& x) const {
    return os::sum<>(os::square(os::einsum<C/V, F/W>(x, os::reshard<D, F/W>(w))));
  }
};
using train_step = os::training_step<static_loss, os::tensor<float, D/V, F/W>, os::tensor<float, C/V, D>>;
constexpr os::step_budget of_step = os::budget<train_step>();
static_assert(of_step.operands == 4 * (8 * 32 + 12 * 32));
static_assert(of_step.results == 4 + 4 * 8 * 32);  // a gradient as its parameter
// Weights gathered over V, their gradients scattered; the loss summed over all.
static_assert(of_step.total_bytes == 2 * 2 * 3 * 4 * 32 * 32 + 2 * 7 * 4);
static_assert(of_step.flops == os::budget<train_step>(V = 4, W = 2).flops);
static_assert(of_step.tape == 4 * (12 * 32 + 1));  // the product, which the square needs, and the loss
static_assert(of_step.memory <= 13'000);

// Devices side by side along a mesh axis that an operation does not name are counted if types know its size: one of the
// data, here all but those of the loss and of the gradient's sums.
struct loss_of_rows {
  template <class P, class A>
  constexpr auto operator()(P const& w, A const& x) const {
    return os::sum<>(os::square(os::einsum<C/W, F>(x, os::reshard<D, F>(w))));
  }
};
constexpr auto plan_of_rows = os::gradient_plan<os::tensor<float, D/V, F>, os::tensor<float, C/W, D>>(loss_of_rows{});
static_assert(plan_of_rows.forward.total_bytes() == 2 * 3 * 4 * 32 * 64 + 4 * 2 * 4);  // w gathered, and the loss
static_assert(plan_of_rows.backward.total_bytes() == 2 * 4 * 32 * 64);  // four parts of w, all-reduced by two

// A mesh axis that only the program names.
struct loss_of_columns {
  template <class P, class A>
  constexpr auto operator()(P const& w, A const& x) const {
    return os::sum<>(os::square(os::reshard<C/V, F/W>(os::einsum<C/V, F>(x, os::reshard<D, F>(w)))));
  }
};
using column_step = os::training_step<loss_of_columns, os::tensor<float, D/V, F>, os::tensor<float, C/V, D>>;
// w gathered and its gradient scattered; 12 rows of the cotangent gathered, by pairs along W; the loss.
static_assert(column_step::plan.total_bytes() == 2 * 2 * 3 * 4 * 32 * 64 + 4 * 4 * 12 * 64 + 2 * 7 * 4);
static_assert(os::budget<column_step>().total_bytes == column_step::plan.total_bytes());

}  // namespace

TEST_CASE("products, elements and moves: to the byte, whether kept or made again") {
  costs_as_predicted<false, network<os::values>, rows, of_layers>("layers");
  costs_as_predicted<false, network<os::values>, rows, in_regions>("regions");
  costs_as_predicted<false, network<os::values>, rows, gathers_again>("gathers again");
}

TEST_CASE("where plans set aside less than they may, and kernels more") {
  costs_as_predicted<true, weights, rows, of_products>("products");
  costs_as_predicted<true, block<os::values>, sequences, of_block>("attention");
}

TEST_CASE("attention in tiles, with and without a window") {
  // Each thread has two tiles of scores, of 120 queries and 240 keys, and fewer elements of its operands. An array of
  // all scores, of 8 heads on 8 devices, is eight times as large.
  std::int64_t const tiles = 3 * 120 * 240 * 8 * Kokkos::DefaultHostExecutionSpace().concurrency();
  using b = block<os::values>;
  costs_as_predicted<true, b, long_sequences, of_tiles<os::causal>>("tiles", tiles);
  costs_as_predicted<true, b, long_sequences, of_tiles<os::causal, os::window(50)>>("a window", tiles);
  costs_as_predicted<true, b, long_sequences, of_tiles<os::window(20).and_first(4)>>("both ways", tiles);
}

TEST_CASE("what numbers of the program decide: pieces of a divided axis, and its largest elements") {
  costs_as_predicted<true, weights, rows, of_pieces>("pieces");
  // Five candidates of 16 bytes for each of 64 rows: a device's own, and those of up to 8 devices.
  costs_as_predicted<true, weights, rows, of_largest>("largest", 16 * 5 * 64 * 9);
}
