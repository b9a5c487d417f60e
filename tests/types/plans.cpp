// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Plans as constants: the four textbook products and the feed-forward layer of large transformers, with bytes worked
/// out by hand. Elements have four bytes. Compiling is passing.

#include <ostraka/plan.hpp>

namespace os = ostraka;
using os::step;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y, 4);

// Steps that communicate, and how many there are of the one kind that is expected.
template <class Plan>
constexpr bool only(Plan const& plan, step kind, int count = 1) {
  return plan.count(kind) == count && plan.communications() == count;
}

constexpr os::sizes sizes(I = 8, J = 16, K = 4, X = 2);

// ---- case 1: no contracted axis is divided. A[I_X, J] · B[J, K_Y] → C[I_X, K_Y] -------------------------------------

constexpr auto case_1 = os::plan_of<os::dims<I / X, K / Y>, os::sharding_of<I / X, J>, os::sharding_of<J, K / Y>>;
static_assert(case_1.communications() == 0 && case_1.count(step::contract) == 1);
static_assert(case_1.bytes(sizes) == 0 && case_1.total_bytes(sizes) == 0);

// ---- case 2: one side's contracted axis is divided. A[I, J_X] · B[J, K] → C[I, K] -----------------------------------

// A divides the work over X. Rows instead of columns of A do, too, and the result is gathered: an all-to-all more than
// a gather of A moves, and a part of its work. A device receives 4 × 8 of A and 4 × 4 of C.
constexpr auto case_2 = os::plan_of<os::dims<I, K>, os::sharding_of<I, J / X>, os::sharding_of<J, K>>;
static_assert(case_2.count(step::all_to_all) == 1 && case_2.count(step::all_gather) == 1 &&
              case_2.communications() == 2);
static_assert(case_2.bytes(sizes) == (4 * 8 + 4 * 4) * 4);
static_assert(case_2.total_bytes(sizes) == 2 * (4 * 8 + 4 * 4) * 4);
static_assert(case_2.flops(sizes) == 2 * 8 * 16 * 4 / 2);

// Where the contracted axis is short, every device repeats little work, and gathering A moves less than anything else
// would.
OSTRAKA_AXIS(few, 64);
OSTRAKA_AXIS(many, 65536);
OSTRAKA_AXIS(six, 6);
constexpr auto case_2_short = os::plan_of<os::dims<many, K>, os::sharding_of<many, few / X>, os::sharding_of<few, K>>;
static_assert(only(case_2_short, step::all_gather));
static_assert(case_2_short.bytes(X = 4, K = 64) == std::int64_t{3} * 65536 * 16 * 4);

// Where it is long, slicing the replicated side and reducing the small result is cheapest.
constexpr auto case_2_long =
    os::plan_of<os::dims<few, six>, os::sharding_of<few, many / X>, os::sharding_of<many, six>>;
static_assert(only(case_2_long, step::all_reduce) && case_2_long.count(step::slice) == 1);
static_assert(case_2_long.bytes(X = 4) == 2 * 3 * 64 * 6 * 4 / 4);  // 2(n-1)V in total, on n devices

// The mirror image: B's contracted axis is divided.
constexpr auto case_2_right = os::plan_of<os::dims<I, K>, os::sharding_of<I, J>, os::sharding_of<J / X, K>>;
static_assert(case_2_right.communications() == 2 && case_2_right.bytes(sizes) == (8 * 2 + 8 * 2) * 4);

// Nothing is moved to divide what the operands do not divide: all are replicated, and all devices do the same.
static_assert(os::plan_of<os::dims<I>, os::sharding_of<I, J>, os::sharding_of<J>>.communications() == 0);
static_assert(
    os::plan_of<os::dims<I, K>, os::sharding_of<I, J>, os::sharding_of<J, K>,
        decltype(os::idle(X, Y))>.communications() ==
    0);

// ---- case 3: both contracted axes are divided over one mesh axis. A[I, J_X] · B[J_X, K] → C[I, K] {U_X} -------------

using left = os::sharding_of<I, J / X>;
using right = os::sharding_of<J / X, K>;
constexpr auto case_3_partial = os::plan_of<os::dims<I, K, os::partial(X)>, left, right>;
constexpr auto case_3_reduce = os::plan_of<os::dims<I, K>, left, right>;
constexpr auto case_3_scatter = os::plan_of<os::dims<I, K / X>, left, right>;
static_assert(case_3_partial.communications() == 0 && case_3_partial.bytes(sizes) == 0);
static_assert(only(case_3_reduce, step::all_reduce) && case_3_reduce.bytes(sizes) == 2 * 8 * 4 * 4 / 2);
static_assert(only(case_3_scatter, step::reduce_scatter) && case_3_scatter.bytes(sizes) == 8 * 4 * 4 / 2);

// ---- case 4: both outer axes are divided over one mesh axis. A[I_X, J] · B[J, K_X] → one of them is gathered --------

using outer_left = os::sharding_of<I / X, J>;
using outer_right = os::sharding_of<J, K / X>;
constexpr auto case_4_right = os::plan_of<os::dims<I / X, K>, outer_left, outer_right>;
constexpr auto case_4_left = os::plan_of<os::dims<I, K / X>, outer_left, outer_right>;
static_assert(only(case_4_right, step::all_gather) && case_4_right.bytes(sizes) == 16 * 2 * 4);  // B
static_assert(only(case_4_left, step::all_gather) && case_4_left.bytes(sizes) == 4 * 16 * 4);    // A

// A policy decides, whatever is cheaper.
constexpr auto gather_a = os::plan_of<os::dims<I, K>, outer_left, os::sharding_of<J, K>, decltype(os::gather_left)>;
static_assert(only(gather_a, step::all_gather));

// ---- the feed-forward layer in two dimensions -----------------------------------------------------------------------

OSTRAKA_AXIS(B);
OSTRAKA_AXIS(S);
OSTRAKA_AXIS(D, 5120);
OSTRAKA_AXIS(F, 20480);

using h = os::sharding_of<B / X, S, D / Y>;
using w_in = os::sharding_of<D / X, F / Y>;
using activations = os::sharding_of<B / X, S, F / Y>;
using w_out = os::sharding_of<F / Y, D / X>;

// In: h is gathered over Y and W_in over X; nothing is reduced.
constexpr auto in = os::plan_of<os::dims<B / X, S, F / Y>, h, w_in>;
static_assert(only(in, step::all_gather, 2));

// A device holds 4 × 512 × 1280 of h and 2560 × 5120 of W_in; it receives three more of the one and one more of the
// other.
static_assert(in.bytes(B = 8, S = 512, X = 2) == (3 * 4 * 512 * 1280 + 1 * 2560 * 5120) * 4);
static_assert(in.bytes(os::sizes(B = 8, S = 512), X = 2) == 83'886'080);
static_assert(in.total_bytes(B = 8, S = 512, X = 2) == 8 * std::int64_t{83'886'080});

// Out: W_out is gathered over X, the product reduced and scattered over Y: the sharding of h again.
constexpr auto second = os::plan_of<os::dims<B / X, S, D / Y>, activations, w_out>;
static_assert(second.count(step::all_gather) == 1 && second.count(step::reduce_scatter) == 1 &&
              second.communications() == 2);
static_assert(second.bytes(B = 8, S = 512, X = 2) == (1 * 5120 * 2560 + 4 * 512 * 5120 / 4 * 3) * 4);

// One device along X: only Y communicates. No tokens: no bytes but the weights'.
static_assert(in.bytes(B = 8, S = 512, X = 1) == 3 * 8 * 512 * 1280 * 4);
static_assert(in.bytes(B = 0, S = 512, X = 2) == 2560 * 5120 * 4);

// ---- one operand: reductions and reshards are plans, too ------------------------------------------------------------

constexpr auto gather = os::plan_of<os::dims<I, J>, os::sharding_of<I / X, J>>;
static_assert(only(gather, step::all_gather) && gather.bytes(sizes) == 4 * 16 * 4);
constexpr auto sum = os::plan_of<os::dims<I>, os::sharding_of<I, J / X>>;
static_assert(only(sum, step::all_reduce) && sum.bytes(sizes) == 2 * 8 * 4 / 2);
constexpr auto slice = os::plan_of<os::dims<I / X>, os::sharding_of<I>>;
static_assert(slice.communications() == 0);

// Elements of a type that declares a size have this size.
struct doubles {
  using sharding_type = os::sharding_of<I / X, J>;
  using value_type = double;
};
static_assert(os::plan_of<os::dims<I, J>, doubles>.bytes(sizes) == 4 * 16 * 8);

// ---- what is kept in a plain variable -------------------------------------------------------------------------------

// A constexpr variable cannot be made from references before C++23; the numbers of a plan are constants all the same.
constexpr std::int64_t of_references(os::sharding_of<I, J / X> const& a, os::sharding_of<J / X, K> const& b) {
  auto const plan = os::plan<I / X, K>(a, b);
  static_assert(plan.count(step::reduce_scatter) == plan.communications() && plan.communications() == 1);
  static_assert(plan.bytes(sizes) == 8 * 4 / 2 * 4 && plan.total_bytes(sizes) == 2 * plan.bytes(sizes) &&
                plan.flops(sizes) == 2 * 8 * 8 * 4);
  static_assert(plan.bytes_of(step::reduce_scatter, sizes) == plan.bytes(sizes) && plan.workspace(sizes) > 0 &&
                plan.within(1 << 20, sizes).fits);
  return plan.steps.size() + plan.bytes(sizes);
}
static_assert(of_references({}, {}) == 2 + 64);
