// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Shared by reductions that keep more than one number a row during the reduction (argmax, variance), or
/// numbers of another type than the elements (count, norm). Each device reduces its part of the operand to rows. The
/// devices that divide the reduced axes combine their rows. A plan takes the rows, which are small, to the result:
///
///     A[I_X, J_Y]  over J:  rows [I_X] {U_Y}, or as states made one over Y,  →  the result [I_X], [I], …

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <ostraka/algebra/reductions.hpp>
#include <ostraka/calls/along.hpp>
#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/engine/divided_rows/accumulate_rows.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka::detail {

template <class Sharding, class Gone>
struct splits_of_all;
template <class Sharding, class... Is>
struct splits_of_all<Sharding, type_list<Is...>> {
  using type = concatenation_of<type_list<>, splits_of<Is, Sharding>...>;
};

template <class Sharding, reduction How, class MeshAxes>
struct as_part_over {
  using type = canonical_sharding<Sharding, typename partial_of<How, MeshAxes>::type>;
};
template <class Sharding, reduction How>
struct as_part_over<Sharding, How, type_list<>> {
  using type = Sharding;
};

/// The types of a reduction of A to Out. `Out` is as the program names it: in a body, that does not include the mesh
/// axes along which it varies.
template <class Out, class A>
struct row_types {
  using labels = axes_in<A>;
  using mesh = mesh_axes_in<A>;
  using gone = difference_of<labels, axes_in<Out>>;
  using splits = typename splits_of_all<sharding_in<A>, gone>::type;  ///< the mesh axes that divide the reduced axes
  using rows = without_axes<sharding_in<A>, gone>;
  template <reduction How>
  using part = typename as_part_over<rows, How, splits>::type;
  static constexpr planner::mesh_set combined = mesh_axes_numbered<mesh>(splits{});
};

[[noreturn, gnu::cold]] inline void throw_reduction_of_nothing(char const* operation, std::string_view axis) {
  throw_error(operation, ": the result is one of the elements, but ", axis,
              " = 0 on a device, which has none; skip the call where the axis is empty");
}

/// @throws ostraka::error, on all devices alike, if there are no elements to reduce
template <class A, class... Gone>
void require_elements(char const* operation, A const& a, type_list<Gone...>) {
  common_mesh(operation, a);
  ((least_extent<Gone>(operation, a) == 0 ? throw_reduction_of_nothing(operation, Gone::name) : void()), ...);
}

/// The requirements of a reduction on a tensor of values, with rows of R that are combined by `How`.
template <class Operation, class Out, class Policy, reduction How, class R, class A>
consteval auto check_rows() {
  using out = varying_as_one<Out, A>;
  using own = first_fault<typename sharding_traits<sharding_in<A>>::verdict, whole_values_verdict<Operation, A>,
                          typename decltype(check_einsum<out, Policy, How, A>())::type>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else {
    using part = typename row_types<Out, A>::template part<How>;
    return found<
        first_fault<typename decltype(check_einsum<out, Policy, How, basic_tensor<R, part, typename A::space>>())::type,
                    element_verdict<R, out>>>{};
  }
}
template <class Operation, class Out, class Policy, reduction How, class R, class A>
using rows_verdict = typename decltype(check_rows<Operation, Out, Policy, How, R, A>())::type;

/// The plan that takes Rows of A to Out.
template <class Out, reduction How, class Rows, class A>
struct rows_source {
  using moved = einsum_types<varying_as_one<Out, A>, policy<planner::admit::any>, How, Rows>;
  static constexpr named_plan<typename moved::labels, typename moved::mesh, element_bytes_in<Rows>> plan{moved::plan};
};

/// The moves of rows by their plan. Their elements are combined before, by kernels that count no flops.
template <class Source>
struct moves_of_combined_rows : moves_of_plan<Source> {
  template <class Sizes>
  static constexpr std::int64_t flops(Sizes const&) {
    return 0;
  }
};

/// The moves that take rows of R to Out, from parts that are combined by `How`.
template <class Out, reduction How, class R, class A>
using moves_of_parts = moves_of_combined_rows<
    rows_source<Out, How, basic_tensor<R, typename row_types<Out, A>::template part<How>, typename A::space>, A>>;

/// The moves by which the devices that divide the reduced axes combine their states, and those that take the resulting
/// rows of R to Out.
template <class Out, class State, class R, class A>
using moves_of_states =
    moves_in_turn<moves_of_rows<A, typename row_types<Out, A>::rows, typename row_types<Out, A>::splits,
                                static_cast<int>(sizeof(State))>,
                  moves_of_combined_rows<rows_source<
                      Out, reduction::sum, basic_tensor<R, typename row_types<Out, A>::rows, typename A::space>, A>>>;

/// A reduction by rows as constants.
struct rows_call {
  planner::spec const* operand;
  planner::spec const* rows;
  planner::naming const* names;
  int labels;
  int mesh_axes;
};

/// A new tensor of rows. One function for all shardings of its rank.
template <class Accumulator, class R, int Rank, class Space, class T, class Finish>
[[gnu::noinline]] void accumulate_unnamed(rows_call const& call, char const* name,
                                          std::shared_ptr<engine::device_mesh const> const& mesh,
                                          runtime_operand const& operand, T const* block, planner::mesh_set combined,
                                          Finish const& finish, unnamed_tensor<R, Rank, Space>& result) {
  engine::execution_context const w = context_of_operands(name, engine::steps_ahead{}, *call.names, call.labels,
                                                          call.mesh_axes, &operand, &call.operand, 1);
  result = allocate_unnamed<R, Rank, Space>(mesh, w, *call.rows);
  engine::accumulate_rows<Accumulator>(execution_space_of<unnamed_tensor<R, Rank, Space>>(), w, *call.operand,
                                       *call.rows, combined, block, result.local().data(), finish);
}

template <class Rows, class Accumulator, class A, class Finish>
Rows accumulated(char const* name, A const& a, planner::mesh_set combined, Finish const& finish) {
  using labels = axes_in<A>;
  using mesh = mesh_axes_in<A>;
  static constexpr rows_call call{&spec_of<A, labels, mesh>, &spec_of<typename Rows::sharding_type, labels, mesh>,
                                  &naming_of<labels, mesh>, labels::size, mesh::size};
  Rows result;
  accumulate_unnamed<Accumulator, typename Rows::value_type, Rows::rank, typename Rows::space>(
      call, name, a.mesh_handle(), runtime_operand_of(a), elements_of(a), combined, finish, result);
  if constexpr (any_varies<A>) result.set_origins(origins_of(name, typename Rows::axes{}, a));
  return result;
}

/// The state itself, if it is a number.
struct identity_finish {
  template <class State>
  KOKKOS_INLINE_FUNCTION State operator()(State const& s) const {
    return s;
  }
};

/// Reduces by rows that are numbers, in parts that are combined by `How`: their plan moves them. `finish(state)` is a
/// row.
template <class Out, class Accumulator, reduction How, class R, class A, class Finish = identity_finish>
[[gnu::cold]] auto reduce_as_parts(char const* name, A const& a, Finish const& finish = {}) {
  using rows = basic_tensor<R, typename row_types<Out, A>::template part<How>, typename A::space>;
  return run_reduction<Out, How>(name, accumulated<rows, Accumulator>(name, a, {}, finish));
}

/// Reduces by rows that are states: all parts of these are combined first, in one message.
template <class Out, class Accumulator, class R, class A, class Finish>
[[gnu::cold]] auto reduce_as_states(char const* name, A const& a, Finish const& finish) {
  using types = row_types<Out, A>;
  using rows = basic_tensor<R, typename types::rows, typename A::space>;
  auto const whole = accumulated<rows, Accumulator>(name, a, types::combined, finish);
  if constexpr (std::is_same_v<typename rows::sharding_type, varying_as_one<Out, A>>)
    return whole;
  else
    return run_reduction<Out, reduction::sum>(name, whole);
}

}  // namespace ostraka::detail
