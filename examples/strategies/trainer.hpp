// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// A strategy at work: parameters, batches, the loss and its gradient, AdamW. This file has the parts that strategies
/// share; a strategy overrides one by a member that hides that of `plain_rules`.

#include <cstdint>
#include <string>
#include <utility>

#include <ostraka/files.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/optimizers.hpp>

#include "../transformer/data.hpp"
#include "../transformer/initialise.hpp"
#include "../transformer/model.hpp"
#include "measure.hpp"
#include "strategy.hpp"

namespace strategies {

/// A strategy that is a rule set: parameters are stored under `Rules::storage`, and the model runs under `Rules::use`.
template <class Rules>
struct plain_rules {
  using use = typename Rules::use;  ///< of tokens, too
  using variant = transformer::variant<Rules, grouped>;
  using loss = loss_of<variant>;  ///< loss(parameters, tokens, next)

  /// The types of gradients while a backward adds them up, and after all microbatches: leaf policies; void for the type
  /// of the parameters, and for no change.
  using gradients = void;
  using reduced = void;

  /// True if the step goes through the batch in problem::microbatches and adds up their gradients.
  static constexpr bool accumulates = false;

  template <class Optimizer, class Parameters>
  static auto init(Optimizer const& optimizer, Parameters const& p) {
    return optimizer.init(p);
  }

  /// The share of idle slots of a pipeline: counted since the last call, and from its schedule's table.
  static double idle() { return -1; }
  static double predicted_idle(mesh_type const&, problem const&) { return -1; }
};

/// Parameters and the optimiser that updates them.
template <class Strategy>
class trainer {
  using variant = typename Strategy::variant;

 public:
  trainer(mesh_type const& m, bytes_of_text const& text, problem const& o)
      : mesh_(m),
        text_(text),
        problem_(o),
        optimizer_{.learning_rate = os::warm_up{.steps = 5, .then = o.rate}, .decays = decays},
        parameters_(make_model<variant>(m, o)),
        state_(Strategy::init(optimizer_, parameters_)) {}

  /// One step. @returns the loss before it
  double step() {
    auto const [loss, gradient] = value_and_gradient();
    gradient_bytes_ = bytes_of(gradient);
    if constexpr (std::is_void_v<typename Strategy::reduced>)
      update(gradient);
    else
      update(os::tree_reshard<typename Strategy::reduced>(gradient));
    ++steps_;
    return os::value(loss);
  }

  [[nodiscard]] std::int64_t steps() const { return steps_; }

  /// Saves the state of a run, from which any strategy can continue, on any mesh, with layers stacked in any way.
  void save(std::string const& file) { os::save(file, os::together("model", parameters_, "optimizer", state_)); }
  void load(std::string const& file) {
    os::load_into(os::together("model", parameters_, "optimizer", state_), file);
    steps_ = os::value(state_.steps);
  }

  [[nodiscard]] std::int64_t parameter_bytes() const { return bytes_of(parameters_); }
  [[nodiscard]] std::int64_t gradient_bytes() const { return gradient_bytes_; }
  [[nodiscard]] std::int64_t state_bytes() const { return bytes_of(state_); }

 private:
  // A function of its own: g++ 12 behind nvcc ends with an internal error where the lambda below names the rules.
  auto part_of_batch(problem const& o, std::int64_t first) const {
    return batch_of<typename Strategy::use{}>(mesh_, text_, o, steps_, first);
  }

  auto value_and_gradient() {
    if constexpr (!Strategy::accumulates) {
      auto const b = part_of_batch(problem_, 0);
      return os::value_and_grad<typename Strategy::gradients>(typename Strategy::loss{})(parameters_, b.tokens, b.next);
    } else {
      problem one = problem_;
      one.batch /= one.microbatches;
      double const share = 1 / static_cast<double>(one.microbatches);
      auto const part = os::value_and_grad<typename Strategy::gradients>(
          [share](auto const& p, auto const& tokens, auto const& next) {
            return os::scale(typename Strategy::loss{}(p, tokens, next), share);
          });
      auto const of = [&](std::int64_t k) {
        auto const b = part_of_batch(one, k * one.batch);
        return part(parameters_, b.tokens, b.next);
      };
      auto sum = of(0);
      for (std::int64_t k = 1; k < one.microbatches; ++k) {
        auto const more = of(k);
        sum.value = sum.value + more.value;
        os::accumulate(sum.gradient, more.gradient);
      }
      return sum;
    }
  }

  template <class Gradient>
  void update(Gradient const& gradient) {
    os::clip_by_global_norm(gradient, 1);
    optimizer_.update(parameters_, gradient, state_);
  }

  mesh_type const& mesh_;
  bytes_of_text const text_;
  problem const& problem_;
  os::adamw optimizer_;
  model<os::values, variant> parameters_;
  decltype(Strategy::init(optimizer_, parameters_)) state_;
  std::int64_t steps_ = 0, gradient_bytes_ = 0;
};

template <class Strategy>
outcome run(mesh_type const& m, problem const& o) {
  auto const text = read_text(EXAMPLE_FOLDER "/../train/data/alice.txt", o.length);
  trainer<Strategy> t(m, text, o);
  if (!o.load.empty()) t.load(o.load);
  outcome r;
  // All steps after the first are alike; the first one may also fill caches.
  while (t.steps() < o.steps) {
    taken const step = taken_by(m, [&] { r.losses.push_back(t.step()); });
    r.moved = step.moved;
    r.peak = step.peak;
  }
  r.peak += t.parameter_bytes() + t.state_bytes();  // they exist before the step
  if (!o.save.empty()) t.save(o.save);
  r.parameters = t.parameter_bytes();
  r.gradients = t.gradient_bytes();
  r.state = t.state_bytes();
  r.idle = os::is_dry(m) ? Strategy::predicted_idle(m, o) : Strategy::idle();
  return r;
}

}  // namespace strategies
