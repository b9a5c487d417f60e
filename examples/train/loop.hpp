// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The program itself: parameters, steps of the optimiser, continuations; and the cost of a step on a dry mesh. A file
/// for each rule set instantiates it.

#include <chrono>
#include <cstdio>
#include <string>

#include <ostraka/files.hpp>
#include <ostraka/foresight.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/optimizers.hpp>

#include "../transformer/data.hpp"
#include "../transformer/initialise.hpp"
#include "../transformer/model.hpp"
#include "check.hpp"
#include "decode.hpp"
#include "progress.hpp"
#include "run.hpp"

namespace train {

/// Bytes as a line of text: an unprintable character becomes a dot.
inline std::string printable(std::string bytes) {
  for (char& c : bytes)
    if (c != '\n' && (c < ' ' || c > '~')) c = '.';
  return bytes;
}

/// Parameters and the optimiser that updates them.
template <class Vr>
class trainer {
 public:
  trainer(mesh_type const& m, bytes_of_text const& text, options const& o)
      : mesh_(m),
        text_(text),
        options_(o),
        optimizer_{.learning_rate = os::warm_up{.steps = o.steps / 10 + 1,
                                                .then = os::cosine_decay{.from = o.rate, .steps = o.steps}},
                   .decays = decays},
        parameters_(make_model<Vr>(m, o)),
        state_(optimizer_.init(parameters_)) {}

  [[nodiscard]] model<os::values, Vr> const& parameters() const { return parameters_; }
  [[nodiscard]] std::int64_t steps() const { return steps_; }

  /// One step. @returns the loss before it
  double step() {
    constexpr typename Vr::rules::use U{};
    auto const b = batch_of<U>(mesh_, text_, options_, steps_++);
    auto const [loss, gradient] = os::value_and_grad(loss_of<Vr>{})(parameters_, b.tokens, b.next);
    os::clip_by_global_norm(gradient, 1);
    optimizer_.update(parameters_, gradient, state_);
    return os::value(loss);
  }

  /// Saves the state of a run, from which it can continue under any rules and on any mesh.
  void save(std::string const& file) { os::save(file, together()); }
  void load(std::string const& file) {
    os::load_into(together(), file);
    steps_ = os::value(state_.steps);
  }

 private:
  auto together() { return os::together("model", parameters_, "optimizer", state_); }

  mesh_type const& mesh_;
  bytes_of_text const text_;
  options const& options_;
  os::adamw optimizer_;
  model<os::values, Vr> parameters_;
  decltype(optimizer_.init(parameters_)) state_;
  std::int64_t steps_ = 0;
};

template <class Rules, class Attention>
bool run(mesh_type const& m, options const& o) {
  using vr = variant<Rules, Attention>;
  bool const speaks = m.device() == 0;
  auto const text = read_text(o.text, o.length);
  trainer<vr> t(m, text, o);
  auto const& p = t.parameters();
  if (speaks)
    std::printf("%s attention under the rules %s on X=%d · Y=%d\n%s\n", o.attention.c_str(), o.rules.c_str(), m.size(X),
                m.size(Y), os::describe(p).c_str());
  if (!o.load.empty()) t.load(o.load);
  progress bar(speaks, o.steps, o.batch * o.length);
  while (t.steps() < o.steps) {
    double const loss = t.step();
    bar.show(t.steps(), loss);
  }
  if (!o.save.empty()) t.save(o.save);
  bool const good = !o.check || check_decoding<vr>(m, p, text, o);
  for (double temperature : {0.0, o.temperature}) {
    std::string const bytes = sample<vr>(m, p, o.prompt, o.sample, temperature, o.seed);
    if (speaks) std::printf("\nAt temperature %g:\n%s\n", temperature, printable(o.prompt + bytes).c_str());
  }
  return good;
}

template <class Rules, class Attention>
step_price price(mesh_type const& dry, options const& o, os::machine const& on) {
  auto const text = read_text(o.text, o.length);
  step_price r;
  static_cast<void>(os::cost_of(dry, [&] {  // so that parameters are not computed either
    os::memory_counter const memory;
    trainer<variant<Rules, Attention>> t(dry, text, o);
    t.step();
    os::memory_counter::release_workspace();
    r.kept = memory.in_use();
    os::for_each_leaf(
        [&](std::string const&, auto const& w) {
          std::int64_t numbers = 1;
          for (std::int64_t e : w.extents()) numbers *= e;
          r.parameters += numbers;
        },
        t.parameters());

    auto const begin = std::chrono::steady_clock::now();
    auto const time = os::time_of(dry, on, [&] {
      auto const cost = os::cost_of(dry, [&] { t.step(); });
      r.sent = cost.bytes;
      r.peak = r.kept + cost.peak_memory;
      r.flops = cost.flops;
    });
    r.pricing = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    r.seconds = time.seconds;
    r.computing = time.computing;
    r.waiting = time.waiting;
  }));
  return r;
}

}  // namespace train
