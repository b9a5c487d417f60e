// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Rules stand for shardings written by hand, wherever dimensions are written. Compiling is passing.

#include <type_traits>

#include <ostraka/plan.hpp>

namespace os = ostraka;
using std::is_same_v;

OSTRAKA_AXIS(batch);
OSTRAKA_AXIS(seq);
OSTRAKA_AXIS(embed);
OSTRAKA_AXIS(hidden);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);

constexpr os::rules<batch / X, hidden / Y / Z> R;

// ---- one dimension --------------------------------------------------------------------------------------------------

static_assert(is_same_v<decltype(R(batch)), decltype(batch / X)>);
static_assert(is_same_v<decltype(R(hidden)), decltype(hidden / Y / Z)>);
static_assert(is_same_v<decltype(R(seq)), seq_axis>);               // no rule: not divided
static_assert(is_same_v<decltype(R(seq) / Y), decltype(seq / Y)>);  // a dimension like any other
static_assert(is_same_v<decltype(R(batch) / Y), decltype(batch / X / Y)>);

// ---- a whole sharding -----------------------------------------------------------------------------------------------

using by_hand = os::sharding_of<batch / X, seq, hidden / Y / Z>;
static_assert(is_same_v<os::sharding_of<R(batch, seq, hidden)>, by_hand>);
static_assert(is_same_v<os::sharding_of<R(batch), seq, R(hidden)>, by_hand>);
static_assert(is_same_v<os::sharding_of<R(batch), R(seq, hidden)>, by_hand>);
static_assert(is_same_v<os::sharding_of<R()>, os::sharding<>>);
static_assert(
    is_same_v<os::sharding_of<R(hidden, seq, batch)>,
              os::sharding_of<hidden / Y / Z, seq, batch / X>>);  // in the order of the axes, not of the rules

// Dimensions that are written out win; partials stand inside or behind.
static_assert(is_same_v<os::sharding_of<R(seq / X, hidden)>, os::sharding_of<seq / X, hidden / Y / Z>>);
static_assert(is_same_v<os::sharding_of<R(batch / Y, seq)>, os::sharding_of<batch / Y, seq>>);
static_assert(
    is_same_v<os::sharding_of<R(seq, hidden), os::partial(X)>, os::sharding_of<seq, hidden / Y / Z, os::partial(X)>>);
static_assert(
    is_same_v<os::sharding_of<R(seq, hidden, os::partial(X))>, os::sharding_of<seq, hidden / Y / Z, os::partial(X)>>);
static_assert(is_same_v<os::sharding_of<os::partial(Y), R(batch, os::partial(Z)), seq>,
                        os::sharding_of<batch / X, seq, os::partial(Y, Z)>>);

// ---- the rules as a parameter ---------------------------------------------------------------------------------------

template <auto Rules>
using value_of_rules = os::sharding_of<Rules(batch, seq), Rules(hidden)>;
static_assert(is_same_v<value_of_rules<R>, by_hand>);
static_assert(is_same_v<value_of_rules<os::rules<>{}>, os::sharding_of<batch, seq, hidden>>);

template <class Rules>
using type_of_rules = os::sharding_of<os::under<Rules>(batch, seq, hidden)>;
static_assert(is_same_v<type_of_rules<os::rules<batch / X, hidden / Y / Z>>, by_hand>);
static_assert(is_same_v<type_of_rules<std::remove_const_t<decltype(R)>>, by_hand>);

// ---- plans and queries ----------------------------------------------------------------------------------------------

using x = os::sharding_of<R(batch, seq, embed)>;
using weights = os::sharding_of<R(embed, hidden)>;
static_assert(os::can_einsum<os::dims<R(batch, seq, hidden)>, x, weights>);
static_assert(os::plan_of<os::dims<R(batch, seq, hidden)>, x, weights>.communications() == 0);
using sum = decltype(os::sum_over(batch));
static_assert(os::plan_of<os::dims<R(seq, hidden)>, x, weights, sum>.count(os::step::all_reduce) == 1);
static_assert(os::plan_of<os::dims<R(seq, hidden), os::partial(X)>, x, weights, sum>.communications() == 0);
static_assert(os::can_contract<os::dims<R(embed)>, x, weights>);

// ---- what is wrong is a question ------------------------------------------------------------------------------------

template <auto... Rules>
using verdict = typename os::rules<Rules...>::verdict;
static_assert(is_same_v<verdict<>, os::reason::ok> &&
              is_same_v<verdict<batch / X, embed / X>, os::reason::ok>);  // different tensors may share X
static_assert(is_same_v<verdict<batch / X, hidden / Y, batch / Y>, os::reason::rule_given_twice<batch_axis>>);
static_assert(is_same_v<verdict<batch / X, seq>, os::reason::rule_divides_nothing<seq_axis>>);
static_assert(is_same_v<verdict<os::partial(X)>, os::reason::rule_divides_nothing<decltype(os::partial(X))>>);
static_assert(is_same_v<verdict<batch / X, 7>, os::reason::rule_divides_nothing<int>>);
static_assert(
    is_same_v<verdict<batch / X, hidden / Y / Y>, os::reason::mesh_axis_used_twice<Y_mesh, hidden_axis, hidden_axis>>);

constexpr os::rules<batch / X, hidden / Y, embed / Y> S;
static_assert(os::is_valid_sharding<os::sharding_of<S(batch, hidden)>> &&
              os::is_valid_sharding<os::sharding_of<S(batch, embed)>>);
static_assert(is_same_v<os::sharding_traits<os::sharding_of<S(embed, hidden)>>::verdict,
                        os::reason::mesh_axis_used_twice<Y_mesh, embed_axis, hidden_axis>>);
static_assert(
    is_same_v<os::sharding_traits<os::sharding_of<S(batch, X)>>::verdict, os::reason::not_a_dimension<X_mesh>>);
