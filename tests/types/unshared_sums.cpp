// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Axes that only one of several operands has: refused, unless os::sum_over names them. Compiling is passing.

#include <type_traits>

#include <ostraka/plan.hpp>

namespace os = ostraka;
namespace reason = os::reason;

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(M, 512);
OSTRAKA_AXIS(N, 512);
OSTRAKA_AXIS(K, 64);
OSTRAKA_AXIS(H);
OSTRAKA_AXIS(L, 1);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using h = os::sharding_of<B/X, M>;
using of_n = os::sharding_of<N, H/Y>;
using of_k = os::sharding_of<K, H/Y>;
using of_m = os::sharding_of<M, H/Y>;
using stacked = os::sharding_of<L, M, H/Y>;

template <auto Policy, class... Operands>
using verdict = os::einsum_verdict<os::sharding_of<B/X, H/Y>, std::remove_const_t<decltype(Policy)>, Operands...>;
template <auto Policy, class Reason, class... Operands>
inline constexpr bool is_refused = std::is_same_v<verdict<Policy, Operands...>, Reason>;
template <auto Policy, class... Operands>
inline constexpr bool is_right = is_refused<Policy, reason::ok, Operands...>;

// ---- what is refused, and with which remedy -------------------------------------------------------------------------

// The axis, the operand that has it, and the rename that would join it, if there is one of its extent.
using join = os::detail::rename<N_axis, M_axis>;
static_assert(is_refused<os::cheapest, reason::unshared_axis_would_be_summed<N_axis, of_n, join>, h, of_n>);
static_assert(is_refused<os::cheapest, reason::unshared_axis_would_be_summed<K_axis, of_k>, h, of_k>);
static_assert(is_refused<os::cheapest, reason::unshared_axis_would_be_summed<L_axis, stacked>, h, stacked>);
static_assert(is_refused<os::sum_over(N), reason::unshared_axis_would_be_summed<M_axis, h>, h, of_n>);
using bias = os::sharding_of<N>;
static_assert(is_refused<os::cheapest, reason::unshared_axis_would_be_summed<N_axis, bias, join>, h, of_m, bias>);
static_assert(is_right<os::cheapest, h, of_m>);
static_assert(os::can_einsum<os::dims<B/X>, h> && os::can_einsum<os::dims<>, h>);  // one operand sums what it likes

// ---- what is asked for ----------------------------------------------------------------------------------------------

static_assert(is_right<os::sum_over(M, N), h, of_n> && is_right<os::sum_over(N, M, L), h, of_n>);
static_assert(is_right<os::sum_over(L), h, stacked> && is_right<os::sum_over(L), h, of_m>);
static_assert(is_refused<os::sum_over(L, M), reason::sum_over_of_shared_axis<M_axis>, h, stacked>);
static_assert(is_refused<os::sum_over(L, H), reason::sum_over_of_shared_axis<H_axis>, h, stacked>);
static_assert(os::can_einsum<os::dims<B/X>, h, decltype(os::sum_over(M))>);
static_assert(!os::can_einsum<os::dims<B/X, M>, h, decltype(os::sum_over(M))>);
static_assert(!os::can_einsum<os::dims<B/X, H/Y>, h, stacked> &&
              os::can_einsum<os::dims<B/X, H/Y>, h, stacked, decltype(os::sum_over(L))>);

// ---- with other policies, in any order ------------------------------------------------------------------------------

static_assert(os::is_policy<decltype(os::sum_over(L))>);
static_assert(is_right<os::at_most<1 << 20>(os::sum_over(L)), h, stacked>);
static_assert(is_right<os::sum_over(L)(os::no_communication), h, stacked>);
static_assert(is_right<os::sum_over(M)(os::sum_over(N)), h, of_n>);
static_assert(is_right<os::for_these_sizes(os::sum_over(L)), h, stacked>);
static_assert(is_right<os::overlapped(os::sum_over(L)(os::gather_right)), h, stacked>);
static_assert(is_right<os::least_time<64>(os::sum_over(L)), h, stacked>);
static_assert(is_right<os::within<1 << 30>(os::sum_over(L)), h, stacked>);
static_assert(!is_right<os::at_most<1 << 20>, h, stacked> && !is_right<os::overlapped, h, stacked>);

// The plan is the one that it would be; no second one is made.
static_assert(std::is_same_v<decltype(os::sum_over(L))::unlimited, std::remove_const_t<decltype(os::cheapest)>>);
static_assert(std::is_same_v<decltype(os::sum_over(L)(os::gather_left))::unlimited,
                             std::remove_const_t<decltype(os::gather_left)>>);
static_assert(os::plan_of<os::dims<B/X, H/Y>, h, stacked, decltype(os::sum_over(L))>.communications() == 0);
