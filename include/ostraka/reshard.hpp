// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::reshard<I/Y, J>(A)`: any sharding to any other by the cheapest plan. A[I_X, J] → A[I_Y, J]

#include <ostraka/after_error.hpp>
#include <ostraka/engine/execute.hpp>
#include <ostraka/operation.hpp>
#include <ostraka/plan.hpp>

namespace ostraka {

namespace detail {

template <class From, class To>
struct reshard_types {
  using labels = axes_in<From>;
  using mesh = union_of<mesh_axes_in<From>, mesh_axes_in<To>>;
  static constexpr planner::spec from = spec_of<From, labels, mesh>;
  static constexpr planner::spec to = spec_of<To, labels, mesh>;
  static constexpr planner::reshard_steps steps = planner::plan_reshard(from, to, nominal(labels{}, mesh{}));
};

template <class From, class To>
using reshard_verdict = typename first_fault<
    typename sharding_traits<sharding_in<From>>::verdict, typename sharding_traits<To>::verdict,
    std::conditional_t<std::is_same_v<axes_in<From>, axes_in<To>>, reason::ok, reason::reshard_changes_axes<sharding_in<From>, To>>>::type;

// Runs the steps of `types`: those of a planned reshard, or the one of a verb.
template <class Types, class To, class A>
auto run_moves(char const* operation, A const& a) {
  using result_type = basic_tensor<typename A::value_type, To, typename A::space>;
  engine::locale const w = locale_of<typename Types::labels, typename Types::mesh>(operation, a);
  if constexpr (Types::steps.empty()) {
    return result_type(a.mesh_handle(), a.extents(), a.local());
  } else {
    result_type const result = allocate_in<result_type, typename Types::labels>(w, a.mesh_handle(), typename result_type::axes{});
    engine::run(execution_space_of<A>(), w, Types::steps, Types::from, static_cast<typename A::value_type const*>(a.local().data()), result.local().data());
    return result;
  }
}

}  // namespace detail

/// The same tensor under another sharding; shares its memory with `a` if that is the one it has. Naming the target authorises the
/// communication. Collective over the mesh axes that source and target name.
template <auto... To, Tensor A>
[[nodiscard]] auto reshard(A const& a) {
  using target = sharding_of<To...>;
  using verdict = detail::reshard_verdict<A, target>;
  reason::raise<verdict>();
  if constexpr (std::is_same_v<verdict, reason::ok>)
    return detail::run_moves<detail::reshard_types<A, target>, target>("reshard", a);
  else
    return detail::after_error_of<typename A::value_type, target, typename A::space>();
}

}  // namespace ostraka
