// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::cross_entropy<V>(logits, labels)`: log Σ exp(logits) − logits[label] of each row along V, the loss of
/// classes that are given by number. If V is divided, three numbers a row move, in one message, and no logits.
/// Options after the labels set the loss of rows without a class to 0, smooth the target, and add a z-loss.
///
///     cross_entropy<V>      [B_X, S, V],    [B_X, S]  → [B_X, S]    nothing moved
///     cross_entropy<V/Y>    [B_X, S, V_Y],  [B_X, S]  → [B_X, S]    all-reduce over Y of [B_X, S], three numbers each
///
/// Labels are checked first, as all indices are (operations/indices/index_range.hpp).

#include <cstdint>
#include <limits>
#include <type_traits>

#include <ostraka/engine/divided_rows/cross_entropy_rows.hpp>
#include <ostraka/operations/indices/index_range.hpp>
#include <ostraka/operations/normalisation/normalise.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace operation {
template <class Along>
struct cross_entropy;
}  // namespace operation

/// The label of rows that have no class, whose loss is 0: os::ignore(-100).
struct ignore {
  constexpr explicit ignore(std::int64_t l) : label(l) {}
  std::int64_t label;
};

/// The part ε of the target that is spread evenly over all classes: the label has 1 − ε + ε / V (Szegedy et al. 2016,
/// "Rethinking the Inception architecture"; PyTorch's and transformers' label smoothing).
struct label_smoothing {
  constexpr explicit label_smoothing(double s) : share(s) {}
  double share;
};

/// Adds factor · (log Σ exp(logits))² to the loss, which keeps logits near 0 (Chowdhery et al. 2022, "PaLM", §5).
struct z_loss {
  constexpr explicit z_loss(double f) : factor(f) {}
  double factor;
};

namespace detail {

[[noreturn, gnu::cold]] inline void throw_not_a_share(double share) {
  throw_error("cross_entropy: os::label_smoothing is a share of the target from 0 to 1, but ", share,
              " was given; leave it out to smooth nothing");
}
[[noreturn, gnu::cold]] inline void throw_not_a_factor(double factor) {
  throw_error("cross_entropy: the factor of os::z_loss is finite and not negative, but ", factor,
              " was given; leave os::z_loss out to add nothing");
}

/// The rows of A along an axis.
template <class Dim, class A>
using rows_tensor_of = basic_tensor<typename A::value_type, varying_as<rows_of<Dim, A>, A>, typename A::space>;

template <class Operation, class Dim, class A, class Labels>
consteval auto check_labels() {
  using own = first_fault<normalised_verdict<Operation, Dim, A>, index_verdict<Operation, Labels>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (difference_of<axes_in<Labels>, axes_in<rows_tensor_of<Dim, A>>>::size > 0)
    return found<reason::row_operand_sharding_mismatch<sharding_in<Labels>, sharding_in<A>, Operation>>{};
  else
    return found<row_operand_verdict<Operation, rows_tensor_of<Dim, A>, Labels>>{};
}

/// The labels, aligned with the rows of A.
template <class Dim, class Mesh, class A, class Labels>
auto labels_in(engine::execution_context const& w, A const&, Labels const& labels,
               operation::cross_entropy<Dim> const& loss) {
  constexpr planner::spec s = spec_of<A, axes_in<A>, Mesh>;
  auto const met = engine::align(w, spec_of<Labels, axes_in<A>, Mesh>, s, elements_of(labels));
  return engine::labels_of_rows<typename Labels::value_type>{
      met.data,       engine::places_of_rows(w, s, dimension_of<Dim, A>, met.stride),
      loss.ignores,   loss.ignored,
      loss.smoothing, loss.z_factor};
}

/// Replaces the ignored label by 0.
struct drop_ignored {
  std::int64_t ignored;
  template <class Label>
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(Label const& l) const {
    return static_cast<std::int64_t>(l) == ignored ? 0 : static_cast<std::int64_t>(l);
  }
};

}  // namespace detail

namespace operation {

template <class Along>
struct cross_entropy {
  using has_residuals = void;  ///< log Σ exp(logits) of each row
  static constexpr char const* name = "cross_entropy";

  bool ignores = false;
  std::int64_t ignored = 0;
  double smoothing = 0;  ///< the part of the target that is spread evenly over all classes
  double z_factor = 0;   ///< the factor of (log Σ exp)²

  constexpr void read(ignore const& i) {
    ignores = true;
    ignored = i.label;
  }
  constexpr void read(label_smoothing const& s) { smoothing = s.share; }
  constexpr void read(z_loss const& z) { z_factor = z.factor; }

  template <class A, class Labels>
  using verdict = typename decltype(detail::check_labels<cross_entropy, Along, A, Labels>())::type;

  template <class A, class Labels>
  using moves = detail::moves_in_turn<detail::moves_of_statistics<Along, 3, A>,
                                      detail::moves_of_range<detail::checked_range, Labels>>;

  template <class How, class A, class Labels>
  auto run(How const&, A const& a, Labels const& labels) const {
    if constexpr (std::is_same_v<How, detail::with_residuals>) {
      using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<Labels>>;
      detail::numbers_of_rows<Along, A> log_sum;
      auto const loss = losses(a, labels, [&](engine::execution_context const& w) {
        log_sum = detail::allocate_for<detail::numbers_of_rows<Along, A>, axes_in<A>, mesh>(w, a);
        return log_sum.local().data();
      });
      return detail::several{loss, log_sum};
    } else {
      return losses(a, labels, [](auto const&) -> accumulator_of_t<typename A::value_type>* { return nullptr; });
    }
  }

 private:
  template <class A, class Labels, class LogSum>
  auto losses(A const& a, Labels const& labels, LogSum const& log_sum) const {
    using I = typename detail::axis_argument<Along>::axis;
    using axes = axes_in<A>;
    using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<Labels>>;
    using result_type =
        basic_tensor<typename A::value_type, varying_as<detail::rows_of<Along, A>, A, Labels>, typename A::space>;
    static constexpr planner::spec s = spec_of<A, axes, mesh>;
    constexpr int along = detail::dimension_of<Along, A>;
    std::int64_t const classes = a.extents()[static_cast<std::size_t>(along)];
    if (!(smoothing >= 0 && smoothing <= 1)) detail::throw_not_a_share(smoothing);
    if (!(z_factor >= 0 && z_factor <= std::numeric_limits<double>::max())) detail::throw_not_a_factor(z_factor);
    if (ignores)
      detail::check_range<detail::checked_range>(
          name,
          detail::checked_map<cross_entropy, detail::drop_ignored, reason::ok, std::int64_t>(
              name, detail::drop_ignored{ignored}, labels),
          I::name, classes);
    else
      detail::check_range<detail::checked_range>(name, labels, I::name, classes);
    engine::execution_context const w = detail::context_of<axes, mesh>(name, a, labels);
    auto const result = detail::allocate_for<result_type, axes, mesh>(w, a, labels);
    engine::cross_entropy_rows(detail::execution_space_of<A>(), w, s, along, detail::rows_in<Along, mesh>(w, a),
                               detail::labels_in<Along, mesh>(w, a, labels, *this), result.local().data(), log_sum(w));
    return result;
  }
};

}  // namespace operation

namespace detail {

template <class Operation, class Option>
consteval auto check_option_of_loss() {
  if constexpr (requires(Operation& loss, Option const& option) { loss.read(option); })
    return found<reason::ok>{};
  else
    return found<reason::not_an_option<Option, Operation>>{};
}

}  // namespace detail

/// log Σ exp(logits) − logits[label] along an axis, named with the mesh axes that divide it. `labels`: integers along
/// some or all other axes of the logits, divided as there. Options follow in any order: `os::ignore(-100)`, which makes
/// the loss of that label 0; `os::label_smoothing(0.1)`; `os::z_loss(1e-4)`. A loss of −log 0 is +∞. 16-bit elements
/// are computed in float. The mean of the rows that count: `os::mean_where<>(loss, os::not_equal(labels, -100))`.
/// @throws ostraka::error, on all devices alike, if a label is not one of 0 … V − 1
template <auto Along, TensorOrVariable A, TensorOrVariable Labels, class... Options>
[[nodiscard]] constexpr auto cross_entropy(A const& logits, Labels const& labels, Options const&... options) {
  using operation_type = operation::cross_entropy<detail::type_of<Along>>;
  using verdict =
      detail::first_fault<typename decltype(detail::check_option_of_loss<operation_type, Options>())::type...>;
  if constexpr (reason::ok_or_raise<verdict>()) {
    operation_type loss;
    (loss.read(options), ...);
    return detail::operate(loss, logits, labels);
  } else {
    return logits;
  }
}

}  // namespace ostraka
