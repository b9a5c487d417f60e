// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::sample<V>(logits, os::seed(1), os::temperature(0.8), os::top_k(50), os::top_p(0.9))`: draws a token
/// for each row along V with the probabilities softmax(logits / temperature), from the tokens that the options keep. If
/// V is divided, the logits stay in place, and the same seed draws the same tokens on every mesh.
///
///     sample<V>      [B_X, V]      → [B_X]    nothing moved
///     sample<V/Y>    [B_X, V_Y]    → [B_X]    all-reduces over Y of [B_X]: a logit and its index, a score and its
///                                             index; for top-k and top-p, 2 KiB for each byte of a logit

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ostraka/calls/along.hpp>
#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/engine/divided_rows/sample_rows.hpp>
#include <ostraka/operations/creation/random_numbers.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

/// An option of os::sample: divides the logits before a token is drawn. Below 1, likely tokens become likelier; 0 takes
/// the likeliest token, the first if several are equally likely.
struct temperature {
  double value;
  explicit constexpr temperature(double t) : value(t) {}
};

namespace detail {

struct top_k_option {
  std::int64_t count;
};

}  // namespace detail

/// The option of os::sample that keeps the k likeliest tokens of each row, and tokens as likely as the last of them:
/// os::top_k(50). 0 keeps all.
[[nodiscard]] constexpr detail::top_k_option top_k(std::int64_t k) { return {k}; }

/// Keeps the likeliest tokens until their probabilities reach this sum, and tokens as likely as the last of them
/// (Holtzman et al. 2020, "The curious case of neural text degeneration"); 1 keeps all.
struct top_p {
  double sum;
  explicit constexpr top_p(double p) : sum(p) {}
};

/// Keeps tokens with at least this share of the largest probability; 0 keeps all.
struct min_p {
  double share;
  explicit constexpr min_p(double p) : share(p) {}
};

namespace detail {

[[gnu::cold, gnu::noinline]] inline void require_sampling(engine::sampling const& how) {
  if (!(how.temperature >= 0 && how.temperature <= std::numeric_limits<double>::max()))
    throw_error("sample: os::temperature is finite and not negative, but ", how.temperature,
                " was given; give 0 for the likeliest token");
  if (how.top_k < 0)
    throw_error("sample: os::top_k is a number of tokens and not negative, but ", how.top_k,
                " was given; give 0 to keep all tokens");
  if (!(how.top_p >= 0 && how.top_p <= 1))
    throw_error("sample: os::top_p is a sum of probabilities from 0 to 1, but ", how.top_p,
                " was given; give 1 to keep all tokens");
  if (!(how.min_p >= 0 && how.min_p <= 1))
    throw_error("sample: os::min_p is a share of the largest probability from 0 to 1, but ", how.min_p,
                " was given; give 0 to keep all tokens");
}

/// In check mode, throws if devices that share these logits, or hold the same ones, have different seeds or options.
template <class A>
void require_same_sampling(char const* name, A const& a, seed s, engine::sampling const& how) {
  require_seed(name, a, s.value);
  engine::device_mesh const& mesh = *a.mesh_handle();
  if (!mesh.world().compares_calls()) return;
  auto const along = [&]<class... Ms>(type_list<Ms...>) { return ((1u << mesh.find(Ms::name)) | ... | 0u); };
  engine::require_agreement(mesh.group(~along(varying_in<A>{})), [&] {
    return join_text(name, " with temperature ", how.temperature, ", top_k ", how.top_k, ", top_p ", how.top_p,
                     ", min_p ", how.min_p);
  });
}

}  // namespace detail

namespace operation {

template <class Along>
struct sample {
  static constexpr char const* name = "sample";

  ostraka::seed seed = ostraka::seed(0);
  engine::sampling how = {};

  constexpr void read(ostraka::seed const& s) { seed = s; }
  constexpr void read(temperature const& t) { how.temperature = t.value; }
  constexpr void read(detail::top_k_option const& k) { how.top_k = k.count; }
  constexpr void read(top_p const& p) { how.top_p = p.sum; }
  constexpr void read(min_p const& p) { how.min_p = p.share; }

  template <class A>
  using verdict = detail::along_verdict<sample, Along, A, detail::fractions_verdict<sample, A>>;

  template <class A>
  using moves = detail::moves_if_whole<Along>;
  /// The options decide which thresholds are searched, so the moves depend on them.
  template <class A>
  [[nodiscard]] constexpr detail::moves_of_call moved(A const& a) const {
    using row = detail::moves_of_rows<A, detail::rows_of<Along, A>, typename detail::axis_argument<Along>::mesh, 1>;
    planner::extents const e = detail::extents_by_name<axes_in<A>, mesh_axes_in<A>>::of(detail::sizes_of_call(a));
    std::int64_t const elements = a.extents()[static_cast<std::size_t>(detail::dimension_of<Along, A>)];
    return {row::bytes_moved(e) * how.bytes_of_row<typename A::value_type>(elements), e.devices()};
  }

  template <class How, class A>
  auto run(How const&, A const& a) const {
    using axes = axes_in<A>;
    using mesh = mesh_axes_in<A>;
    using rows = detail::rows_of<Along, A>;
    using result_type = basic_tensor<std::int64_t, varying_as<rows, A>, typename A::space>;
    detail::common_mesh(name, a);
    detail::require_same_sampling(name, a, seed, how);
    detail::require_sampling(how);
    engine::execution_context const w = detail::context_of<axes, mesh>(name, a);
    auto const result = detail::allocate_for<result_type, axes, mesh>(w, a);
    engine::sample_rows(detail::execution_space_of<A>(), w, spec_of<A, axes, mesh>, spec_of<rows, axes, mesh>,
                        detail::dimension_of<Along, A>, detail::elements_of(a), how,
                        detail::seed_of_block(a, seed).value, result.local().data());
    return result;
  }
};

}  // namespace operation

namespace detail {

// nvcc has no name for a type whose arguments contain a requires-expression.
template <class Operation, class Option>
concept ReadsOption = requires(Operation& operation, Option const& option) {
  operation.read(option);
};

template <class Operation, class... Options>
consteval auto check_sampling_options() {
  using options = first_fault<
      std::conditional_t<ReadsOption<Operation, Options>, reason::ok, reason::not_an_option<Options, Operation>>...>;
  if constexpr (!std::is_same_v<options, reason::ok>)
    return found<options>{};
  else if constexpr (!is_one_of<seed, Options...>)
    return found<reason::seed_not_given<Operation>>{};
  else
    return found<reason::ok>{};
}

}  // namespace detail

/// Draws the index of a token for each row along an axis, with the probabilities softmax(logits / t). Name the axis
/// with the mesh axes that divide it. An os::seed follows, and in any order `os::temperature(t)`, `os::top_k(50)`,
/// `os::top_p(0.9)` and `os::min_p(0.05)`, which are applied in this order, as in transformers; equal logits are kept
/// or dropped together. At temperature 0 the token is that of os::argmax. The random number of a token is a function of
/// the seed and the global index: the same logits give the same tokens on every mesh. The logits stay in place; if the
/// axis is divided, all-reduces move a logit, a score and their indices for each row, and for each of top-k and top-p 2
/// KiB for each row and each byte of a logit. A logit of +∞ has all the probability. For a row with NaN, with −∞ only,
/// or without elements, the result is −1, which is not an index.
/// @throws ostraka::error, on all devices alike, if an option is out of range
template <auto Along, TensorOrVariable A, class... Options>
[[nodiscard]] constexpr auto sample(A const& logits, Options const&... options) {
  using operation_type = operation::sample<detail::type_of<Along>>;
  if constexpr (reason::ok_or_raise<
                    typename decltype(detail::check_sampling_options<operation_type, Options...>())::type>()) {
    operation_type drawn;
    (drawn.read(options), ...);
    return detail::operate(drawn, logits);
  } else {
    return logits;
  }
}

}  // namespace ostraka
