// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::cross_entropy<V>(logits, labels)`: log Σ exp(logits) − logits[label] of each row along V, the loss of
/// classes that are told by number. Of a V that is divided three numbers a row move, in one message, and no logits.
///
///     cross_entropy<V>      [B_X, S, V],    [B_X, S]  → [B_X, S]    nothing moved
///     cross_entropy<V/Y>    [B_X, S, V_Y],  [B_X, S]  → [B_X, S]    all-reduce over Y of [B_X, S], three numbers each
///
/// Labels are looked at first, as all indices are (operations/index_range.hpp).

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/run/cross_entropy_rows.hpp>
#include <ostraka/operations/index_range.hpp>
#include <ostraka/operations/normalise.hpp>

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

/// Label 0 for what is ignored.
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
  static constexpr char const* name = "cross_entropy";

  bool ignores = false;
  std::int64_t ignored = 0;

  template <class A, class Labels>
  using verdict = typename decltype(detail::check_labels<cross_entropy, Along, A, Labels>())::type;

  template <class A, class Labels>
  [[nodiscard]] std::int64_t bytes(A const& a, Labels const& labels) const {
    std::int64_t const devices = labels.mesh_handle()->devices();
    return detail::bytes_of_statistics<Along>(a, 3) +
           (detail::bytes_of_check<detail::checked_range>(labels) + devices - 1) / devices;
  }

  template <class A, class Labels>
  auto operator()(A const& a, Labels const& labels) const {
    using I = typename detail::told_axis<Along>::axis;
    using axes = axes_in<A>;
    using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<Labels>>;
    using result_type =
        basic_tensor<typename A::value_type, varying_as<detail::rows_of<Along, A>, A, Labels>, typename A::space>;
    static constexpr planner::spec s = spec_of<A, axes, mesh>;
    constexpr int along = detail::dimension_of<Along, A>;
    std::int64_t const classes = a.extents()[static_cast<std::size_t>(along)];
    if (ignores)
      detail::check_range<detail::checked_range>(name, ostraka::map(detail::drop_ignored{ignored}, labels), I::name,
                                                 classes);
    else
      detail::check_range<detail::checked_range>(name, labels, I::name, classes);
    engine::execution_context const w = detail::context_of<axes, mesh>(name, a, labels);
    auto const result = detail::allocate_for<result_type, axes, mesh>(w, a, labels);
    auto const in = detail::rows_in<Along, mesh>(w, a);
    auto const met = engine::align(w, spec_of<Labels, axes, mesh>, s, detail::elements_of(labels));
    engine::labels_of_rows<typename Labels::value_type> const of_rows{
        met.data, engine::places_of_rows(w, s, along, met.stride), ignores, ignored};
    engine::cross_entropy_rows(detail::execution_space_of<A>(), w, s, along, in, of_rows, result.local().data());
    return result;
  }
};

}  // namespace operation

/// log Σ exp(logits) − logits[label] along an axis, told as it lies. `labels`: integers along the other axes of the
/// logits, or some of them, divided as there. A loss that is −log 0 is +∞. 16 bits are computed in float.
/// @throws ostraka::error, on all devices alike, if a label is none of 0 … V − 1
template <auto Along, TensorOrVariable A, Tensor Labels>
[[nodiscard]] auto cross_entropy(A const& logits, Labels const& labels) {
  return detail::operate(operation::cross_entropy<detail::type_of<Along>>{}, logits, labels);
}

/// The same, 0 where the label is the one that is ignored: `os::cross_entropy<V/Y>(logits, labels, os::ignore(-100))`.
template <auto Along, TensorOrVariable A, Tensor Labels>
[[nodiscard]] auto cross_entropy(A const& logits, Labels const& labels, ignore const& ignored) {
  return detail::operate(operation::cross_entropy<detail::type_of<Along>>{true, ignored.label}, logits, labels);
}

}  // namespace ostraka
