// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Products of weights with values (weigh.hpp) as functions for all shardings. The products and moves, with
/// and without hidden keys, are constants.

#include <type_traits>

#include <ostraka/calls/planned_call.hpp>
#include <ostraka/elements/map.hpp>
#include <ostraka/operations/attention/weigh.hpp>

namespace ostraka::detail {

/// Weights times values as a constant.
template <class T, class Space>
struct weighing_call {
  planned_operation<T, Space> straight{};  ///< the product, if nothing is hidden
  planned_operation<T, Space> first{};     ///< else moves the values; none if they stay,
  planned_operation<T, Space> product{};   ///< then multiplies in place,
  planned_operation<T, Space> last{};      ///< and moves the sums; none if they stay
  map_call sums{};                         ///< how the multiplied weights and values are matched
};

/// Corrects sums in which a weight of 0 met NaN or infinity, as repair_sums does.
template <class T, int W, int V, int R, class Space>
[[gnu::cold, gnu::noinline]] void repair_sums_of(map_call const& t, char const* name,
                                                 unnamed_tensor<T, W, Space> const& weights,
                                                 unnamed_tensor<T, V, Space> const& values,
                                                 unnamed_tensor<T, R, Space> const& sums) {
  auto const exec = execution_space_of<unnamed_tensor<T, R, Space>>();
  T const* const from[] = {weights.local().data(), values.local().data()};
  if (!engine::may_involve_nan(exec, from[1], static_cast<std::int64_t>(values.local().size()),
                               static_cast<T const*>(sums.local().data()),
                               static_cast<std::int64_t>(sums.local().size())))
    return;
  runtime_operand const operands[] = {runtime_operand_of(weights), runtime_operand_of(values)};
  engine::execution_context const w =
      context_of_operands(name, engine::steps_ahead{}, *t.names, t.labels, t.mesh_axes, operands, t.operands, 2);
  engine::repair_weighted_sums(exec, w, *t.operands[0], *t.operands[1], *t.result, from[0], from[1],
                               sums.local().data());
}

/// A new tensor <- weights times values. `hides`: a mask has set some weights to 0.
template <class T, int W, int V, int R, class Space>
[[gnu::cold, gnu::noinline]] void run_weighing(weighing_call<T, Space> const& call, char const* name, bool hides,
                                               unnamed_tensor<T, W, Space> const& weights,
                                               unnamed_tensor<T, V, Space> const& values,
                                               unnamed_tensor<T, R, Space>& result) {
  if (!hides) return run_on_two(call.straight, name, weights, values, result);
  unnamed_tensor<T, V, Space> met = values;
  if (call.first.call != nullptr) run_on_one(call.first, name, values, met);
  unnamed_tensor<T, R, Space> sums;
  run_on_two(call.product, name, weights, met, sums);
  repair_sums_of(call.sums, name, weights, met, sums);
  if (call.last.call != nullptr)
    run_on_one(call.last, name, sums, result);
  else
    result = sums;
}

template <class W, class V, class Sums>
struct sums_of_weighing {
  using labels = union_of<axes_in<W>, axes_in<V>>;
  using mesh = union_of<mesh_axes_in<W>, union_of<mesh_axes_in<V>, mesh_axes_in<Sums>>>;
  static constexpr planner::spec const* specs[] = {&spec_of<W, labels, mesh>, &spec_of<V, labels, mesh>};
  static constexpr map_call tensors{specs, &spec_of<Sums, labels, mesh>, &naming_of<labels, mesh>, labels::size,
                                    mesh::size};
};

/// The constant of weigh<Out, Policy>(weights, values). `is_planned`: there is such a constant.
template <class Out, class Policy, class W, class V>
struct find_weighing {
  using value = typename W::value_type;
  using space = typename W::space;
  using any_plan = policy<planner::admit::any>;
  using in_place_only = policy<planner::admit::no_communication>;
  template <class Sharding>
  using tensor_of = basic_tensor<value, Sharding, space>;
  template <class To, class How, class... Operands>
  using planned = einsum_of<To, How, reduction::sum, type_list<Operands...>>;

  static constexpr bool is_in_place = is_product_in_place<Out, W, V>;
  using parts = typename std::conditional_t<is_in_place, std::type_identity<Out>, product_in_place<Out, W, V>>::type;
  static consteval bool is_in_parts() {
    if constexpr (is_in_place)
      return false;
    else
      return is_reached_in_place<parts, W, V>();
  }
  using met = typename values_that_meet<W, V>::type;
  using after_move = find_weighing<Out, any_plan, W, tensor_of<met>>;

  static consteval bool is_planned() {
    if constexpr (!planned<Out, Policy, W, V>::is_planned || !std::is_same_v<value, typename V::value_type>)
      return false;
    else if constexpr (is_in_place || is_in_parts())
      return true;
    else
      return !std::is_same_v<met, sharding_in<V>> && after_move::is_planned();
  }

  static consteval weighing_call<value, space> as_constant() {
    weighing_call<value, space> call;
    call.straight = planned<Out, Policy, W, V>::as_constant();
    if constexpr (is_in_place) {
      call.product = call.straight;
      call.sums = sums_of_weighing<W, V, tensor_of<Out>>::tensors;
    } else if constexpr (is_in_parts()) {
      call.product = planned<parts, in_place_only, W, V>::as_constant();
      call.sums = sums_of_weighing<W, V, tensor_of<parts>>::tensors;
      call.last = planned<Out, any_plan, tensor_of<parts>>::as_constant();
    } else {
      call.first = planned<met, any_plan, V>::as_constant();
      constexpr weighing_call<value, space> then = after_move::as_constant();
      call.product = then.product;
      call.sums = then.sums;
      call.last = then.last;
    }
    return call;
  }
};

}  // namespace ostraka::detail
