// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/budgets.md, which a test compares with this file, and budgets as parts of policies. Compiling
/// is passing.

#include <type_traits>

#include <ostraka/plan.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(batch);
OSTRAKA_AXIS(model, 512);
OSTRAKA_AXIS(inner, 2048);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);

using activations = os::sharding_of<batch/X, model>;
using weights = os::sharding_of<model, inner/Y>;
using weights_down = os::sharding_of<inner/Y, model>;

// ---- pinned: what a function may move -------------------------------------------------------------------------------

// Up moves nothing; down sums over Y, once, and scatters the sum.
constexpr auto up = os::plan_of<os::dims<batch/X, inner/Y>, activations, weights>;
constexpr auto down = os::plan_of<os::dims<batch/X, model/Y>, os::sharding_of<batch/X, inner/Y>, weights_down>;
static_assert(up.communications() == 0);
static_assert(down.communications() == 1 && down.count(os::step::reduce_scatter) == 1);

// In bytes per device, for sizes that matter, all steps and those of one kind.
static_assert(down.bytes(batch = 4096, X = 8, Y = 4) == 3 * 512 * 512);  // three quarters of 512 rows of 512 floats
static_assert(down.bytes_of(os::step::reduce_scatter, batch = 4096, X = 8, Y = 4) ==
              down.bytes(batch = 4096, X = 8, Y = 4));

// ---- budgets --------------------------------------------------------------------------------------------------------

static_assert(os::is_policy<std::remove_const_t<decltype(os::at_most<1024>)>>);
static_assert(os::has_budget<decltype(os::at_most<1024>)> && !os::has_budget<decltype(os::cheapest)>);

// With another policy inside: the same plan as that policy's.
constexpr auto idle = os::at_most<1024>(os::idle(X));
static_assert(decltype(idle)::budget == 1024 && std::is_same_v<decltype(idle)::unlimited, decltype(os::idle(X))>);
constexpr auto again = os::at_most<512>(idle);  // the outer one counts
static_assert(decltype(again)::budget == 512 && std::is_same_v<decltype(again)::unlimited, decltype(os::idle(X))>);
constexpr auto all_reduced = os::plan_of<os::dims<batch/X, model>, os::sharding_of<batch/X, inner/Y>, weights_down,
                                     decltype(os::at_most<1024>(os::reduce_result))>;
static_assert(all_reduced.count(os::step::all_reduce) == 1);

// If an extent is not static, the budget is checked at run time.
static_assert(
    os::plan_of<os::dims<batch/X, model>, os::sharding_of<batch/X, inner/Y>, weights_down,
        decltype(os::at_most<0>)>.communications() >
    0);
static_assert(
    std::is_same_v<os::einsum_verdict<os::sharding_of<batch/X, model>, std::remove_const_t<decltype(os::at_most<0>)>,
                                      os::sharding_of<batch/X, model/Y>>,
                   os::reason::ok>);

// If all are, it is checked at compile time, to the byte.
OSTRAKA_AXIS(row, 64);
OSTRAKA_MESH_AXIS(Z, 4);
template <auto Policy>
using verdict = os::einsum_verdict<os::sharding_of<row>, std::remove_const_t<decltype(Policy)>, os::sharding_of<row/Z>>;
static_assert(std::is_same_v<verdict<os::at_most<192>>, os::reason::ok>);
static_assert(std::is_same_v<verdict<os::at_most<191>>, os::reason::plan_exceeds_budget<192, 191>>);
static_assert(std::is_same_v<verdict<os::cheapest>, os::reason::ok>);

// ---- hints, and the plan for given sizes ----------------------------------------------------------------------------

OSTRAKA_AXIS(heads);
OSTRAKA_AXIS(queries);
OSTRAKA_AXIS(keys);
OSTRAKA_AXIS(width, os::about(128));

// Keys of heads some 128 wide are gathered where many queries are divided.
constexpr auto scores =
    os::plan_of<os::dims<batch/X, heads, queries/Y, keys>, os::sharding_of<batch/X, queries/Y, heads, width>,
                os::sharding_of<batch/X, keys/Y, heads, width>>;
static_assert(scores.count(os::step::all_gather) == 1 && scores.communications() == 1);

static_assert(scores.for_sizes(batch = 8, heads = 4, queries = 16, keys = 16, width = 4096, X = 2, Y = 4)
                  .count(os::step::all_gather) == 0);

// ---- time -----------------------------------------------------------------------------------------------------------

// Gathering the activations moves least, and every device along Y then does the same work. Exchanging them, so that
// each device has a part of the batch, and gathering the result moves four times as much and saves 315 operations for
// every byte more.
using split = os::sharding_of<batch, model/Y>;
using whole_weights = os::sharding_of<model, inner>;
constexpr auto by_default = os::plan_of<os::dims<batch, inner>, split, whole_weights>;
constexpr auto slow_links = os::plan_of<os::dims<batch, inner>, split, whole_weights, decltype(os::least_time<320>)>;
constexpr auto fast_links = os::plan_of<os::dims<batch, inner>, split, whole_weights, decltype(os::least_time<310>)>;
static_assert(by_default.communications() == 1 && slow_links.communications() == 1);
static_assert(fast_links.communications() == 2 &&
              fast_links.flops(batch = 4096, Y = 4) == by_default.flops(batch = 4096, Y = 4) / 4);

static_assert(os::is_policy<std::remove_const_t<decltype(os::least_time<64>)>>);
static_assert(decltype(os::at_most<1024>(os::least_time<64>))::flops_per_byte == 64);
static_assert(decltype(os::at_most<1024>(os::least_time<64>))::unlimited::flops_per_byte == 64);
static_assert(std::is_same_v<decltype(os::least_time<64>(os::idle(X)))::idle_axes, decltype(os::idle(X))::idle_axes>);

// ---- workspace ------------------------------------------------------------------------------------------------------

// W is gathered along X: 512 rows of 512 floats, multiplied as they were received. In passes over the columns there is
// less of it at a time.
constexpr auto gathered = os::plan_of<os::dims<batch/X, inner/Y>, activations, os::sharding_of<model/X, inner/Y>>;
static_assert(gathered.count(os::step::all_gather) == 1);
static_assert(gathered.within(1 << 30, batch = 4096, X = 8, Y = 4).count == 1);
constexpr auto passes = gathered.within(1 << 19, batch = 4096, X = 8, Y = 4);
static_assert(passes.fits && passes.label == "inner" && passes.count > 1 && passes.workspace <= (1 << 19));

// Policies compose in any order, and plans are those without a limit.
constexpr auto both = os::at_most<1024>(os::within(4096, os::idle(X)));
static_assert(os::has_budget<decltype(both)> && os::limits_workspace<decltype(both)> &&
              os::workspace_limit_of(both) == 4096);
static_assert(std::is_same_v<decltype(both)::unlimited, decltype(os::idle(X))>);
constexpr auto other_way = os::within<4096>(os::at_most<1024>);
static_assert(decltype(other_way)::budget == 1024 && os::workspace_limit_of(other_way) == 4096);
static_assert(!os::limits_workspace<decltype(os::at_most<1024>)>);

// If all sizes are static, a limit is checked at compile time, to the byte.
OSTRAKA_AXIS(column, 16);
template <std::int64_t Bytes>
using verdict_within =
    os::einsum_verdict<os::sharding_of<row, column>, decltype(os::within<Bytes>()), os::sharding_of<row, column/Z>>;
constexpr std::int64_t least = os::plan_of<os::dims<row, column>, os::sharding_of<row, column/Z>>.within(0).workspace;
static_assert(std::is_same_v<verdict_within<least>, os::reason::ok>);
static_assert(std::is_same_v<verdict_within<least - 1>, os::reason::plan_exceeds_workspace<least, least - 1>>);
