// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Frequencies of os::rope for more positions than in training. They follow transformers and the
/// `rope_scaling` (or `rope_parameters`) of a model's config.json, with the same field names. θ_f = base^(−f/F), d = 2F
/// is the rotated width, and m is the number of positions in training:
///
///     linear     θ / factor
///     dynamic    base · (factor · n / m − (factor − 1))^(d / (d − 2)), of n > m positions
///     llama3     θ / factor for wavelengths 2π/θ above m / low_freq_factor, θ below m / high_freq_factor, and a mean
///                of both between them, linear in θ
///     yarn       the same between the two frequencies that rotate beta_slow and beta_fast times in m positions,
///                linear in f; multiplies pairs by the attention factor (Peng et al. 2023)

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <ostraka/engine/kernels/rotation.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

/// The values of `rope_type`; `plain` is "default".
enum class rope_type { plain, linear, dynamic, llama3, yarn };

/// An option of os::rope: the `rope_scaling` of a config.json, with the same names. Each type ignores the fields that
/// it does not need.
struct rope_scaling {
  rope_type type = rope_type::plain;
  double factor = 1;
  double original_max_position_embeddings = 0;  ///< positions in training; for dynamic, max_position_embeddings
  double low_freq_factor = 1;                   ///< llama3
  double high_freq_factor = 4;                  ///< llama3
  double beta_fast = 32;                        ///< yarn
  double beta_slow = 1;                         ///< yarn
  bool truncate = true;                         ///< yarn: rounds the two frequencies to whole numbers
  double attention_factor = 0;                  ///< yarn; 0: from the factor and both mscales
  double mscale = 0;                            ///< yarn; 0: not given
  double mscale_all_dim = 0;                    ///< yarn; 0: not given
  double positions = 0;                         ///< dynamic: the number of positions so far
};

namespace detail {

/// The frequencies in the form that the kernel takes.
struct rope_frequencies {
  double base;
  engine::angle_scaling scaling;
  double magnitude = 1;
};

inline void require_number(char const* field, double number, bool is_right) {
  if (!is_right)
    throw_error("rope: in os::rope_scaling, ", field, " is ", number,
                ", which gives no frequencies; copy the value from the model's config.json");
}
[[nodiscard]] inline bool is_positive(double x) { return x > 0 && std::isfinite(x); }

[[nodiscard]] inline double yarn_magnitude(rope_scaling const& s) {
  auto const of = [&](double mscale) { return s.factor <= 1 ? 1.0 : 0.1 * mscale * std::log(s.factor) + 1.0; };
  if (s.attention_factor != 0) return s.attention_factor;
  return s.mscale != 0 && s.mscale_all_dim != 0 ? of(s.mscale) / of(s.mscale_all_dim) : of(1);
}

// The (fractional) index of the frequency that rotates `turns` times over the positions of training.
[[nodiscard]] inline double frequency_of_turns(rope_scaling const& s, double turns, double base, double width) {
  constexpr double circle = 6.283185307179586476925286766559;
  return width * std::log(s.original_max_position_embeddings / (turns * circle)) / (2 * std::log(base));
}

[[nodiscard]] inline engine::angle_scaling yarn_scaling(rope_scaling const& s, double base, double width) {
  double low = frequency_of_turns(s, s.beta_fast, base, width), high = frequency_of_turns(s, s.beta_slow, base, width);
  if (s.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, width - 1);
  if (low == high) high += 0.001;
  return {s.factor, 1 + low / (high - low), -1 / (high - low), 0};
}

[[nodiscard]] inline engine::angle_scaling llama3_scaling(rope_scaling const& s) {
  constexpr double circle = 6.283185307179586476925286766559;
  double const apart = s.high_freq_factor - s.low_freq_factor;
  return {s.factor, -s.low_freq_factor / apart, 0, s.original_max_position_embeddings / circle / apart};
}

/// Returns the frequencies for a number of pairs. @throws ostraka::error, on all devices alike, if there are none
[[nodiscard]] inline rope_frequencies frequencies_of(rope_scaling const& s, double base, std::int64_t pairs) {
  double const width = 2 * static_cast<double>(pairs), trained = s.original_max_position_embeddings;
  if (s.type == rope_type::plain) return {base, {}};
  require_number("factor", s.factor, is_positive(s.factor));
  if (s.type == rope_type::linear) return {base, {s.factor, 0, 0, 0}};
  require_number("original_max_position_embeddings", trained, is_positive(trained));
  if (s.type == rope_type::llama3) {
    require_number("high_freq_factor", s.high_freq_factor, s.high_freq_factor > s.low_freq_factor);
    return {base, llama3_scaling(s)};
  }
  if (s.type == rope_type::yarn) {
    require_number("beta_fast", s.beta_fast, is_positive(s.beta_fast));
    require_number("beta_slow", s.beta_slow, is_positive(s.beta_slow));
    return {base, yarn_scaling(s, base, width), yarn_magnitude(s)};
  }
  require_number("positions", s.positions, std::isfinite(s.positions));
  if (pairs == 1)
    throw_error("rope: a dynamic base needs at least two frequencies, but there is one; leave the dynamic base out");
  double const longest = std::max(s.positions, trained);
  return {base * std::pow(s.factor * longest / trained - (s.factor - 1), width / (width - 2)), {}};
}

}  // namespace detail

}  // namespace ostraka
