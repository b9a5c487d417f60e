// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 2. Policies: a user's requirements for a plan beyond the lowest cost, as the last argument of os::einsum.

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ostraka/types/axes/axis.hpp>
#include <ostraka/types/reasons.hpp>
#include <ostraka/types/support/type_list.hpp>

namespace ostraka {

namespace planner {
/// The admitted plans; the planner takes the cheapest of these.
enum class admit { any, gather_left, gather_right, reduce_result, no_communication };
}  // namespace planner

/// An admission rule, and mesh axes that no tensor names but over which the plan may divide work.
template <planner::admit Rule, class... Idle>
struct policy {
  static constexpr planner::admit rule = Rule;
  using idle_axes = type_list<Idle...>;
  using summed_unshared = type_list<>;  ///< axes that may be summed although one operand alone has them (os::sum_over)
  using unlimited = policy;
  static constexpr int directions = 0;  ///< of rings in which products overlap moves; 0: no rings
  static constexpr double flops_per_byte = 0;  ///< flops that weigh as much as one byte moved; 0: the default balance
  static constexpr std::int64_t budget = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t workspace_limit =
      std::numeric_limits<std::int64_t>::max();  ///< in bytes, as far as it is known at compile time
  static constexpr bool limits_workspace = false;
  static constexpr bool plans_at_run_time = false;
};

/// The default: the plan with the lowest price of moves and work together (plan/search/price.hpp). Ties go to the
/// fewest elements moved, then the fewest multiplications, then the fewest tensors touched, then the first in the order
/// of the search (plan/search/plan_einsum.hpp).
inline constexpr policy<planner::admit::any> cheapest{};
/// All-gather the left of two operands; the right one and the result have only free moves, if any.
inline constexpr policy<planner::admit::gather_left> gather_left{};
/// All-gather the right of two operands; the left one and the result have only free moves, if any.
inline constexpr policy<planner::admit::gather_right> gather_right{};
/// Move neither of two operands; reduce the result.
inline constexpr policy<planner::admit::reduce_result> reduce_result{};
/// Move nothing.
inline constexpr policy<planner::admit::no_communication> no_communication{};

/// True if a type is a policy of plans.
template <class T>
inline constexpr bool is_policy = false;

namespace detail {

struct verb_base {};

}  // namespace detail

/// A verb that is one move of a tensor: os::all_gather<X> is an object of such a type. It is not a policy, but may be
/// mistaken for one.
template <class T>
concept Verb = std::derived_from<T, detail::verb_base>;

namespace detail {

template <class First, class Second>
consteval auto check_order() {
  if constexpr (Verb<Second>)
    return found<reason::verb_is_no_policy<Second>>{};
  else
    return found<reason::policy_comes_last<First, Second>>{};
}

// The verdict if another argument is in the place of a tensor, followed by a policy.
template <class First, class Second>
using order_verdict = typename decltype(check_order<First, Second>())::type;

template <class T>
consteval auto explain_argument() {
  if constexpr (Verb<T>)
    return found<reason::verb_is_no_policy<T>>{};
  else
    return found<reason::not_an_operand<T>>{};
}

// The verdict on an argument that is neither an operand nor a policy.
template <class T>
using not_an_operand_verdict = typename decltype(explain_argument<T>())::type;

}  // namespace detail

template <planner::admit Rule, class... Idle>
inline constexpr bool is_policy<policy<Rule, Idle...>> = true;

/// A policy that compares plans by the time of moves and products together.
template <std::int64_t FlopsPerByte, class Policy>
struct timed : Policy {
  static_assert(FlopsPerByte > 0,
                "os::least_time: the operations that a device does while it moves a byte are a number from 1");
  static constexpr double flops_per_byte = static_cast<double>(FlopsPerByte);
  using unlimited = timed<FlopsPerByte, typename Policy::unlimited>;

  /// Gives another policy the same weight: `os::least_time<2550>(os::idle(Z))`.
  template <class Other>
    requires is_policy<Other>
  constexpr timed<FlopsPerByte, Other> operator()(Other other) const {
    return {other};
  }
};

template <std::int64_t FlopsPerByte, class Policy>
inline constexpr bool is_policy<timed<FlopsPerByte, Policy>> = true;

/// Least time by the program's own balance, on devices that do FlopsPerByte floating-point operations while they move
/// one byte (C/W of the machine; the arithmetic intensity at which neither waits for the other). It chooses the plan
/// with the fewest flops + FlopsPerByte · bytes. If the default planner would gather an operand and let every device
/// compute the whole product, this policy may slice instead and reduce the result.
template <std::int64_t FlopsPerByte>
inline constexpr timed<FlopsPerByte, policy<planner::admit::any>> least_time{};

/// A policy whose products overlap the moves next to them.
template <int Directions, class Policy>
struct overlapping : Policy {
  static constexpr int directions = Directions;
  using unlimited = overlapping<Directions, typename Policy::unlimited>;

  /// Gives another policy the same overlap: `os::overlapped(os::gather_right)`.
  template <class Other>
    requires is_policy<Other>
  constexpr overlapping<Directions, Other> operator()(Other other) const {
    return {other};
  }
};

template <int Directions, class Policy>
inline constexpr bool is_policy<overlapping<Directions, Policy>> = true;

/// Overlaps a product of two tensors with the gather before it, or the reduce-scatter after it, as a ring: in n − 1
/// steps each device passes a part on to the next one while it multiplies the part that it has. No device holds the
/// gathered tensor. Use it on networks whose transfers take as long as the products; in shared memory it gains little.
/// The choice of the plan does not change. If a ring is impossible, or parts are short, the product runs as without it,
/// and the plan's description says why.
inline constexpr overlapping<1, policy<planner::admit::any>> overlapped{};
/// The same in both directions: half of each part goes to the next device and half to the previous one. Use it on
/// full-duplex networks.
inline constexpr overlapping<2, policy<planner::admit::any>> overlapped_both_ways{};

/// A policy whose plan is made when the operation runs.
template <class Policy>
struct at_run_time : Policy {
  static constexpr bool plans_at_run_time = true;

  /// Makes another policy plan for the actual sizes: `os::for_these_sizes(os::idle(Z))`.
  template <class Other>
    requires is_policy<Other>
  constexpr at_run_time<Other> operator()(Other other) const {
    return {other};
  }
};

template <class Policy>
inline constexpr bool is_policy<at_run_time<Policy>> = true;

/// Plans for the actual sizes instead of the nominal ones. The plan is made when the operation runs, by the function
/// that plans at compile time, and is cached for the last eight sizes. All devices know the sizes, so all make the same
/// plan. `plan.for_sizes(I = 8, …)` shows the plan for given sizes.
inline constexpr at_run_time<policy<planner::admit::any>> for_these_sizes{};

/// A policy, and the most bytes per device that its plan may move.
template <std::int64_t Bytes, class Policy>
struct limited : Policy {
  static constexpr std::int64_t budget = Bytes;

  /// Puts another policy under the same budget: `os::at_most<1024>(os::idle(Z))`.
  template <class Other>
    requires is_policy<Other>
  constexpr limited<Bytes, Other> operator()(Other other) const {
    return {other};
  }
};

template <std::int64_t Bytes, class Policy>
inline constexpr bool is_policy<limited<Bytes, Policy>> = true;

/// True if a policy limits the bytes that a plan moves (os::at_most).
template <class Policy>
inline constexpr bool has_budget = Policy::budget < std::numeric_limits<std::int64_t>::max();

/// The plan moves at most `Bytes` bytes per device. Exceeding that is a compile-time error if all sizes are static, and
/// otherwise an exception on all devices before anything is moved.
template <std::int64_t Bytes>
inline constexpr limited<Bytes, policy<planner::admit::any>> at_most{};

/// A policy, and the most bytes of workspace that each device may take, known at compile time.
template <std::int64_t Bytes, class Policy>
struct within_static : Policy {
  static constexpr std::int64_t workspace_limit = Bytes;
  static constexpr bool limits_workspace = true;
};

/// The same, with a limit that is known when the operation runs.
template <class Policy>
struct within_dynamic : Policy {
  std::int64_t workspace_bytes = 0;
  static constexpr std::int64_t workspace_limit = std::numeric_limits<std::int64_t>::max();
  static constexpr bool limits_workspace = true;
};

template <std::int64_t Bytes, class Policy>
inline constexpr bool is_policy<within_static<Bytes, Policy>> = true;
template <class Policy>
inline constexpr bool is_policy<within_dynamic<Policy>> = true;

/// True if a policy limits the workspace of a plan (os::within).
template <class Policy>
concept limits_workspace = Policy::limits_workspace;

/// The plan, the default one or another policy's, takes at most `bytes` bytes of workspace on each device. A plan that
/// takes more runs in passes over parts of a label (plan/workspace/passes.hpp), or is replaced by another one
/// (plan/workspace/fitting.hpp). If none fits, all devices throw before anything is moved.
template <class Policy = policy<planner::admit::any>>
  requires is_policy<Policy>
[[nodiscard]] constexpr within_dynamic<Policy> within(std::int64_t bytes, Policy other = {}) {
  return {other, bytes};
}

/// The same for a number that is known at compile time, `os::within<1 << 20>()`. If all sizes are static, exceeding it
/// is a compile-time error, too.
template <std::int64_t Bytes, class Policy = policy<planner::admit::any>>
  requires is_policy<Policy>
[[nodiscard]] constexpr within_static<Bytes, Policy> within(Policy other = {}) {
  return {other};
}

/// The workspace limit of a policy, in bytes.
template <class Policy>
[[nodiscard]] constexpr std::int64_t workspace_limit_of(Policy const& p) {
  if constexpr (requires { p.workspace_bytes; })
    return p.workspace_bytes;
  else
    return Policy::workspace_limit;
}

/// A policy, and axes that are summed although one operand alone has them.
template <class Policy, class... Axes>
struct summing_unshared : Policy {
  using summed_unshared = concatenation_of<type_list<Axes...>, typename Policy::summed_unshared>;

  /// Gives another policy the same sums: `os::sum_over(N)(os::gather_left)`.
  template <class Other>
    requires is_policy<Other>
  constexpr summing_unshared<Other, Axes...> operator()(Other other) const { return {other}; }
};

template <class Policy, class... Axes>
inline constexpr bool is_policy<summing_unshared<Policy, Axes...>> = true;

/// Allows sums over axes that only one of several operands has and the result lacks: Σ_N B[N, H] is computed on its
/// own. Without this policy such a sum is refused, because a forgotten os::rename looks the same. The plan itself does
/// not change. Axes that no operand has are ignored, so one definition of a layer works both for its own weights and
/// for stacked weights, whose stacked axes have extent 1.
template <Axis... As>
[[nodiscard]] constexpr summing_unshared<policy<planner::admit::any>, As...> sum_over(As...) {
  return {};
}

/// Lets the plan divide work over mesh axes that no tensor of the operation names, if that is cheaper.
template <MeshAxis... Ms>
[[nodiscard]] constexpr policy<planner::admit::any, Ms...> idle(Ms...) {
  return {};
}

namespace detail {

// The arguments of an operation: operands, and possibly a policy after them.
template <class Operands, class... Arguments>
struct split_arguments {
  using operands = Operands;
  using policy = ostraka::policy<planner::admit::any>;
};

template <class... Operands, class Policy>
  requires is_policy<Policy>
struct split_arguments<type_list<Operands...>, Policy> {
  using operands = type_list<Operands...>;
  using policy = Policy;
};

template <class... Operands, class Next, class... More>
  requires(sizeof...(More) > 0 || !is_policy<Next>)
struct split_arguments<type_list<Operands...>, Next, More...> : split_arguments<type_list<Operands..., Next>, More...> {
};

template <class... Arguments>
using arguments = split_arguments<type_list<>, Arguments...>;

// The policy after the operands, with the values that it carries.
template <class Policy>
constexpr Policy trailing_policy() {
  return {};
}

template <class Policy>
constexpr Policy trailing_policy(Policy const& given) {
  return given;
}

}  // namespace detail

}  // namespace ostraka
