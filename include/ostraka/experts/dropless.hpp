// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::dropless<R, E/X>(f, x, experts, weights, w…)`: a mixture of experts in which every token reaches each
/// of its experts, even if many tokens go to one. Rows travel in a ragged all-to-all, f applies the experts to them,
/// and each token's results come back and are summed by its weights.
///
///     x[B_X, S, M]    experts, weights[B_X, S, K]    w[E_X, M, F]    → [B_X, S, M]
///     moves over X    the rows that leave their device, there and back; 8 bytes an expert before

#include <cstdint>
#include <type_traits>

#include <ostraka/algebra/einsum.hpp>
#include <ostraka/experts/ragged_dot.hpp>
#include <ostraka/experts/rows.hpp>
#include <ostraka/local_view/shard_map.hpp>
#include <ostraka/moves/reshard.hpp>
#include <ostraka/types/shardings/changed_sharding.hpp>

namespace ostraka {

namespace operation {

struct dropless {
  static constexpr char const* name = "dropless";
};

}  // namespace operation

namespace detail {

/// The experts' product in f: rows[R, M], w[E, M, F] → [R, F]. If mesh axes divide the summed axes (tensor parallel
/// experts), the summands are added up over them.
template <class R, class E, class Sizes>
struct products_of_groups {
  Sizes sizes;

  template <class A, class W>
  auto operator()(A const& rows, W const& w) const {
    auto const made = operate(ostraka::operation::ragged_dot<R, E>{}, rows, w, sizes);
    using lies = sharding_in<decltype(made)>;
    if constexpr (sharding_traits<lies>::partials::size > 0)
      return operate(ostraka::operation::reshard<typename without_parts<lies>::type>{}, made, cheapest);
    else
      return made;
  }
};

/// The sum of the choices' results, each times its weight: [T, K, M], [T, K] → [T, M].
template <class Experts, class Back, class Weights>
auto combined(Back const& back, Weights const& weights) {
  using types = choices_of<Experts>;
  using result = canonical_sharding<typename types::tokens, typename types::template rest_of<Back, true>>;
  return operate(ostraka::operation::einsum<result>{}, weights, back);
}

template <class R, class Dim, class Experts, class F>
struct dropless_body {
  F const& f;
  std::int64_t experts_in_all;

  template <class X, class Choices, class Weights, class... Ws>
  auto operator()(X const& x, Choices const& experts, Weights const& weights, Ws const&... w) const {
    auto const routes = make_routes<Dim>(ostraka::operation::dropless::name, experts, experts_in_all);
    using type = std::remove_const_t<decltype(routes)>;
    auto const rows = operate(ostraka::operation::send_rows<R, type>{routes}, x);
    using groups = std::remove_cvref_t<decltype(routes.rows)>;
    auto const made = f(rows, products_of_groups<R, typename type::axis, groups>{routes.rows}, w...);
    return combined<Choices>(operate(ostraka::operation::return_rows<R, type>{routes}, made), weights);
  }
};

template <class Dim, class Manual, class W>
consteval auto check_weights_of_experts() {
  using argument = axis_argument<Dim>;
  using E = typename argument::axis;
  if constexpr (position_in<E, axes_in<W>> >= 0) {
    using others = mesh_axes_in<without_axis<sharding_in<W>, E>>;
    if constexpr (!std::is_same_v<splits_of<E, sharding_in<W>>, typename argument::mesh> ||
                  common_of<others, Manual>::size > 0)
      return found<reason::expert_weights_sharding_mismatch<sharding_in<W>, Dim>>{};
    else
      return found<reason::ok>{};
  } else if constexpr (common_of<mesh_axes_in<W>, Manual>::size > 0) {
    return found<reason::expert_weights_sharding_mismatch<sharding_in<W>, Dim>>{};
  } else {
    return found<reason::ok>{};
  }
}

template <class Dim, class X, class Experts, class Weights, class... Ws>
consteval auto check_dropless() {
  using own = first_fault<is_an_axis_verdict<ostraka::operation::dropless, Dim>,
                          tokens_verdict<ostraka::operation::dropless, X, Experts>,
                          tokens_verdict<ostraka::operation::dropless, Weights, Experts>>;
  using manual = mesh_axes_in<Experts>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (difference_of<typename axis_argument<Dim>::mesh, manual>::size > 0)
    return found<reason::expert_axes_must_divide_tokens<Dim, sharding_in<Experts>>>{};
  else
    return found<first_fault<typename decltype(check_weights_of_experts<Dim, manual, Ws>())::type...>>{};
}

// The extent of E in the first tensor that has it.
template <class E, class First, class... Rest>
std::int64_t extent_of_experts(First const& first, Rest const&... rest) {
  constexpr int at = position_in<E, axes_in<First>>;
  if constexpr (at >= 0)
    return first.extents()[static_cast<std::size_t>(at)];
  else
    return extent_of_experts<E>(rest...);
}

template <class Manual>
struct manual_axes_of;
template <class... Ms>
struct manual_axes_of<type_list<Ms...>> {
  using type = manual_axes<Ms...>;
};

}  // namespace detail

/// A mixture of experts without a capacity. x[…, M] holds the tokens, `experts` […, K] the experts of each, as
/// os::route returns them, and `weights` […, K] the weights of their results. `w` are the experts' weights, at least
/// one of them along E as `Dim` says. `f(rows, dot, w…)` computes the results of rows[R, M], which are sorted by
/// expert; the results have the same axes. `dot(rows, w)` is the product of each row with its expert's matrix,
/// os::ragged_dot, added up over mesh axes that divide the summed axes. Nothing is dropped, and a device holds all rows
/// that it receives: the devices of popular experts hold more. Collective.
template <auto R, auto Dim, class F, TensorOrVariable X, Tensor Experts, TensorOrVariable Weights,
          TensorOrVariable... Ws>
[[nodiscard]] auto dropless(F const& f, X const& x, Experts const& experts, Weights const& weights, Ws const&... w) {
  using argument = detail::type_of<Dim>;
  using verdict = typename decltype(detail::check_dropless<argument, X, Experts, Weights, Ws...>())::type;
  if constexpr (reason::ok_or_raise<verdict>()) {
    using body = detail::dropless_body<detail::type_of<R>, argument, Experts, F>;
    using operands =
        concatenation_of<typename detail::tensors_in<X>::type, typename detail::tensors_in<Experts>::type,
                         typename detail::tensors_in<Weights>::type, typename detail::tensors_in<Ws>::type...>;
    using run = detail::body_of<operands, typename detail::manual_axes_of<mesh_axes_in<Experts>>::type, sharding_in<X>>;
    std::int64_t const count = detail::extent_of_experts<typename detail::axis_argument<argument>::axis>(w...);
    return detail::run_body<run>(operation::dropless::name, body{f, count}, x, experts, weights, w...);
  } else {
    return detail::after_error_of<typename X::value_type, sharding_in<X>, typename X::space>();
  }
}

}  // namespace ostraka
