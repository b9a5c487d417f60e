// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::pipeline_loss under every schedule against plain loops: loss and all gradients, fewer microbatches than stages
/// and more, stages with different numbers of layers, layers in the global view. The work of a stage is what the table
/// predicts: idle slots, activations stored, messages; only the last stage runs the loss.
// ranks: 1 2 4 8
// sham:

#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include "gradient/rules/bodies/pipelined_network.hpp"
#include "support/on_meshes.hpp"
#include "surface/meshes/dry_and_wet.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// Stages along X, tensor parallel along Y, the batch along Z.
template <class Leaves>
struct once {
  os::leaf<Leaves, double, L/X, I, J/Y> w;
  os::leaf<Leaves, double, L/X, J/Y> b;
  os::leaf<Leaves, double, L/X, J/Y, I> v;
};
template <class Leaves>
struct repeated {
  os::leaf<Leaves, double, K, L/X, I, J/Y> w;
  os::leaf<Leaves, double, K, L/X, J/Y> b;
  os::leaf<Leaves, double, K, L/X, J/Y, I> v;
};

// Throws in its call number `last`.
struct counted_layer {
  int* calls = nullptr;
  int last = 0;
  template <class H, class P>
  auto operator()(H const& h, P const& p) const {
    if (calls != nullptr && ++*calls == last) throw std::logic_error("no luck");
    auto const inner = os::tanh(os::add(os::einsum<B/Z, J/Y>(h, p.w, os::sum_over(K, L)), os::sum<J/Y>(p.b)));
    return os::add(h, os::einsum<B/Z, I>(inner, p.v, os::sum_over(K, L)));
  }
};
constexpr counted_layer layer;

struct loss_of_rows {
  int* calls;
  int last = 0;
  template <class H, class Head, class T>
  auto operator()(H const& h, Head const& head, T const& target) const {
    if (++*calls == last) throw std::logic_error("no luck");
    auto const error = os::subtract(os::einsum<B/Z>(h, head), target);
    return os::mean<>(os::multiply(error, error));
  }
};

template <class Leaves, class Repeats>
struct network {
  std::conditional_t<Repeats::value, repeated<Leaves>, once<Leaves>> layers;
  os::leaf<Leaves, double, I> head;
  os::leaf<Leaves, double, B/Z, I> x;
};

template <os::pipeline_rule Rule, bool Repeats>
void check(t::test_mesh const& m, int microbatches, t::pipelined_network const& now) {
  INFO(m.text(), microbatches, " microbatches");
  using layers = std::conditional_t<Repeats, repeated<os::values>, once<os::values>>;
  using parameters = network<os::values, std::bool_constant<Repeats>>;
  auto const of = [&](auto const& g) { return Repeats ? g : t::pipelined_network::once(g); };
  parameters const p{{t::placed<decltype(layers::w)>(m, of(now.w)), t::placed<decltype(layers::b)>(m, of(now.b)),
                      t::placed<decltype(layers::v)>(m, of(now.v))},
                     t::placed<os::tensor<double, I>>(m, now.head),
                     t::placed<os::tensor<double, B/Z, I>>(m, now.x)};
  auto const target = t::placed<os::tensor<double, B/Z>>(m, now.target);
  int calls = 0;
  auto const loss = [&](auto const& q) {
    if constexpr (Repeats)
      return os::pipeline_loss<Rule, L/X, B, K>(os::microbatches = microbatches, layer, q.layers, loss_of_rows{&calls},
                                                q.head, q.x, target);
    else
      return os::pipeline_loss<Rule, L/X, B>(os::microbatches = microbatches, layer, q.layers, loss_of_rows{&calls},
                                             q.head, q.x, target);
  };
  int const stages = m.size("X"), stage = m.coordinate("X", t::rank());
  bool const last = stage == stages - 1;
  auto table = Rule(stages, microbatches, static_cast<int>(now.e.at('K'))).with_backward();

  CHECK(t::is_close(os::value(loss(p)), now.loss));
  CHECK(calls == (last ? microbatches : 0));

  auto r = os::value_and_grad(loss)(p);
  CHECK(calls == (last ? 2 * microbatches : 0));
  CHECK(t::is_close(os::value(r.value), now.loss));
  CHECK(t::disagreements(m, r.gradient.layers.w, of(now.dw), t::is_close) == 0);
  CHECK(t::disagreements(m, r.gradient.layers.b, of(now.db), t::is_close) == 0);
  CHECK(t::disagreements(m, r.gradient.layers.v, of(now.dv), t::is_close) == 0);
  CHECK(t::disagreements(m, r.gradient.head, now.dhead, t::is_close) == 0);
  CHECK(t::disagreements(m, r.gradient.x, now.dx, t::is_close) == 0);

  auto const slots = os::count_pipeline_slots([&] { r = os::value_and_grad(loss)(p); });
  CHECK(slots.worked == 2 * microbatches * table.repeats);
  CHECK(slots.worked + slots.idle == table.ticks());
  CHECK(slots.bubble() == doctest::Approx(table.bubble()));
  if (microbatches >= stages)
    CHECK(slots.bubble() == doctest::Approx((stages - 1.0) / (table.repeats * microbatches + stages - 1.0)));
  CHECK(slots.stored == activations_stored(table, stage));
  if (Rule == os::one_forward_one_backward) CHECK(slots.stored <= stages - stage);
}

}  // namespace

TEST_CASE("every schedule gives the loss and the gradients of plain loops") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const stages = m.size("X"), data = m.size("Z");
    for (int microbatches : {1, stages, 2 * stages}) {
      t::pipelined_network const uneven(2 * stages * data, 4, 3, stages + 1, 1);
      check<os::one_forward_one_backward, false>(m, microbatches, uneven);
      check<os::gpipe, false>(m, microbatches, uneven);
      t::pipelined_network const twice(2 * stages * data, 4, 2, stages, 2);
      check<os::circular, true>(m, microbatches, twice);
    }
  });
}

TEST_CASE("what asks for no cotangents of layers goes forward only") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    int const stages = m.size("X"), microbatches = 2 * stages;
    t::pipelined_network const now(microbatches * m.size("Z"), 4, 3, stages, 1);
    network<os::values, std::false_type> const p{
        {t::placed<os::tensor<double, L/X, I, J/Y>>(m, now.once(now.w)),
         t::placed<os::tensor<double, L/X, J/Y>>(m, now.once(now.b)),
         t::placed<os::tensor<double, L/X, J/Y, I>>(m, now.once(now.v))},
        t::placed<os::tensor<double, I>>(m, now.head),
        t::placed<os::tensor<double, B/Z, I>>(m, now.x)};
    auto const target = t::placed<os::tensor<double, B/Z>>(m, now.target);
    int calls = 0;
    auto const loss = [&](auto const& q, auto const& head) {
      return os::pipeline_loss<os::one_forward_one_backward, L/X, B>(os::microbatches = microbatches, layer, q.layers,
                                                                     loss_of_rows{&calls}, head, q.x, target);
    };

    auto const of_head = os::value_and_grad([&](auto const& head) { return loss(p, head); });
    auto r = of_head(p.head);
    CHECK(t::is_close(os::value(r.value), now.loss));
    CHECK(t::disagreements(m, r.gradient, now.dhead, t::is_close) == 0);
    auto slots = os::count_pipeline_slots([&] { r = of_head(p.head); });
    CHECK(slots.worked == microbatches);
    CHECK(slots.worked + slots.idle == os::gpipe(stages, microbatches).ticks());
    CHECK(slots.stored == 0);

    // The region's first run asks for no gradient, the second one for all.
    auto const again = os::value_and_grad(
        os::checkpoint([&](auto const& q) { return loss(q, q.head); }, os::save_names("none")));
    auto all = again(p);
    CHECK(t::is_close(os::value(all.value), now.loss));
    CHECK(t::disagreements(m, all.gradient.layers.w, now.once(now.dw), t::is_close) == 0);
    CHECK(t::disagreements(m, all.gradient.head, now.dhead, t::is_close) == 0);
    CHECK(t::disagreements(m, all.gradient.x, now.dx, t::is_close) == 0);
    slots = os::count_pipeline_slots([&] { all = again(p); });
    CHECK(slots.worked == 3 * microbatches);
  });
}

TEST_CASE("the messages are those of the table, there and back") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const stages = m.size("X"), microbatches = 2 * stages;
    if (m.size("Y") > 1 || m.size("Z") > 1) return;
    t::pipelined_network const now(2 * microbatches, 4, 3, stages, 1);
    INFO(m.text());
    once<os::values> const p{t::placed<os::tensor<double, L/X, I, J/Y>>(m, now.once(now.w)),
                             t::placed<os::tensor<double, L/X, J/Y>>(m, now.once(now.b)),
                             t::placed<os::tensor<double, L/X, J/Y, I>>(m, now.once(now.v))};
    auto const head = t::placed<os::tensor<double, I>>(m, now.head);
    auto const x = t::placed<os::tensor<double, B/Z, I>>(m, now.x);
    auto const target = t::placed<os::tensor<double, B/Z>>(m, now.target);
    int calls = 0;
    auto const loss = [&](auto const& q) {
      return os::pipeline_loss<os::one_forward_one_backward, L/X, B>(os::microbatches = microbatches, layer, q,
                                                                     loss_of_rows{&calls}, head, x, target);
    };
    std::int64_t const activation = 8 * 2 * 4;
    auto const number = t::traffic_of([&] {  // the mean of the losses, for all
      (void)os::shard_map<>([](auto const& one) { return os::psum<X>(os::sum<>(one)); },
                            os::full<double, I/X>(os::mesh<X_mesh, Y_mesh, Z_mesh>(m.handle()), I = stages, 1.0));
    }).bytes;
    auto const there = t::traffic_of([&] { (void)loss(p); }).bytes;
    CHECK(there == bytes_sent(os::gpipe(stages, microbatches), activation) + number);
    auto const both = t::traffic_of([&] { (void)os::value_and_grad(loss)(p); }).bytes;
    CHECK(both == bytes_sent(os::one_forward_one_backward(stages, microbatches), activation) + number);
  });
}

TEST_CASE("a dry mesh predicts bytes and memory") {
  t::costs_the_same("one forward, one backward", [](auto const& m) {
    std::int64_t const stages = m.size(X), rows = 2 * stages * m.size(Z);
    network<os::values, std::false_type> const p{
        {os::random<double, L/X, I, J/Y>(m, L = stages + 1, I = 4, J = 6),
         os::random<double, L/X, J/Y>(m, L = stages + 1, J = 6),
         os::random<double, L/X, J/Y, I>(m, L = stages + 1, J = 6, I = 4)},
        os::random<double, I>(m, I = 4),
        os::random<double, B/Z, I>(m, B = rows, I = 4)};
    auto const target = os::random<double, B/Z>(m, B = rows);
    int calls = 0;
    auto const of = [&](auto const& q) {
      return os::pipeline_loss<os::one_forward_one_backward, L/X, B>(os::microbatches = 2 * stages, layer, q.layers,
                                                                     loss_of_rows{&calls}, q.head, q.x, target);
    };
    static_cast<void>(os::value_and_grad(of)(p));
  });
}

TEST_CASE("targets that are whole are divided as the batch is, and what does not fit is refused on all devices") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const stages = m.size("X"), data = m.size("Z");
    INFO(m.text());
    t::pipelined_network const now(4 * data, 4, 3, stages, 2), once_through(4 * data, 4, 3, stages, 1);
    auto const layers_of = [&](auto const& g) {
      return repeated<os::values>{t::placed<os::tensor<double, K, L/X, I, J/Y>>(m, g.w),
                                  t::placed<os::tensor<double, K, L/X, J/Y>>(m, g.b),
                                  t::placed<os::tensor<double, K, L/X, J/Y, I>>(m, g.v)};
    };
    int calls = 0;
    auto const loss_of = [&]<os::pipeline_rule Rule>(auto const& net, auto const& layers, auto const& target) {
      auto const head = t::placed<os::tensor<double, I>>(m, net.head);
      auto const x = t::placed<os::tensor<double, B/Z, I>>(m, net.x);
      return os::value_and_grad([&](auto const& q) {
        return os::pipeline_loss<Rule, L/X, B, K>(os::microbatches = 2, layer, q, loss_of_rows{&calls}, head, x,
                                                    target);
      })(layers);
    };
    constexpr auto once_alone = os::one_forward_one_backward;
    auto const whole = t::placed<os::tensor<double, B>>(m, now.target);
    auto const r = loss_of.operator()<os::circular>(now, layers_of(now), whole);
    CHECK(t::is_close(os::value(r.value), now.loss));
    CHECK(t::disagreements(m, r.gradient.w, now.dw, t::is_close) == 0);
    auto const one = loss_of.operator()<once_alone>(once_through, layers_of(once_through), whole);
    CHECK(t::is_close(os::value(one.value), once_through.loss));

    calls = 0;
    auto const several_times = [&] { (void)loss_of.operator()<once_alone>(now, layers_of(now), whole); };
    CHECK_THROWS_AS(several_times(), os::error);
    t::pipelined_network const longer(8 * data, 4, 3, stages, 1);
    auto const too_long = t::placed<os::tensor<double, B>>(m, longer.target);
    auto const other_rows = [&] {
      (void)loss_of.operator()<once_alone>(once_through, layers_of(once_through), too_long);
    };
    CHECK_THROWS_AS(other_rows(), os::error);
    CHECK(calls == 0);
  });
}

TEST_CASE("what a layer, its backward or the loss throws on one stage all devices throw, and go on") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const stages = m.size("X"), here = m.coordinate("X", t::rank());
    if (stages == 1) return;
    t::pipelined_network const now(2 * stages * m.size("Z"), 4, 3, stages, 1);
    network<os::values, std::false_type> const p{
        {t::placed<os::tensor<double, L/X, I, J/Y>>(m, now.once(now.w)),
         t::placed<os::tensor<double, L/X, J/Y>>(m, now.once(now.b)),
         t::placed<os::tensor<double, L/X, J/Y, I>>(m, now.once(now.v))},
        t::placed<os::tensor<double, I>>(m, now.head),
        t::placed<os::tensor<double, B/Z, I>>(m, now.x)};
    auto const target = t::placed<os::tensor<double, B/Z>>(m, now.target);
    // Each stage calls its one layer once forward and once backward for each microbatch, the last one the loss.
    auto const run = [&]<os::pipeline_rule Rule>(int bad, int last_of_layer, int last_of_loss) {
      int calls = 0, of_loss = 0;
      return os::value_and_grad([&](auto const& q) {
        return os::pipeline_loss<Rule, L/X, B>(os::microbatches = stages,
                                               counted_layer{&calls, here == bad ? last_of_layer : 0}, q.layers,
                                               loss_of_rows{&of_loss, last_of_loss}, q.head, q.x, target);
      })(p);
    };
    auto const compare_said = [&](int bad, int last_of_layer, int last_of_loss) {
      INFO(m.text(), ", stage ", bad, ": ", last_of_layer, " ", last_of_loss);
      auto const said = [&](auto const& f) {
        try {
          f();
        } catch (os::error const& e) {
          return std::string(e.what());
        }
        return std::string();
      };
      std::string const stage = "stage " + std::to_string(bad) + " of ";
      for (std::string const& why :
           {said([&] { (void)run.operator()<os::one_forward_one_backward>(bad, last_of_layer, last_of_loss); }),
            said([&] { (void)run.operator()<os::gpipe>(bad, last_of_layer, last_of_loss); })}) {
        CHECK(why.find("no luck") != why.npos);
        CHECK(why.find(stage) != why.npos);
      }
      auto const r = run.operator()<os::one_forward_one_backward>(-1, 0, 0);
      CHECK(t::is_close(os::value(r.value), now.loss));
      CHECK(t::disagreements(m, r.gradient.layers.w, now.once(now.dw), t::is_close) == 0);
    };
    for (int bad : {0, stages - 1})
      for (int last : {1, stages + 1, 2 * stages}) compare_said(bad, last, 0);
    compare_said(stages - 1, 0, 1);
    compare_said(stages - 1, 0, stages);
  });
}
