// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Shared by softmax and norms: the checks of the tensors beside the one that is normalised, the moves, and
/// the call of the engine. Mask, gain and bias meet the tensor by the names of their axes and leave it divided as it
/// is.

#include <cstdint>
#include <type_traits>

#include <ostraka/calls/along.hpp>
#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/engine/blocks/map_blocks.hpp>
#include <ostraka/engine/divided_rows/normalise_rows.hpp>

namespace ostraka::detail {

/// `reason::ok` if Other meets A, and leaves it divided as it is.
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

/// For a gain or bias, which has only that axis.
template <class Operation, class Dim, class A, class Vector>
using vector_verdict = typename decltype(check_vector<Operation, Dim, A, Vector>())::type;

/// The requirements of all of them on the tensor itself.
template <class Operation, class Dim, class A>
using normalised_verdict = along_verdict<Operation, Dim, A, fractions_verdict<Operation, A>>;

/// The block of `A` as rows, and the mask that meets it.
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

/// A gain or bias, from the block's first index of the axis on.
template <class Mesh, class A, class Vector>
auto const* vector_in(engine::execution_context const& w, A const&, Vector const& v) {
  return engine::align(w, spec_of<Vector, axes_in<A>, Mesh>, spec_of<A, axes_in<A>, Mesh>, elements_of(v)).data;
}

/// Normalises each element by the formula. `Masked`: a mask follows the tensor, else gain and bias. `with_kept`
/// gives the memory for the rows' statistics, or a null pointer.
template <class Dim, bool Masked, class Formula, class WithKept, class A, class... Others>
auto normalise_keeping(char const* name, Formula const& formula, WithKept const& with_kept, A const& a,
                       Others const&... others) {
  using labels = axes_in<A>;
  using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<Others>...>;
  using result_type = basic_tensor<typename A::value_type, varying_as<sharding_in<A>, A, Others...>, typename A::space>;
  static constexpr planner::spec s = spec_of<A, labels, mesh>;
  engine::execution_context const w = context_of<labels, mesh>(name, a, others...);
  auto const result = allocate_for<result_type, labels, mesh>(w, a, others...);
  auto const run = [&](auto const& in, auto const* gain, auto const* bias) {
    with_kept(w, in.rows.count(), [&](typename Formula::statistic* kept) {
      engine::normalise_rows(execution_space_of<A>(), w, s, dimension_of<Dim, A>, in, formula, result.local().data(),
                             gain, bias, kept);
    });
  };
  engine::no_vector const* const none = nullptr;
  if constexpr (Masked)
    run(rows_in<Dim, mesh>(w, a, others...), none, none);
  else if constexpr (sizeof...(Others) == 0)
    run(rows_in<Dim, mesh>(w, a), none, none);
  else if constexpr (sizeof...(Others) == 1)
    run(rows_in<Dim, mesh>(w, a), vector_in<mesh>(w, a, others)..., none);
  else
    run(rows_in<Dim, mesh>(w, a), vector_in<mesh>(w, a, others)...);
  return result;
}

template <class Dim, bool Masked, class Formula, class A, class... Others>
auto normalise(char const* name, Formula const& formula, A const& a, Others const&... others) {
  auto const nothing_kept = [](auto const&, std::int64_t, auto const& run) { run(nullptr); };
  return normalise_keeping<Dim, Masked>(name, formula, nothing_kept, a, others...);
}

/// One number for each row of A, in a type wide enough to compute with.
template <class Dim, class A>
using numbers_of_rows =
    basic_tensor<accumulator_of_t<typename A::value_type>, varying_as<rows_of<Dim, A>, A>, typename A::space>;

template <class Formula>
struct first_coefficient {
  Formula formula;
  typename Formula::statistic const* rows;
  std::int64_t total;
  KOKKOS_INLINE_FUNCTION auto operator()(std::int64_t row) const { return formula.of_row(rows[row], total).a; }
};
template <class Formula>
struct second_coefficient {
  Formula formula;
  typename Formula::statistic const* rows;
  std::int64_t total;
  KOKKOS_INLINE_FUNCTION auto operator()(std::int64_t row) const { return formula.of_row(rows[row], total).b; }
};

/// A norm with its residuals: for each row its mean, and the factor of its deviations.
template <class Dim, class Formula, class A, class... Vectors>
auto normalise_with_rows(char const* name, Formula const& formula, A const& a, Vectors const&... vectors) {
  using rows_type = numbers_of_rows<Dim, A>;
  using labels = axes_in<A>;
  using mesh = union_of<mesh_axes_in<A>, mesh_axes_in<Vectors>...>;
  using space = typename A::space;
  rows_type mean, factor;
  auto const keep = [&](engine::execution_context const& w, std::int64_t count, auto const& run) {
    mean = allocate_for<rows_type, labels, mesh>(w, a);
    factor = allocate_for<rows_type, labels, mesh>(w, a);
    engine::kernel_scratch<typename Formula::statistic, typename space::memory_space> const rows(count);
    run(rows.data());
    std::int64_t const total = a.extents()[static_cast<std::size_t>(dimension_of<Dim, A>)];
    auto const exec = execution_space_of<A>();
    engine::finish_rows(exec, count, mean.local().data(), first_coefficient<Formula>{formula, rows.data(), total});
    engine::finish_rows(exec, count, factor.local().data(), second_coefficient<Formula>{formula, rows.data(), total});
  };
  auto const result = normalise_keeping<Dim, false>(name, formula, keep, a, vectors...);
  return several{result, mean, factor};
}

/// A norm by its formula, with residuals if `How` asks for them.
template <class How, class Dim, class Formula, class A, class... Vectors>
auto normed(char const* name, Formula const& formula, A const& a, Vectors const&... vectors) {
  if constexpr (std::is_same_v<How, with_residuals>)
    return normalise_with_rows<Dim>(name, formula, a, vectors...);
  else
    return normalise<Dim, false>(name, formula, a, vectors...);
}

}  // namespace ostraka::detail
