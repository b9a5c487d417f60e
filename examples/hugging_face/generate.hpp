// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Continues a text, by the likeliest tokens or by sampling. The first call takes all tokens of the text, which fills
/// the caches of all layers; each later call takes one token. The rules divide caches over heads and length, and no
/// cache is gathered.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "model.hpp"
#include "run.hpp"

namespace hugging_face {

/// Sequences of equal lengths, from host memory.
template <auto Rules>
auto tokens_of(mesh_type const& m, std::vector<std::vector<std::int32_t>> const& sequences) {
  std::vector<std::int32_t> flat;
  for (auto const& s : sequences) flat.insert(flat.end(), s.begin(), s.end());
  std::size_t const count = sequences.size(), length = flat.size() / count;
  return os::scatter_from_root<std::int32_t, Rules(B, S)>(
      m, B = static_cast<std::int64_t>(count), S = static_cast<std::int64_t>(length),
      Kokkos::View<std::int32_t const**, Kokkos::LayoutRight, Kokkos::HostSpace>(flat.data(), count, length));
}

template <class Rules>
class continuation {
  using how = with_caches<Rules>;
  static constexpr typename how::rules U{};
  static constexpr auto keys = U(K);
  using entries = os::tensor_under<U, real, B, K, G, D>;

 public:
  /// Makes caches for `room` positions of one sequence.
  continuation(mesh_type const& m, settings const& c, model<os::values, Rules> const& p, std::int64_t room)
      : mesh_(m), settings_(c), parameters_(p) {
    for (std::size_t i = 0; i < p.layers.size(); ++i) {
      auto const made = os::zeros<entries>(m, B = 1, K = room, G = c.key_heads, D = c.head_width);
      caches_.push_back({made, os::zeros_like(made), 0});
    }
  }

  /// The logits after each of these tokens, which continue the text.
  auto next(std::vector<std::int32_t> const& tokens) {
    std::int64_t const from = length_;
    length_ += static_cast<std::int64_t>(tokens.size());
    return logits<how>(settings_, parameters_, tokens_of<U>(mesh_, {tokens}), from,
                       [&](std::size_t i, auto const& q, auto const& k, auto const& v) {
                         os::append<keys>(caches_[i], k, v);
                         return causal_attention<keys>(settings_, settings_.layers[i], q, caches_[i].keys,
                                                       caches_[i].values, os::from_position{from});
                       });
  }

  /// The token that follows these. The same seed draws the same text on every mesh.
  std::int32_t next_token(std::vector<std::int32_t> const& tokens, choice const& by) {
    auto const count = static_cast<std::int64_t>(tokens.size());
    auto const last = os::window<S>(next(tokens), count - 1, count);
    auto const drawn = os::sample<U(V)>(last, os::seed(by.seed + static_cast<std::uint64_t>(length_)),
                                        os::temperature(by.temperature), os::top_k(by.top_k), os::top_p(by.top_p));
    return static_cast<std::int32_t>(os::value(os::max<>(drawn)));
  }

 private:
  mesh_type const& mesh_;
  settings const& settings_;
  model<os::values, Rules> const& parameters_;
  std::vector<os::kv_cache<entries, entries>> caches_;
  std::int64_t length_ = 0;
};

inline bool ends(settings const& c, std::int32_t token) {
  return std::find(c.end_tokens.begin(), c.end_tokens.end(), token) != c.end_tokens.end();
}

/// At most `count` tokens that continue a prompt, up to one of the model's end tokens. @throws refusal
template <class Rules>
std::vector<std::int32_t> continued(mesh_type const& m, settings const& c, model<os::values, Rules> const& p,
                                    std::vector<std::int32_t> const& prompt, std::int64_t count, choice const& how) {
  if (!c.is_causal) throw refusal("this model fills in masked tokens, and continues no text");
  continuation<Rules> text(m, c, p, static_cast<std::int64_t>(prompt.size()) + count);
  std::vector<std::int32_t> tokens;
  while (std::ssize(tokens) < count && (tokens.empty() || !ends(c, tokens.back())))
    tokens.push_back(text.next_token(tokens.empty() ? prompt : std::vector{tokens.back()}, how));
  return tokens;
}

}  // namespace hugging_face
