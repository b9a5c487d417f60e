// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The model in a pipeline over Z. It stacks the layers that all strategies have, and takes the loss after the last
/// one, a microbatch at a time. The pipeline does not mention X and Y, where rules divide batches and weights.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "trainer.hpp"

namespace strategies {

/// One layer, applied with the weights of one layer. `How`: the rules of use.
template <class Vr>
struct layer_of_stage {
  using how = training<typename Vr::rules>;
  template <class H, class W>
  auto operator()(H const& h, W const& w) const {
    return apply<how>(w, h, [](auto const& of, auto const& a) { return Vr::attention::template at_once<how>(of, a); });
  }
};

/// The work of the last stage on the activations of a microbatch. `head`: the table of tokens, and the last norm.
template <class Vr>
struct loss_of_microbatch {
  using how = training<typename Vr::rules>;
  template <class H, class Head, class Tokens>
  auto operator()(H const& h, Head const& head, Tokens const& next) const {
    constexpr typename Vr::rules::use U{};
    return os::mean<>(os::cross_entropy<U(V)>(unembedded<how>(std::get<0>(head), std::get<1>(head), h), next));
  }
};

/// As many microbatches as a device has sequences, up to 8.
inline int microbatches_of(std::int64_t batch, int devices) {
  return static_cast<int>(std::clamp<std::int64_t>(batch / devices, 1, 8));
}

/// The slots of the pipelines on this device since the last reset.
inline os::pipeline_slots& slots_since() {
  static os::pipeline_slots slots;
  return slots;
}

/// The loss by a pipeline. Both the lookup and the last product use the table, so its cotangents are added before they
/// are reduced once, also over the stages. `Layer` is layer_of_stage<Vr>{}, perhaps wrapped in further work.
template <class Vr, os::pipeline_rule Rule, class Layer, auto... Repeats>
struct pipelined_loss {
  template <class Model, class Tokens>
  auto operator()(Model const& p, Tokens const& tokens, Tokens const& next) const {
    using how = typename layer_of_stage<Vr>::how;
    int const n = microbatches_of(tokens.extent(B), tokens.mesh_handle()->size(tokens.mesh_handle()->find("X")));
    auto const table = os::defer_over<X, Y, Z>(used<how>(p.table));
    auto const x = os::defer_over<Z>(embedded<how>(table, tokens));
    std::optional<decltype(run(n, p, table, x, next))> loss;
    auto const slots = os::count_pipeline_slots([&] { loss.emplace(run(n, p, table, x, next)); });
    slots_since().worked += slots.worked;
    slots_since().idle += slots.idle;
    return *loss;
  }

 private:
  template <class Model, class Table, class A, class Tokens>
  static auto run(int n, Model const& p, Table const& table, A const& x, Tokens const& next) {
    return os::pipeline_loss<Rule, L/Z, B, Repeats...>(os::microbatches = n, Layer::make(), p.layers,
                                                       loss_of_microbatch<Vr>{}, std::tuple(table, p.norm), x, next);
  }
};

/// A strategy that is a pipeline.
template <class Rules, os::pipeline_rule Rule, class Layer, auto... Repeats>
struct pipelined : plain_rules<Rules> {
  using variant = transformer::variant<Rules, grouped, Repeats..., L>;
  using loss = pipelined_loss<variant, Rule, Layer, Repeats...>;

  static double idle() { return std::exchange(slots_since(), {}).bubble(); }
  static double predicted_idle(mesh_type const& m, problem const& o) {
    slots_since() = {};  // forget the slots of the dry run
    return Rule(m.size(Z), microbatches_of(o.batch, m.size(X)), static_cast<int>(o.rounds)).with_backward().bubble();
  }
};

/// Layers without a change.
template <class Vr>
struct plainly {
  static auto make() { return layer_of_stage<Vr>{}; }
};

}  // namespace strategies
