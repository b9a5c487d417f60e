// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The program itself: loads a checkpoint, scores sequences, tunes on them, saves, and continues them.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <ostraka/gradient.hpp>
#include <ostraka/optimizers.hpp>

#include "checkpoint.hpp"
#include "generate.hpp"
#include "run.hpp"

namespace hugging_face {

using sequences = std::vector<std::vector<std::int32_t>>;

/// Tokens, and the labels that the model should predict at each position.
struct batch {
  sequences tokens, labels;
};

/// Reads a file of token numbers, one sequence in each line. `32:5` is token 32 with the label 5. If no token has a
/// label, the label of a position is the next token if the model is causal, else the token itself. @throws refusal
inline batch read_tokens(std::string const& file, settings const& c) {
  std::ifstream in(file);
  if (!in) throw refusal("the file of tokens " + file + " cannot be read");
  batch b;
  bool has_labels = false;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    auto& tokens = b.tokens.emplace_back();
    auto& labels = b.labels.emplace_back();
    for (std::int32_t t = 0; words >> t;) {
      tokens.push_back(t);
      bool const is_labelled = words.peek() == ':';
      has_labels = has_labels || is_labelled;
      if (std::int32_t label = 0; is_labelled && words.ignore() >> label)
        labels.push_back(label);
      else
        labels.push_back(no_label);
    }
    if (!words.eof()) throw refusal("the file " + file + " has a line that is no sequence of numbers: " + line);
    if (tokens.empty()) b.tokens.pop_back(), b.labels.pop_back();
  }
  if (b.tokens.empty()) throw refusal("the file " + file + " has no tokens");
  for (std::size_t i = 0; !has_labels && i < b.tokens.size(); ++i)
    for (std::size_t s = 0; s + (c.is_causal ? 1 : 0) < b.tokens[i].size(); ++s)
      b.labels[i][s] = b.tokens[i][s + (c.is_causal ? 1 : 0)];
  return b;
}

/// Pads all sequences to the length of the longest one. Causal attention does not see the padding, and ESM-2 hides its
/// padding token.
inline batch padded(batch b, settings const& c) {
  std::size_t longest = 0;
  for (auto const& s : b.tokens) longest = std::max(longest, s.size());
  for (std::size_t i = 0; i < b.tokens.size(); ++i) {
    b.tokens[i].resize(longest, c.is_causal ? 0 : c.pad_token);
    b.labels[i].resize(longest, no_label);
  }
  return b;
}

/// Some steps of AdamW on one batch.
template <class Rules, class Tokens>
void tune(settings const& c, model<os::values, Rules> const& p, Tokens const& tokens, Tokens const& labels,
          options const& o, bool speaks) {
  os::adamw const optimizer{.learning_rate = o.rate, .weight_decay = 0};
  auto const state = optimizer.init(p);
  auto const step = os::value_and_grad(loss_of<Rules>{c});
  for (std::int64_t i = 1; i <= o.steps; ++i) {
    auto const [loss, gradient] = step(p, tokens, labels);
    os::clip_by_global_norm(gradient, 1);
    optimizer.update(p, gradient, state);
    if (double const before = static_cast<double>(os::value(loss)); speaks)
      std::fprintf(stderr, "step %lld: loss %.4f\n", static_cast<long long>(i), before);
  }
}

template <class Rules>
void run(mesh_type const& m, options const& o) {
  constexpr typename Rules::use U{};
  bool const speaks = m.device() == 0;
  settings const c = read_settings(o.folder);
  batch const given = read_tokens(o.tokens, c), b = padded(given, c);
  auto const p = load_model<Rules>(o.folder, m, c);
  auto const tokens = tokens_of<U>(m, b.tokens), labels = tokens_of<U>(m, b.labels);

  double const loss = static_cast<double>(os::value(loss_of<Rules>{c}(p, tokens, labels)));
  if (speaks) std::fprintf(stderr, "loss %.4f, perplexity %.4f\n", loss, std::exp(loss));
  if (o.steps > 0) tune<Rules>(c, p, tokens, labels, o, speaks);
  if (!o.save.empty()) save_model<Rules>(o.save, o.folder, m, c, p);
  for (auto const& prompt : given.tokens) {
    if (o.generate == 0) break;
    for (std::int32_t t : continued<Rules>(m, c, p, prompt, o.generate, o.next))
      if (speaks) std::printf("%d ", t);
    if (speaks) std::printf("\n");
  }
}

}  // namespace hugging_face
