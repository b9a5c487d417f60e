// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::cross_entropy<V>(logits, labels)`: log Σ exp(logits) − logits[label] of each row along V, the loss of
/// classes that are given by number. If V is divided, three numbers a row move, in one message, and no logits.
///
///     cross_entropy<V>      [B_X, S, V],    [B_X, S]  → [B_X, S]    nothing moved
///     cross_entropy<V/Y>    [B_X, S, V_Y],  [B_X, S]  → [B_X, S]    all-reduce over Y of [B_X, S], three numbers each
///
/// Labels are checked first, as all indices are (operations/indices/index_range.hpp).

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/divided_rows/cross_entropy_rows.hpp>
#include <ostraka/operations/indices/index_range.hpp>
#include <ostraka/operations/normalisation/normalise.hpp>

namespace ostraka {

/// The label of rows that have no class, whose loss is 0: os::ignore(-100).
struct ignore {
  constexpr explicit ignore(std::int64_t l) : label(l) {}
  std::int64_t label;
};

namespace detail {

/// The rows of A along an axis.
template <class Told, class A>
using rows_tensor_of = basic_tensor<typename A::value_type, varying_as<rows_of<Told, A>, A>, typename A::space>;

template <class Operation, class Told, class A, class Labels>
consteval auto check_labels() {
  using own = first_fault<normalised_verdict<Operation, Told, A>, index_verdict<Operation, Labels>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (difference_of<axes_in<Labels>, axes_in<rows_tensor_of<Told, A>>>::size > 0)
    return found<reason::row_operand_lies_otherwise<sharding_in<Labels>, sharding_in<A>, Operation>>{};
  else
    return found<row_operand_verdict<Operation, rows_tensor_of<Told, A>, Labels>>{};
}

/// The labels, aligned with the rows of A.
template <class Told, class Mesh, class A, class Labels>
auto labels_in(engine::execution_context const& w, A const&, Labels const& labels, bool ignores, std::int64_t ignored) {
  constexpr planner::spec s = spec_of<A, axes_in<A>, Mesh>;
  auto const met = engine::align(w, spec_of<Labels, axes_in<A>, Mesh>, s, elements_of(labels));
  return engine::labels_of_rows<typename Labels::value_type>{
      met.data, engine::places_of_rows(w, s, dimension_of<Told, A>, met.stride), ignores, ignored};
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
    using I = typename detail::told_axis<Along>::axis;
    using axes = axes_in<A>;
    using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<Labels>>;
    using result_type =
        basic_tensor<typename A::value_type, varying_as<detail::rows_of<Along, A>, A, Labels>, typename A::space>;
    static constexpr planner::spec s = spec_of<A, axes, mesh>;
    constexpr int along = detail::dimension_of<Along, A>;
    std::int64_t const classes = a.extents()[static_cast<std::size_t>(along)];
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
                               detail::labels_in<Along, mesh>(w, a, labels, ignores, ignored), result.local().data(),
                               log_sum(w));
    return result;
  }
};

}  // namespace operation

/// log Σ exp(logits) − logits[label] along an axis, named as it lies. `labels`: integers along the other axes of the
/// logits, or some of them, divided as there. A loss of −log 0 is +∞. 16 bits are computed in float.
/// @throws ostraka::error, on all devices alike, if a label is none of 0 … V − 1
template <auto Along, TensorOrVariable A, TensorOrVariable Labels>
[[nodiscard]] constexpr auto cross_entropy(A const& logits, Labels const& labels) {
  return detail::operate(operation::cross_entropy<detail::type_of<Along>>{}, logits, labels);
}

/// The same, with 0 where the label is the ignored one: `os::cross_entropy<V/Y>(logits, labels, os::ignore(-100))`.
template <auto Along, TensorOrVariable A, TensorOrVariable Labels>
[[nodiscard]] constexpr auto cross_entropy(A const& logits, Labels const& labels, ignore const& ignored) {
  return detail::operate(operation::cross_entropy<detail::type_of<Along>>{true, ignored.label}, logits, labels);
}

}  // namespace ostraka
