// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The product C[b, i, k] = A[b, i, j] · B[b, j, k] in every cell of the table: the verdict of os::contract, and that
/// os::einsum accepts it. Asking never fails. Compiling is passing.

#include <type_traits>

#include <ostraka/plan.hpp>

#include "support/axes.hpp"

namespace os = ostraka;
namespace reason = ostraka::reason;

template <class Left, class Right, class Reason>
constexpr bool says = std::is_same_v<os::contract_verdict<os::type_list<J_axis>, Left, Right>, Reason>  //
                      && os::can_contract<os::dims<J>, Left, Right> == std::is_same_v<Reason, reason::ok>  //
                      && os::can_einsum<os::dims<B, I, K>, Left, Right>;  // naming the result authorises what it takes

namespace left {
using R = os::sharding_of<B, I, J>;
using Sb = os::sharding_of<B / X, I, J>;
using Si = os::sharding_of<B, I / X, J>;
using Sj = os::sharding_of<B, I, J / X>;
using P = os::sharding_of<B, I, J, os::partial(X)>;
}  // namespace left

namespace right {
using R = os::sharding_of<B, J, K>;
using Sb = os::sharding_of<B / X, J, K>;
using Sj = os::sharding_of<B, J / X, K>;
using Sk = os::sharding_of<B, J, K / X>;
using P = os::sharding_of<B, J, K, os::partial(X)>;
}  // namespace right

//             A          B          what contract says
static_assert(says<left::R, right::R, reason::ok>);
static_assert(says<left::R, right::Sb, reason::ok>);
static_assert(says<left::R, right::Sj, reason::result_would_be_partial<X_mesh, J_axis>>);
static_assert(says<left::R, right::Sk, reason::ok>);
static_assert(says<left::R, right::P, reason::result_would_be_partial<X_mesh>>);

static_assert(says<left::Sb, right::R, reason::ok>);
static_assert(says<left::Sb, right::Sb, reason::ok>);
static_assert(says<left::Sb, right::Sj, reason::batch_axis_meets_contracted_axis<B_axis, J_axis, X_mesh>>);
static_assert(says<left::Sb, right::Sk, reason::batch_axis_meets_outer_axis<B_axis, K_axis, X_mesh>>);
static_assert(says<left::Sb, right::P, reason::partial_meets_batch_axis<X_mesh, B_axis>>);

static_assert(says<left::Si, right::R, reason::ok>);
static_assert(says<left::Si, right::Sb, reason::batch_axis_meets_outer_axis<B_axis, I_axis, X_mesh>>);
static_assert(says<left::Si, right::Sj, reason::outer_axis_meets_contracted_axis<I_axis, J_axis, X_mesh>>);
static_assert(says<left::Si, right::Sk, reason::outer_axes_meet<I_axis, K_axis, X_mesh>>);
static_assert(says<left::Si, right::P, reason::partial_meets_outer_axis<X_mesh, I_axis>>);

static_assert(says<left::Sj, right::R, reason::result_would_be_partial<X_mesh, J_axis>>);
static_assert(says<left::Sj, right::Sb, reason::batch_axis_meets_contracted_axis<B_axis, J_axis, X_mesh>>);
static_assert(says<left::Sj, right::Sj, reason::result_would_be_partial<X_mesh, J_axis>>);
static_assert(says<left::Sj, right::Sk, reason::outer_axis_meets_contracted_axis<K_axis, J_axis, X_mesh>>);
static_assert(says<left::Sj, right::P, reason::partial_meets_contracted_axis<X_mesh, J_axis>>);

static_assert(says<left::P, right::R, reason::result_would_be_partial<X_mesh>>);
static_assert(says<left::P, right::Sb, reason::partial_meets_batch_axis<X_mesh, B_axis>>);
static_assert(says<left::P, right::Sj, reason::partial_meets_contracted_axis<X_mesh, J_axis>>);
static_assert(says<left::P, right::Sk, reason::partial_meets_outer_axis<X_mesh, K_axis>>);
static_assert(says<left::P, right::P, reason::partial_meets_partial<X_mesh>>);

// ---- several mesh axes: order matters, a common major end is free ---------------------------------------------------

template <class Left, class Right>
using verdict = os::contract_verdict<os::type_list<J_axis>, Left, Right>;

using B_XY = os::over<B_axis, X_mesh, Y_mesh>;
using B_YX = os::over<B_axis, Y_mesh, X_mesh>;
static_assert(os::can_contract<os::dims<J>, os::sharding_of<B / X / Y, I, J>, os::sharding_of<B / X, J, K>>);
static_assert(os::can_contract<os::dims<J>, os::sharding_of<B / X, I, J>, os::sharding_of<B / X / Y, J, K>>);
static_assert(std::is_same_v<verdict<os::sharding_of<B / X / Y, I, J>, os::sharding_of<B / Y / X, J, K>>,
                             reason::batch_axis_split_differently<B_axis, B_XY, B_YX>>);
static_assert(std::is_same_v<verdict<os::sharding_of<B / X / Y, I, J>, os::sharding_of<B / Y, J, K>>,
                             reason::batch_axis_split_differently<B_axis, B_XY, Y_mesh>>);
static_assert(std::is_same_v<verdict<os::sharding_of<I, J / X>, os::sharding_of<J / Y, K>>,
                             reason::contracted_axis_split_differently<J_axis, X_mesh, Y_mesh>>);
static_assert(std::is_same_v<verdict<os::sharding_of<I, J / Y>, os::sharding_of<J / X, K>>,
                             reason::contracted_axis_split_differently<J_axis, Y_mesh, X_mesh>>);

// ---- what is wrong with the question itself -------------------------------------------------------------------------

using A = os::sharding_of<I / X, J>;
using C = os::sharding_of<J, K>;
static_assert(os::can_contract<os::dims<J>, A, C> && os::can_contract<os::dims<>, A, C>);
static_assert(!os::can_contract<os::dims<L>, A, C>);
static_assert(std::is_same_v<os::contract_verdict<os::type_list<J_axis, L_axis>, A, C>,
                             reason::contracted_axis_in_no_operand<L_axis>>);
static_assert(std::is_same_v<os::contract_verdict<os::type_list<I_axis>, A, C>,
                             reason::contracted_axis_in_one_operand<I_axis, A>>);
static_assert(std::is_same_v<os::contract_verdict<os::type_list<J_axis, K_axis>, A, C>,
                             reason::contracted_axis_in_one_operand<K_axis, C>>);
static_assert(!os::can_contract<os::dims<J>, os::sharding_of<I / X, J / X>, C>);
static_assert(!os::can_contract<os::dims<J>, A, os::sharding_of<J, K, K>>);

static_assert(os::can_einsum<os::dims<I / X, K>, A, C> && os::can_einsum<os::dims<J / X, I>, A>);
static_assert(!os::can_einsum<os::dims<>, A, C> && os::can_einsum<os::dims<>, A, C, decltype(os::sum_over(I, K))>);
static_assert(os::can_einsum<os::dims<K, I, J>, A, C>);  // nothing is summed
static_assert(os::can_einsum<os::dims<I, K, os::partial(X)>, A, C>);
static_assert(!os::can_einsum<os::dims<I / X, L>, A, C>);
static_assert(!os::can_einsum<os::dims<I / X, K / X>, A, C>);
static_assert(!os::can_einsum<os::dims<I, I>, A, C>);
static_assert(!os::can_einsum<os::dims<I, X>, A, C>);
static_assert(!os::can_einsum<os::dims<I, K>, os::sharding_of<I / X, J / X>, C>);
static_assert(os::can_einsum<os::dims<I, L>, A, C, os::sharding_of<K, L>>);  // any number of operands
static_assert(!os::can_einsum<os::dims<I>, A, A, A, A, A, A, A, A, A>);      // up to eight
static_assert(!os::can_einsum<os::dims<I>>);

// A type that has a sharding answers like its sharding.
struct tensor_like {
  using sharding_type = A;
  using value_type = double;
};
static_assert(os::can_contract<os::dims<J>, tensor_like, C> && os::can_einsum<os::dims<I, K>, tensor_like, C>);
static_assert(!os::can_contract<os::dims<J>, tensor_like, os::sharding_of<J, K / X>>);

// ---- policies -------------------------------------------------------------------------------------------------------

template <auto Policy, class Out, class... Operands>
constexpr bool admits =
    std::is_same_v<os::einsum_verdict<Out, std::remove_cv_t<decltype(Policy)>, Operands...>, reason::ok>;
using Sj = os::sharding_of<I, J / X>;
using jS = os::sharding_of<J / X, K>;
using RR = os::sharding_of<I, K>;
static_assert(admits<os::cheapest, RR, Sj, jS> && admits<os::reduce_result, RR, Sj, jS>);
static_assert(!admits<os::no_communication, RR, Sj, jS> &&
              admits<os::no_communication, os::sharding_of<I, K, os::partial(X)>, Sj, jS>);
static_assert(admits<os::gather_left, RR, Sj, C> && !admits<os::gather_right, RR, Sj, C>);
