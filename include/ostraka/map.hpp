// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::map(f, A, B, …)`: f of the elements that meet; C[I_X, J] = f(A[I_X, J], B[J]). Nothing is moved between devices.

#include <cstdint>
#include <type_traits>

#include <ostraka/after_error.hpp>
#include <ostraka/engine/elementwise.hpp>
#include <ostraka/operation.hpp>
#include <ostraka/plan/checks.hpp>
#include <ostraka/plan/map.hpp>

namespace ostraka {

namespace detail {

template <bool Linear, class... Operands>
struct map_types {
  using labels = union_of<axes_in<Operands>...>;
  using mesh = union_of<mesh_axes_in<Operands>...>;
  static constexpr planner::map_finding finding = [] {
    planner::operand_specs specs;
    (specs.push_back(spec_of<Operands, labels, mesh>), ...);
    return planner::find_map(specs, Linear);
  }();
  template <int I>
  using label = typename type_at<labels, I>::type;
  template <int I>
  using mesh_axis = typename type_at<mesh, I>::type;
};

template <class Operation, bool Linear, class... Operands>
consteval auto check_map() {
  using types = map_types<Linear, Operands...>;
  using planner::map_fault;
  constexpr planner::map_finding f = types::finding;
  if constexpr (f.fault == map_fault::partial_in_nonlinear_operation) {
    return std::type_identity<reason::partial_in_nonlinear_operation<typename types::template mesh_axis<f.mesh_axis>, Operation>>{};
  } else if constexpr (f.fault == map_fault::partial_plus_replicated) {
    return std::type_identity<reason::partial_plus_replicated<typename types::template mesh_axis<f.mesh_axis>>>{};
  } else if constexpr (f.fault == map_fault::axis_split_differently) {
    using I = typename types::template label<f.label>;
    using one = sharding_in<typename type_at<type_list<Operands...>, f.operand>::type>;
    using other = sharding_in<typename type_at<type_list<Operands...>, f.other_operand>::type>;
    return std::type_identity<reason::axis_split_differently<I, typename divisor_of<I, one>::type, typename divisor_of<I, other>::type>>{};
  } else if constexpr (f.fault == map_fault::mesh_axis_on_two_axes) {
    return std::type_identity<reason::mesh_axis_on_two_axes<typename types::template mesh_axis<f.mesh_axis>, typename types::template label<f.label>,
                                                            typename types::template label<f.other_label>>>{};
  } else {
    return std::type_identity<reason::ok>{};
  }
}

// The operand's elements under the result's block: where they begin, and their stride by dimension of the result.
template <class Operand>
struct aligned {
  typename Operand::value_type const* data;
  std::int64_t stride[max_rank]{};
};

template <class Labels, class Mesh, class Operand>
aligned<Operand> align(engine::locale const& w, Operand const& operand, planner::spec const& result) {
  constexpr planner::spec s = spec_of<Operand, Labels, Mesh>;
  aligned<Operand> a{operand.local().data(), {}};
  std::int64_t step = 1;
  for (int i = s.rank - 1; i >= 0; --i) {
    planner::range const own = planner::range_of(s, i, w.here, w.sizes);
    int const at = result.find(s.label[i]);
    planner::range const wanted = planner::range_of(result, at, w.here, w.sizes);
    a.stride[at] = step;
    if (wanted.size() > 0) a.data += (wanted.begin - own.begin) * step;
    step *= own.size();
  }
  return a;
}

template <class Types, class R, class Space, class F, class First, class... Rest>
auto run_map(char const* operation, F const& f, First const& first, Rest const&... rest) {
  static constexpr planner::spec out = Types::finding.result;  // static: g++ 12 warns of reading beyond a local one
  using result_type = basic_tensor<R, sharding_from<out, typename Types::labels, typename Types::mesh>, Space>;
  engine::locale const w = locale_of<typename Types::labels, typename Types::mesh>(operation, first, rest...);
  result_type const result = allocate_in<result_type, typename Types::labels>(w, first.mesh_handle(), typename result_type::axes{});
  auto const run = [&](auto const&... in) {
    engine::loop_nest<static_cast<int>(sizeof...(in)) + 1> loops;
    std::int64_t step = static_cast<std::int64_t>(result.local().size());
    for (int i = 0; i < out.rank; ++i) {
      std::int64_t const n = planner::range_of(out, i, w.here, w.sizes).size();
      step = n > 0 ? step / n : 0;
      loops.add(n, step, in.stride[i]...);
    }
    engine::map_elements(execution_space_of<result_type>(), loops, f, result.local().data(), in.data...);
  };
  run(align<typename Types::labels, typename Types::mesh>(w, first, out), align<typename Types::labels, typename Types::mesh>(w, rest, out)...);
  execution_space_of<result_type>().fence();
  return result;
}

// x ← f(x) on a tensor that nobody else sees yet.
template <class TensorType, class F>
void apply_in_place(TensorType const& t, F const& f) {
  auto* const data = t.local().data();
  engine::loop_nest<2> loops;
  loops.add(static_cast<std::int64_t>(t.local().size()), 1, 1);
  engine::map_elements(execution_space_of<TensorType>(), loops, f, data, static_cast<typename TensorType::value_type const*>(data));
  execution_space_of<TensorType>().fence();
}

// Raises what is wrong, or runs f.
template <class Operation, bool Linear, class R, class F, class First, class... Rest>
auto checked_map(char const* operation, F const& f, First const& first, Rest const&... rest) {
  using own = typename first_fault<typename sharding_traits<sharding_in<First>>::verdict, typename sharding_traits<sharding_in<Rest>>::verdict...,
                                   typename std::conditional_t<Linear, same_elements<First, Rest...>, same_elements<First>>::type>::type;
  using verdict = typename first_fault<own, typename decltype(check_map<Operation, Linear, First, Rest...>())::type>::type;
  reason::raise<verdict>();
  if constexpr (std::is_same_v<verdict, reason::ok>)
    return run_map<map_types<Linear, First, Rest...>, R, typename First::space>(operation, f, first, rest...);
  else
    return after_error_of<R, typename undivided<union_of<axes_in<First>, axes_in<Rest>...>>::type, typename First::space>();
}

}  // namespace detail

/// f of the elements that meet: a label that several tensors share is divided alike in them, or in some over the first of its mesh
/// axes only (the rest is a free slice); a tensor that lacks a label is repeated along it. The result has all labels, in order of
/// first appearance, and the element type that f gives. Partial tensors hold no values and are refused.
/// @throws ostraka::error, on all devices alike, if extents disagree
template <class F, Tensor First, Tensor... Rest>
[[nodiscard]] auto map(F const& f, First const& first, Rest const&... rest) {
  using value = std::remove_cvref_t<std::invoke_result_t<F const&, typename First::value_type const&, typename Rest::value_type const&...>>;
  using result = std::conditional_t<std::is_same_v<value, bool>, std::int32_t, typename detail::element<value>::type>;
  return detail::checked_map<operation::map, false, result>("map", f, first, rest...);
}

}  // namespace ostraka
