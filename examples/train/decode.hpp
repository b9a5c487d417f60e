// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Continues a text: the first call takes all bytes so far, which fills the caches of all layers; each later call takes
/// one byte. The next byte is the likeliest one, or sampled. Logits are never gathered.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../transformer/model.hpp"
#include "run.hpp"

namespace train {

/// The model with caches for `room` positions.
template <class Vr>
class continuation {
  using how = decoding<typename Vr::rules>;
  using weights = typename Vr::attention::template weights<os::values, Vr>;
  using cache =
      decltype(Vr::attention::template make_cache<how>(std::declval<mesh_type const&>(), std::declval<weights>(), 1));

 public:
  continuation(mesh_type const& m, model<os::values, Vr> const& p, std::int64_t room) : p_(p) {
    for (auto const& l : p.layers) caches_.push_back(Vr::attention::template make_cache<how>(m, l.attention, room));
  }

  /// The logits after each of these tokens, which continue the text: [B, S, V].
  template <class Tokens>
  auto next(Tokens const& tokens) {
    return logits<how>(p_, tokens, [&](std::size_t i, auto const& w, auto const& h) {
      return Vr::attention::template next<how>(w, h, caches_[i]);
    });
  }

  /// The bytes of the caches of all layers on this device.
  [[nodiscard]] std::int64_t cache_bytes() const {
    std::int64_t elements = 0;
    for (cache const& c : caches_)
      elements += static_cast<std::int64_t>(c.keys.local().size() + c.values.local().size());
    return elements * static_cast<std::int64_t>(sizeof(real));
  }

 private:
  model<os::values, Vr> const& p_;
  std::vector<cache> caches_;
};

/// Bytes as one sequence, on all devices.
inline auto tokens_of(mesh_type const& m, std::string const& bytes) {
  std::vector<std::int32_t> numbers;
  for (char c : bytes) numbers.push_back(static_cast<unsigned char>(c));
  return os::scatter_from_root<std::int32_t, B, S>(
      m, B = 1, S = static_cast<std::int64_t>(bytes.size()),
      Kokkos::View<std::int32_t const**, Kokkos::LayoutRight, Kokkos::HostSpace>(numbers.data(), 1, numbers.size()));
}

/// `count` bytes that continue the prompt; at temperature 0 the likeliest ones.
template <class Vr>
std::string sample(mesh_type const& m, model<os::values, Vr> const& p, std::string const& prompt, std::int64_t count,
                   double temperature, std::uint64_t seed) {
  auto const length = static_cast<std::int64_t>(prompt.size());
  constexpr typename decoding<typename Vr::rules>::rules U{};
  continuation<Vr> text(m, p, length + count);
  auto l = os::window<S>(text.next(tokens_of(m, prompt)), length - 1, length);
  std::string bytes;
  while (static_cast<std::int64_t>(bytes.size()) < count) {
    auto const next = os::sample<U(V)>(l, os::fold_in(os::seed(seed), bytes.size()), os::temperature(temperature));
    bytes += static_cast<char>(os::value(os::max<>(next)));
    l = text.next(tokens_of(m, bytes.substr(bytes.size() - 1)));
  }
  return bytes;
}

}  // namespace train
