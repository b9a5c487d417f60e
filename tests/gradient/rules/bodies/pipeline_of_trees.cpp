// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::pipeline of a tree of parameters, with layers in the global view along all mesh axes but the stages': tensor
/// parallel ones, a batch that is divided, weights that are stored divided. Loss and gradients equal plain loops; a
/// gradient is reduced over the batch's mesh axis once, whatever the number of microbatches; a weight is gathered, and
/// copies of it are held, as often as the program says.
// ranks: 1 2 4 8
// sham:

#include <vector>

#include <doctest/doctest.h>

#include <ostraka/foresight/cost_of.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include "gradient/rules/bodies/pipelined_network.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// Stages along X, tensor parallel along Y, the batch along Z.
template <class Leaves>
struct weights {
  os::leaf<Leaves, double, L/X, I, J/Y> w;
  os::leaf<Leaves, double, L/X, J/Y> b;
  os::leaf<Leaves, double, L/X, J/Y, I> v;
};

// Stored divided over the batch's mesh axis as well, for each repeat.
template <class Leaves>
struct stored_weights {
  os::leaf<Leaves, double, K, L/X, I/Z, J> w;
  os::leaf<Leaves, double, K, L/X, J> b;
  os::leaf<Leaves, double, K, L/X, J, I/Z> v;
};
template <class Leaves>
struct whole_weights {
  os::leaf<Leaves, double, K, L/X, I, J> w;
  os::leaf<Leaves, double, K, L/X, J> b;
  os::leaf<Leaves, double, K, L/X, J, I> v;
};

constexpr auto whole_layer = [](auto const& h, auto const& p) {
  auto const inner = os::tanh(os::add(os::einsum<B/Z, J>(h, p.w, os::sum_over(K, L)), os::sum<J>(p.b)));
  return os::add(h, os::einsum<B/Z, I>(inner, p.v, os::sum_over(K, L)));
};

constexpr auto layer = [](auto const& h, auto const& p) {
  auto const inner = os::tanh(os::add(os::einsum<B/Z, J/Y>(h, p.w, os::sum_over(K, L)), os::sum<J/Y>(p.b)));
  return os::add(h, os::einsum<B/Z, I>(inner, p.v, os::sum_over(K, L)));
};

template <class Leaves>
struct network {
  weights<Leaves> layers;
  os::leaf<Leaves, double, I> head;
};

template <class Y, class T>
auto loss_of(Y const& y, auto const& head, T const& target) {
  auto const error = os::subtract(os::einsum<B/Z>(y, head), target);
  return os::mean<>(os::multiply(error, error));
}

}  // namespace

TEST_CASE("a tree of parameters, layers in the global view") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    int const stages = m.size("X"), data = m.size("Z");
    t::pipelined_network const now(16 * data, 4, 2 * m.size("Y") + 1, stages + 1, 1);
    network<os::values> const p{{t::placed<os::tensor<double, L/X, I, J/Y>>(m, now.once(now.w)),
                                 t::placed<os::tensor<double, L/X, J/Y>>(m, now.once(now.b)),
                                 t::placed<os::tensor<double, L/X, J/Y, I>>(m, now.once(now.v))},
                                t::placed<os::tensor<double, I>>(m, now.head)};
    auto const x = t::placed<os::tensor<double, B/Z, I>>(m, now.x);
    auto const target = t::placed<os::tensor<double, B/Z>>(m, now.target);
    std::int64_t first = -1;
    for (int microbatches : {1, 2, 4}) {
      auto const loss = [&](auto const& q) {
        auto const y = os::pipeline<os::gpipe, L/X, B>(os::microbatches = microbatches, layer, x, q.layers);
        return loss_of(y, q.head, target);
      };
      CHECK(t::is_close(os::value(loss(p)), now.loss));
      auto r = os::value_and_grad(loss)(p);
      auto const bytes = t::traffic_of([&] { r = os::value_and_grad(loss)(p); }).bytes;
      CHECK(t::is_close(os::value(r.value), now.loss));
      CHECK(t::disagreements(m, r.gradient.layers.w, now.once(now.dw), t::is_close) == 0);
      CHECK(t::disagreements(m, r.gradient.layers.b, now.once(now.db), t::is_close) == 0);
      CHECK(t::disagreements(m, r.gradient.layers.v, now.once(now.dv), t::is_close) == 0);
      CHECK(t::disagreements(m, r.gradient.head, now.dhead, t::is_close) == 0);
      if (first < 0) first = bytes;
      CHECK(bytes == first);  // activations, and one reduction of each gradient
    }
    auto const of_x = os::value_and_grad([&](auto const& given) {
      auto const y = os::pipeline<os::gpipe, L/X, B>(os::microbatches = 2, layer, given, p.layers);
      return loss_of(y, p.head, target);
    })(x);
    CHECK(t::disagreements(m, of_x.gradient, now.dx, t::is_close) == 0);
  });
}

TEST_CASE("weights that are stored divided are gathered M, 1 and 1 times a pass") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    int const stages = m.size("X"), data = m.size("Z"), microbatches = 2 * stages;
    t::pipelined_network const now(microbatches * data, 4 * data, 2, 2 * stages, 2);
    auto const x = t::placed<os::tensor<double, B/Z, I>>(m, now.x);
    auto const b = t::placed<os::tensor<double, K, L/X, J>>(m, now.b);
    stored_weights<os::values> const stored{t::placed<os::tensor<double, K, L/X, I/Z, J>>(m, now.w), b,
                                            t::placed<os::tensor<double, K, L/X, J, I/Z>>(m, now.v)};
    whole_weights<os::values> const whole{t::placed<os::tensor<double, K, L/X, I, J>>(m, now.w), b,
                                          t::placed<os::tensor<double, K, L/X, J, I>>(m, now.v)};
    auto const head = t::placed<os::tensor<double, I>>(m, now.head);
    auto const target = t::placed<os::tensor<double, B/Z>>(m, now.target);
    auto const loss_with = [&](auto const& f) {
      return [&, f](auto const& q) {
        auto const y = os::pipeline<os::circular, L/X, B, K>(os::microbatches = microbatches, f, x, q);
        return loss_of(y, head, target);
      };
    };
    auto const at = [&](auto const& loss, auto const& p) {
      return t::traffic_of([&] { CHECK(t::is_close(os::value(loss(p)), now.loss)); }).bytes;
    };
    auto const there_and_back = [&](auto const& loss, auto const& p) {
      return t::traffic_of([&] {
        auto const g = os::value_and_grad(loss)(p).gradient;
        CHECK(t::disagreements(m, g.w, now.dw, t::is_close) == 0);
        CHECK(t::disagreements(m, g.b, now.db, t::is_close) == 0);
        CHECK(t::disagreements(m, g.v, now.dv, t::is_close) == 0);
      }).bytes;
    };
    std::int64_t const forward = at(loss_with(whole_layer), whole);
    std::int64_t const both = there_and_back(loss_with(whole_layer), whole);
    std::int64_t const of_a_gather = 8 * static_cast<std::int64_t>(now.w.values.size() + now.v.values.size()) *
                                     (data - 1) * m.size("Y");
    auto const check = [&](auto const& f, int times) {
      CHECK(at(loss_with(f), stored) == forward + times * of_a_gather);
      // Gathered in both passes, and scattered as often, where whole ones are reduced and gathered once.
      CHECK(there_and_back(loss_with(f), stored) == both + (3 * times - 2) * of_a_gather);
    };
    check(os::weights_each_tick(os::gather_over<Z>, whole_layer), microbatches);
    check(os::weights_each_repeat(os::gather_over<Z>, whole_layer), 1);
    check(os::weights_each_pass(os::gather_over<Z>, whole_layer), 1);
  });
}

TEST_CASE("of weights that are stored divided one layer's, one repeat's, or the stage's are held") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    int const stages = m.size("X"), data = m.size("Z"), microbatches = 2 * stages;
    t::pipelined_network const now(microbatches * data, 4 * data, 2, 2 * stages, 2);
    auto const x = t::placed<os::tensor<double, B/Z, I>>(m, now.x);
    stored_weights<os::values> const stored{t::placed<os::tensor<double, K, L/X, I/Z, J>>(m, now.w),
                                            t::placed<os::tensor<double, K, L/X, J>>(m, now.b),
                                            t::placed<os::tensor<double, K, L/X, J, I/Z>>(m, now.v)};
    auto const head = t::placed<os::tensor<double, I>>(m, now.head);
    auto const target = t::placed<os::tensor<double, B/Z>>(m, now.target);
    // In use when each call of a layer begins.
    auto const held = [&](auto const& with, bool back) {
      std::vector<std::int64_t> calls;
      os::memory_counter const counter;
      auto const f = with([&](auto const& h, auto const& p) {
        os::memory_counter::release_workspace();
        calls.push_back(counter.in_use());
        return whole_layer(h, p);
      });
      auto const loss = [&](auto const& q) {
        return loss_of(os::pipeline<os::circular, L/X, B, K>(os::microbatches = microbatches, f, x, q), head, target);
      };
      if (back)
        CHECK(t::is_close(os::value(os::value_and_grad(loss)(stored).value), now.loss));
      else
        CHECK(t::is_close(os::value(loss(stored)), now.loss));
      return calls;
    };
    auto const tick = [](auto f) { return os::weights_each_tick(os::gather_over<Z>, f); };
    auto const twice = [](auto f) {
      return [f = os::weights_each_tick(os::gather_over<Z>, f)](auto const& h, auto const& p) {
        return os::checkpoint(f, os::save_all_but_gathers)(h, p);
      };
    };
    auto const repeat = [](auto f) { return os::weights_each_repeat(os::gather_over<Z>, f); };
    auto const pass = [](auto f) { return os::weights_each_pass(os::gather_over<Z>, f); };
    std::int64_t const layers = 2, repeats = 2;
    std::int64_t const weights = 8 * 2 * 4 * data * 2;         // of a layer, in bytes
    std::int64_t const with_sums = weights + weights + 8 * 2;  // and of their cotangents and the bias's
    auto const at_tick = held(tick, false), at_repeat = held(repeat, false), at_pass = held(pass, false);
    for (std::size_t i = 0; i < at_tick.size(); ++i) {
      CHECK(at_repeat[i] - at_tick[i] == (layers - 1) * weights);
      CHECK(at_pass[i] - at_tick[i] == (repeats * layers - 1) * weights);
    }
    // In the backward the layers of a repeat are on a tape together with their weights, unless these are gathered once
    // more.
    auto const back_tick = held(tick, true), back_twice = held(twice, true);
    auto const back_repeat = held(repeat, true), back_pass = held(pass, true);
    REQUIRE(back_tick.size() == 2 * at_tick.size());
    REQUIRE(back_twice.size() == back_tick.size());
    for (std::size_t i = at_tick.size(); i < back_tick.size(); ++i) {
      std::int64_t const on_tape = static_cast<std::int64_t>(i) % layers * weights;
      CHECK(back_tick[i] - back_twice[i] == on_tape);
      CHECK(back_repeat[i] - back_twice[i] == layers * with_sums - weights);
      CHECK(back_pass[i] - back_twice[i] == repeats * layers * with_sums - weights);
    }
  });
}
