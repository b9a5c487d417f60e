// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::map(f, A, B, …)`: f of the corresponding elements; C[I_X, J] = f(A[I_X, J], B[J]). Nothing is moved
/// between devices.

#include <cstdint>
#include <type_traits>

#include <ostraka/calls/called_function.hpp>
#include <ostraka/calls/operate.hpp>
#include <ostraka/engine/blocks/dense.hpp>
#include <ostraka/engine/blocks/map_blocks.hpp>
#include <ostraka/plan/rules/map_rule.hpp>
#include <ostraka/plan/typed/checks.hpp>
#include <ostraka/tensors/after_error.hpp>
#include <ostraka/types/shardings/preserves.hpp>

namespace ostraka {

namespace detail {

// How operands are matched. os::preserves<Keeper> says which parts the function keeps.
template <class Keeper, class... Operands>
struct map_types {
  using labels = union_of<axes_in<Operands>...>;
  using mesh = union_of<mesh_axes_in<Operands>...>;
  static constexpr planner::map_finding finding = [] {
    planner::operand_specs specs;
    (specs.push_back(spec_of<Operands, labels, mesh>), ...);
    if constexpr (((sharding_traits<sharding_in<Operands>>::partial_entries::size > 0) || ...))
      return planner::find_map(specs, preservations_of<Keeper>);
    else
      return planner::find_map(specs);  // does not need the trait
  }();
  template <int I>
  using label = typename type_at<labels, I>::type;
  template <int I>
  using mesh_axis = typename type_at<mesh, I>::type;
  template <int K>
  using operand_sharding = sharding_in<typename type_at<type_list<Operands...>, K>::type>;
  template <int K>
  using partial_of_operand = typename type_at<typename sharding_traits<operand_sharding<K>>::partial_entries, 0>::type;
};

// `reason::ok` if the operands match, else the reason for the fault that was found.
template <class Operation, class Keeper, class... Operands>
consteval auto explain_map() {
  using types = map_types<Keeper, Operands...>;
  using planner::map_fault;
  constexpr planner::map_finding f = types::finding;
  if constexpr (f.fault == map_fault::none) {
    return found<reason::ok>{};
  } else if constexpr (f.fault == map_fault::axis_split_differently) {
    using I = typename types::template label<f.label>;
    using one = typename types::template operand_sharding<f.operand>;
    using other = typename types::template operand_sharding<f.other_operand>;
    return found<
        reason::axis_split_differently<I, typename divisor_of<I, one>::type, typename divisor_of<I, other>::type>>{};
  } else {
    using X = typename types::template mesh_axis<f.mesh_axis>;
    if constexpr (f.fault == map_fault::mesh_axis_on_two_axes)
      return found<reason::mesh_axis_on_two_axes<X, typename types::template label<f.label>,
                                                 typename types::template label<f.other_label>>>{};
    else if constexpr (f.fault == map_fault::partial_in_nonlinear_operation)
      return found<reason::partial_in_nonlinear_operation<X, Operation>>{};
    else if constexpr (f.fault == map_fault::partial_kinds_meet)
      return found<reason::partial_kinds_meet<X, typename types::template partial_of_operand<f.operand>,
                                              typename types::template partial_of_operand<f.other_operand>>>{};
    else if constexpr (f.fault == map_fault::partial_meets_divided_axis)
      return found<reason::partial_meets_divided_axis<X, typename types::template label<f.label>>>{};
    else if constexpr (f.fault == map_fault::partial_plus_replicated)
      return found<reason::partial_plus_replicated<X>>{};
    else
      return found<reason::partials_multiplied<X>>{};
  }
}

// x ← f(x) on a tensor of which no other handle exists yet.
template <class TensorType, class F>
void apply_in_place(char const* operation, TensorType const& t, F const& f) {
  profiled_block<TensorType> const region_of_run(operation, t, "reads and writes", 2);
  engine::change_block(execution_space_of<TensorType>(), t.local().data(), static_cast<std::int64_t>(t.local().size()),
                       f);
}

template <class Keeper, class... Operands>
struct map_result {
  using types = map_types<Keeper, Operands...>;
  using type =
      varying_as<sharding_from<types::finding.result, typename types::labels, typename types::mesh>, Operands...>;
};

// `reason::ok` if a plan can hold this many operands, axes and mesh axes.
template <class... Operands>
consteval auto check_room() {
  constexpr int count = static_cast<int>(sizeof...(Operands));
  constexpr int axes = union_of<axes_in<Operands>...>::size;
  constexpr int mesh_axes = union_of<mesh_axes_in<Operands>...>::size;
  if constexpr (count > planner::max_operands)
    return found<reason::too_many_operands<count>>{};
  else if constexpr (axes > max_rank)
    return found<reason::too_many_axes<axes>>{};
  else if constexpr (mesh_axes > planner::max_mesh_axes)
    return found<reason::too_many_mesh_axes<mesh_axes>>{};
  else
    return found<reason::ok>{};
}

// Checks that the operands match only if each of them is valid by itself. `Unless`: another verdict that has to be ok.
template <class Operation, class Keeper, class Unless, class... Operands>
consteval auto check_meeting() {
  using own = first_fault<typename sharding_traits<sharding_in<Operands>>::verdict...,
                          typename decltype(check_room<Operands...>())::type, blocks_verdict<sharding<>, Operands...>,
                          Unless>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else
    return explain_map<Operation, Keeper, Operands...>();
}

template <class Operation, class Keeper, class Unless, class... Operands>
using meeting_verdict = typename decltype(check_meeting<Operation, Keeper, Unless, Operands...>())::type;

// The same, and then checks whether elements of type R can be partial as the result is.
template <class Operation, class Keeper, class Unless, class R, class... Operands>
consteval auto check_map() {
  using met = meeting_verdict<Operation, Keeper, Unless, Operands...>;
  if constexpr (!std::is_same_v<met, reason::ok>)
    return found<met>{};
  else
    return found<element_verdict<R, typename map_result<Keeper, Operands...>::type>>{};
}

template <class Operation, class Keeper, class Unless, class R, class... Operands>
using map_verdict = typename decltype(check_map<Operation, Keeper, Unless, R, Operands...>())::type;

// A map as constants: how its operands are matched.
struct map_call {
  planner::spec const* const* operands;
  planner::spec const* result;
  planner::naming const* names;
  int labels;
  int mesh_axes;
};

template <class Types, class... Operands>
inline constexpr planner::spec const* specs_of_map[] = {
    &spec_of<Operands, typename Types::labels, typename Types::mesh>...};

template <class Types, class... Operands>
inline constexpr map_call map_call_of{specs_of_map<Types, Operands...>, &Types::finding.result,
                                      &naming_of<typename Types::labels, typename Types::mesh>, Types::labels::size,
                                      Types::mesh::size};

// The context of a map of `count` operands, and its result, of which nothing is written. One function for all maps.
template <class R, int Rank, class Space>
[[gnu::noinline]] engine::execution_context begin_map(map_call const& call, char const* operation,
                                                      std::shared_ptr<engine::device_mesh const> const& mesh,
                                                      runtime_operand const* operands, int count,
                                                      unnamed_tensor<R, Rank, Space>& result) {
  engine::execution_context w = context_of_operands(operation, engine::steps_ahead{}, *call.names, call.labels,
                                                    call.mesh_axes, operands, call.operands, count);
  result = allocate_unnamed<R, Rank, Space>(mesh, w, *call.result);
  return w;
}

// A new tensor <- f of the corresponding elements. One function for all shardings.
template <class R, int Rank, class Space, class F, class... Ts, std::size_t... Ks>
[[gnu::noinline]] void run_map_call(map_call const& call, char const* operation, F const& f,
                                    std::shared_ptr<engine::device_mesh const> const& mesh,
                                    runtime_operand const* operands, unnamed_tensor<R, Rank, Space>& result,
                                    std::index_sequence<Ks...>, Ts const*... blocks) {
  engine::execution_context const w =
      begin_map(call, operation, mesh, operands, static_cast<int>(sizeof...(Ts)), result);
  engine::map_blocks(execution_space_of<unnamed_tensor<R, Rank, Space>>(), w, *call.result, f, result.local().data(),
                     engine::align(w, *call.operands[Ks], *call.result, blocks)...);
}

template <class Types, class R, class F, class First, class... Rest>
auto run_map_at_once(char const* operation, F const& f, First const& first, Rest const&... rest) {
  using sharding = sharding_from<Types::finding.result, typename Types::labels, typename Types::mesh>;
  basic_tensor<R, sharding, typename First::space> result;
  runtime_operand const operands[] = {runtime_operand_of(first), runtime_operand_of(rest)...};
  run_map_call<R, axes_in<sharding>::size, typename First::space>(
      map_call_of<Types, First, Rest...>, operation, f, first.mesh_handle(), operands, result,
      std::make_index_sequence<sizeof...(Rest) + 1>{}, elements_of(first), elements_of(rest)...);
  return result;
}

// The same for blocks in the local view.
template <class Types, class R, class F, class First, class... Rest>
auto run_map_of_blocks(char const* operation, F const& f, First const& first, Rest const&... rest) {
  using labels = typename Types::labels;
  using mesh = typename Types::mesh;
  static constexpr planner::spec out = Types::finding.result;  // static: g++ 12 warns about reading beyond a local one
  using result_type =
      basic_tensor<R, varying_as<sharding_from<out, labels, mesh>, First, Rest...>, typename First::space>;
  engine::execution_context const w = context_of<labels, mesh>(operation, first, rest...);
  result_type const result = allocate_for<result_type, labels, mesh>(w, first, rest...);
  engine::map_blocks(execution_space_of<result_type>(), w, out, f, result.local().data(),
                     engine::align(w, spec_of<First, labels, mesh>, out, elements_of(first)),
                     engine::align(w, spec_of<Rest, labels, mesh>, out, elements_of(rest))...);
  return result;
}

template <class Types, class R, class F, class First, class... Rest>
auto run_map(char const* operation, F const& f, First const& first, Rest const&... rest) {
  if constexpr (any_varies<First, Rest...>)
    return run_map_of_blocks<Types, R>(operation, f, first, rest...);
  else
    return run_map_at_once<Types, R>(operation, f, first, rest...);
}

// All maps to a new tensor go through here: raises the reason, or runs f on the blocks.
template <class Operation, class Keeper, class Unless, class R, class F, class First, class... Rest>
auto checked_map(char const* operation, F const& f, First const& first, Rest const&... rest) {
  if constexpr (reason::ok_or_raise<map_verdict<Operation, Keeper, Unless, R, First, Rest...>>())
    return run_map<map_types<Keeper, First, Rest...>, R>(operation, f, first, rest...);
  else
    return after_error_of<R, typename undivided<union_of<axes_in<First>, axes_in<Rest>...>>::type,
                          typename First::space>();
}

}  // namespace detail

namespace detail {

// The map of a function that can be called with these elements, and of one that cannot.
template <bool IsCalled, class F, class... Given>
struct map_call_of_function {
  using verdict = called_verdict<F, typename Given::value_type const&...>;
  using refused = scalar_after_error<F, Given...>;
};
template <class F, class First, class... Rest>
struct map_call_of_function<true, F, First, Rest...> {
  using value = typename element<std::remove_cvref_t<
      std::invoke_result_t<F const&, typename First::value_type const&, typename Rest::value_type const&...>>>::type;
  using verdict = first_fault<callable_there_verdict<F, typename First::space>,
                              map_verdict<operation::map, F, reason::ok, value, First, Rest...>>;
  using refused = after_error_of<value, typename undivided<union_of<axes_in<First>, axes_in<Rest>...>>::type,
                                 typename First::space>;
  static auto run(char const* name, std::decay_t<F> const& f, First const& first, Rest const&... rest) {
    return run_map<map_types<F, First, Rest...>, value>(name, f, first, rest...);
  }
};

}  // namespace detail

namespace operation {

/// The operation of os::map by F.
template <class F>
struct map_by : detail::moves_nothing {
  static constexpr char const* name = "map";
  std::decay_t<F> f;

  template <class... Given>
  using call = detail::map_call_of_function<std::is_invocable_v<F const&, typename Given::value_type const&...>, F,
                                            Given...>;
  template <class... Given>
  using verdict = typename call<Given...>::verdict;
  template <class... Given>
  using refused = typename call<Given...>::refused;
  template <class How, class... Given>
  auto run(How const&, Given const&... given) const {
    return call<Given...>::run(name, f, given...);
  }
};

}  // namespace operation

/// Applies f, a function's name or a callable object, to the corresponding elements: those with equal indices along
/// shared labels. Tensors that share a label divide it alike, or some of them over only the first of its mesh axes (the
/// rest is a free slice). A tensor that lacks a label is repeated along it. The result has all labels, in order of
/// first appearance, and the element type that f returns. Partial tensors are accepted if os::preserves says that the
/// type of f keeps their parts, and the result is then partial. By default they are refused.
/// @throws ostraka::error, on all devices alike, if extents disagree
template <class F, TensorOrVariable First, TensorOrVariable... Rest>
  requires(!TensorOrVariable<F>)
[[nodiscard]] constexpr auto map(F const& f, First const& first, Rest const&... rest) {
  return detail::operate(operation::map_by<F>{{}, f}, first, rest...);
}

/// Does not compile: the error says that the name of an overloaded function does not say which one is meant.
template <TensorOrVariable First, TensorOrVariable... Rest>
auto map(detail::overloaded_function<typename First::value_type, typename First::value_type,
                                     typename Rest::value_type...> const&,
         First const&, Rest const&...) {
  reason::raise<reason::function_is_overloaded<typename First::value_type, typename Rest::value_type...>>();
  return detail::scalar_after_error<First, Rest...>();
}

/// Does not compile: the error says that the function comes first.
template <class... Arguments>
  requires(TensorOrVariable<Arguments> || ...)
auto map(Arguments const&...) {
  reason::raise<reason::function_comes_first<Arguments...>>();
  return detail::scalar_after_error<Arguments...>();
}

}  // namespace ostraka
