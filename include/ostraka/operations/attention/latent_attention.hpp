// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::latent_attention<Q, K, D>(q, k, v, q_rotary, k_rotary)`: attention whose scores are the sum of two
/// products, one over the width D and one over the rotary part's own axes, as in multi-head latent attention
/// (DeepSeek-V2, 2024, section 2.1.3): softmax((q · k + q_rotary · k_rotary)/√(d + d_R)) · v. Nothing is concatenated,
/// and rotary keys that all heads share are not repeated.
///
///     q [B, Q, H_Y, D]   k, v [B, K, H_Y, D]   q_rotary [B, Q, H_Y, F, P]   k_rotary [B, K, F, P]   nothing moved
///     q [B, Q, H_Y, C]   k = v = latents [B, K, C]: with the up-projections moved into q and after the result, the
///                        keys are the cached latents themselves, one head for all

#include <cstdint>
#include <type_traits>

#include <ostraka/algebra/einsum_into.hpp>
#include <ostraka/algebra/reductions.hpp>
#include <ostraka/operations/attention/whole_scores.hpp>

namespace ostraka {

namespace detail {

template <class Q, class K, class D, class Operation, class TQ, class TK, class TV, class TQR, class TKR, class... Mask>
consteval auto check_latent_attention() {
  using own = typename decltype(check_attention<Operation, Q, K, D, void, TQ, TK, TV, Mask...>())::type;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else {
    using types = attention_types<Q, K, D, void, TQ, TK, TV>;
    return found<first_fault<
        elements_verdict<TQ, TQR, TKR>,
        einsum_into_verdict<typename types::scores_tensor,
                            type_list<typename types::template as_wide<TQR>, typename types::template as_wide<TKR>>,
                            type_list<policy<planner::admit::no_communication>>>>>{};
  }
}

}  // namespace detail

namespace operation {

template <class Q, class K, class D>
struct latent_attention : attention<Q, K, D> {
  using base = attention<Q, K, D>;
  static constexpr char const* name = "latent_attention";
  static constexpr int pairs = 2;

  template <class TQ, class TK, class TV, class TQR, class TKR, class... Mask>
  using verdict = typename decltype(detail::check_latent_attention<Q, K, D, latent_attention, TQ, TK, TV, TQR, TKR,
                                                                   Mask...>())::type;

  template <class TQ, class TK, class TV, class TQR, class TKR, class... Mask>
  using moves = detail::moves_in_turn<
      typename base::template moves<TQ, TK, TV, Mask...>,
      detail::moves_of_product<typename base::template types<TQ, TK, TV>::scores_tensor::sharding_type,
                               policy<planner::admit::no_communication>,
                               typename base::template types<TQ, TK, TV>::template as_wide<TQR>,
                               typename base::template types<TQ, TK, TV>::template as_wide<TKR>>>;

  template <class How, class TQ, class TK, class TV, class TQR, class TKR, class... Mask>
  auto run(How const&, TQ const& q, TK const& k, TV const& v, TQR const& q_rotary, TKR const& k_rotary,
           Mask const&... mask) const {
    return base::template weighted<TQ, TK>(base::hides(mask...), weights(q, k, q_rotary, k_rotary, mask...), v);
  }

  /// Returns the scores of the keys for each query.
  template <class TQ, class TK, class TQR, class TKR>
  auto scores(TQ const& q, TK const& k, TQR const& q_rotary, TKR const& k_rotary) const {
    double const factor = factor_of(q, k, q_rotary);
    auto const sums = base::products(q, k, factor);
    ostraka::einsum_into(sums, detail::widened(q_rotary), detail::widened(k_rotary), ostraka::alpha = factor,
                         ostraka::beta = 1, ostraka::no_communication);
    return sums;
  }

  /// Returns the weights of the keys for each query.
  template <class TQ, class TK, class TQR, class TKR, class... Mask>
  auto weights(TQ const& q, TK const& k, TQR const& q_rotary, TKR const& k_rotary, Mask const&... mask) const {
    return base::weights_of(scores(q, k, q_rotary, k_rotary), mask...);
  }

  template <class TQ, class TK, class TQR, class... Others>
  [[nodiscard]] double factor_of(TQ const& q, TK const&, TQR const& q_rotary, Others const&...) const {
    return base::scale_of(base::width_of(q) + rotary_width<TQ>(q_rotary));
  }

 private:
  // The number of elements along the axes that queries lack.
  template <class TQ, class TQR>
  static std::int64_t rotary_width(TQR const& q_rotary) {
    return detail::reduced_elements(q_rotary, axes_in<TQ>{});
  }
};

}  // namespace operation

namespace detail {

/// Runs latent attention with these options.
template <class Q, class K, class D, class... Options>
struct latent_attention_with {
  using operation_type = ostraka::operation::latent_attention<Q, K, D>;

  template <class TQ, class TK, class TV, class TQR, class TKR>
  static constexpr auto run(TQ const& q, TK const& k, TV const& v, TQR const& q_rotary, TKR const& k_rotary,
                            Options const&... options) {
    if constexpr (reason::ok_or_raise<attention_options_verdict<operation_type, Options...>>()) {
      operation_type operation;
      (set_option(operation, options), ...);
      (set_stripes(operation, q, options), ...);
      return with_tensors_among(
          [&](auto const&... mask) { return operate(operation, q, k, v, q_rotary, k_rotary, mask...); }, options...);
    } else {
      return q;
    }
  }
};

}  // namespace detail

/// Attention with the scores (q · k + q_rotary · k_rotary)/√(d + d_R). The first product is over D, the second over all
/// axes that q lacks. Options and moves as for os::attention.
template <auto Q, auto K, auto D, TensorOrVariable TQ, TensorOrVariable TK, TensorOrVariable TV, TensorOrVariable TQR,
          TensorOrVariable TKR, class... Options>
[[nodiscard]] constexpr auto latent_attention(TQ const& q, TK const& k, TV const& v, TQR const& q_rotary,
                                              TKR const& k_rotary, Options const&... options) {
  return detail::latent_attention_with<detail::type_of<Q>, detail::type_of<K>, detail::type_of<D>, Options...>::run(
      q, k, v, q_rotary, k_rotary, options...);
}

}  // namespace ostraka
