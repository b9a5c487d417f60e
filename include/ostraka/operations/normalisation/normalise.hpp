// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Shared by softmax and norms: the checks of mask, gain and bias, the moves, and the call of the engine.
/// Mask, gain and bias are matched with the tensor by the names of their axes, and do not change its sharding.

#include <cstdint>
#include <type_traits>

#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/operations/normalisation/axis_call.hpp>

namespace ostraka::detail {

/// `reason::ok` if Other matches A, and does not change its sharding.
template <class Operation, class A, class Other>
consteval auto check_row_operand() {
  using mismatch = found<reason::row_operand_sharding_mismatch<sharding_in<Other>, sharding_in<A>, Operation>>;
  using met = meeting_verdict<Operation, Operation, reason::ok, A, Other>;
  if constexpr (difference_of<axes_in<Other>, axes_in<A>>::size > 0) {
    return mismatch{};
  } else if constexpr (!std::is_same_v<met, reason::ok>) {
    return found<met>{};
  } else {
    using types = map_types<Operation, A, Other>;
    if constexpr (types::finding.result != spec_of<A, typename types::labels, typename types::mesh>)
      return mismatch{};
    else
      return found<reason::ok>{};
  }
}
template <class Operation, class A, class Other>
using row_operand_verdict = typename decltype(check_row_operand<Operation, A, Other>())::type;

template <class Operation, class A, class Mask>
using mask_verdict = first_fault<truth_verdict<Operation, Mask>, row_operand_verdict<Operation, A, Mask>>;

template <class Operation, class Dim, class A, class Vector>
consteval auto check_vector() {
  if constexpr (!std::is_same_v<axes_in<Vector>, type_list<typename axis_argument<Dim>::axis>>)
    return found<reason::row_operand_sharding_mismatch<sharding_in<Vector>, sharding_in<A>, Operation>>{};
  else
    return found<first_fault<fractions_verdict<Operation, Vector>, row_operand_verdict<Operation, A, Vector>>>{};
}

/// The same for a gain or bias, which has only the axis of the call.
template <class Operation, class Dim, class A, class Vector>
using vector_verdict = typename decltype(check_vector<Operation, Dim, A, Vector>())::type;

/// The requirements of softmax and norms on the tensor itself.
template <class Operation, class Dim, class A>
using normalised_verdict = along_verdict<Operation, Dim, A, fractions_verdict<Operation, A>>;

/// The block of `A` as rows, with its mask.
template <class Dim, class Mesh, class A>
auto rows_in(engine::execution_context const& w, A const& a) {
  return engine::rows_in(w, spec_of<A, axes_in<A>, Mesh>, dimension_of<Dim, A>, elements_of(a));
}
template <class Dim, class Mesh, class A, class Mask>
auto rows_in(engine::execution_context const& w, A const& a, Mask const& mask) {
  constexpr planner::spec s = spec_of<A, axes_in<A>, Mesh>;
  auto const met = engine::align(w, spec_of<Mask, axes_in<A>, Mesh>, s, elements_of(mask));
  return engine::rows_in(w, s, dimension_of<Dim, A>, elements_of(a), met.data, met.stride);
}

/// Normalises each element by the formula. `Masked`: a mask follows the tensor, else gain and bias.
template <class Dim, bool Masked, class Formula, class A, class... Others>
auto normalise(char const* name, Formula const& formula, A const& a, Others const&... others) {
  basic_tensor<typename A::value_type, varying_as<sharding_in<A>, A, Others...>, typename A::space> result;
  runtime_operand const operands[] = {runtime_operand_of(a), runtime_operand_of(others)...};
  constexpr axis_call const& call = axis_call_of<Dim, A, Others...>;
  check_origins(name, a, others...);
  if constexpr (Masked)
    run_masked_rows(call, name, formula, a.mesh_handle(), operands, result, elements_of(a), elements_of(others)...);
  else
    run_rows(call, name, formula, a.mesh_handle(), operands, result, elements_of(a), elements_of(others)...);
  give_origins(name, result, a, others...);
  return result;
}

/// One number for each row of A, in a type wide enough to compute with.
template <class Dim, class A>
using numbers_of_rows =
    basic_tensor<accumulator_of_t<typename A::value_type>, varying_as<rows_of<Dim, A>, A>, typename A::space>;

/// A norm with its residuals: the mean of each row, and the factor of its deviations.
template <class Dim, class Formula, class A, class... Vectors>
auto normalise_with_rows(char const* name, Formula const& formula, A const& a, Vectors const&... vectors) {
  basic_tensor<typename A::value_type, varying_as<sharding_in<A>, A, Vectors...>, typename A::space> result;
  numbers_of_rows<Dim, A> mean, factor;
  runtime_operand const operands[] = {runtime_operand_of(a), runtime_operand_of(vectors)...};
  check_origins(name, a, vectors...);
  run_rows_with_residuals(axis_call_of<Dim, A, Vectors...>, name, formula, a.mesh_handle(), operands, result, mean,
                          factor, elements_of(a), elements_of(vectors)...);
  give_origins(name, result, a, vectors...);
  give_origins(name, mean, a);
  give_origins(name, factor, a);
  return several{result, mean, factor};
}

/// A norm by its formula, with residuals if `How` requires them.
template <class How, class Dim, class Formula, class A, class... Vectors>
auto normed(char const* name, Formula const& formula, A const& a, Vectors const&... vectors) {
  if constexpr (std::is_same_v<How, with_residuals>)
    return normalise_with_rows<Dim>(name, formula, a, vectors...);
  else
    return normalise<Dim, false>(name, formula, a, vectors...);
}

}  // namespace ostraka::detail
