// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The layers of the literature, planned without any static extent, are the literature's plans, on small and on large
/// meshes. Compiling is passing.

#include <ostraka/plan.hpp>

namespace os = ostraka;
using os::dims;
using os::step;

namespace {

OSTRAKA_AXIS(B);  // batch
OSTRAKA_AXIS(S);  // sequence
OSTRAKA_AXIS(T);  // sequence, of keys
OSTRAKA_AXIS(D);  // model
OSTRAKA_AXIS(F);  // hidden
OSTRAKA_AXIS(H);  // heads
OSTRAKA_AXIS(C);  // within a head
OSTRAKA_AXIS(V);  // vocabulary

template <auto... Dims>
using s = os::sharding_of<Dims...>;

// Checks for these collectives and no others: all-gathers of the left and of the right operand, and the result's move.
template <class Plan>
constexpr bool is(Plan const& plan, int gathers_left, int gathers_right, int reduce_scatters = 0, int all_reduces = 0) {
  int gathers[2]{};
  for (auto const& step_of_plan : plan.steps)
    if (step_of_plan.kind == step::all_gather && step_of_plan.operand >= 0 && step_of_plan.operand < 2)
      ++gathers[step_of_plan.operand];
  return gathers[0] == gathers_left && gathers[1] == gathers_right &&
         plan.count(step::reduce_scatter) == reduce_scatters && plan.count(step::all_reduce) == all_reduces &&
         plan.communications() == gathers_left + gathers_right + reduce_scatters + all_reduces;
}

// X, Y: mesh axes of any size, or of these.
template <auto X, auto Y>
constexpr bool layers_are_those_of_the_literature() {
  // Data parallel: the gradient is all-reduced, nothing else moves.
  static_assert(is(os::plan_of<dims<B / X, S, F>, s<B / X, S, D>, s<D, F>>, 0, 0));
  static_assert(is(os::plan_of<dims<D, F>, s<B / X, S, D>, s<B / X, S, F>>, 0, 0, 0, 1));
  static_assert(is(os::plan_of<dims<B / X, S, D>, s<B / X, S, F>, s<D, F>>, 0, 0));

  // Fully sharded: weights are gathered, gradients reduce-scattered.
  static_assert(is(os::plan_of<dims<B / X, S, F>, s<B / X, S, D>, s<D / X, F>>, 0, 1));
  static_assert(is(os::plan_of<dims<B / X, S, F>, s<B / X, S, D>, s<D, F / X>>, 0, 1));
  static_assert(is(os::plan_of<dims<B / X, F>, s<B / X, D>, s<D / X, F>>, 0, 1));
  static_assert(is(os::plan_of<dims<D / X, F>, s<B / X, S, D>, s<B / X, S, F>>, 0, 0, 1));

  // Tensor parallel (Megatron): nothing on the way in, one all-reduce on the way out; tokens divided between layers:
  // gather and reduce-scatter.
  static_assert(is(os::plan_of<dims<B / X, S, F / Y>, s<B / X, S, D>, s<D, F / Y>>, 0, 0));
  static_assert(is(os::plan_of<dims<B / X, S, D>, s<B / X, S, F / Y>, s<F / Y, D>>, 0, 0, 0, 1));
  static_assert(is(os::plan_of<dims<B, S, D>, s<B, S, F / Y>, s<F / Y, D>>, 0, 0, 0, 1));
  static_assert(is(os::plan_of<dims<B / X, S, F / Y>, s<B / X, S / Y, D>, s<D, F / Y>>, 1, 0));
  static_assert(is(os::plan_of<dims<B / X, S / Y, D>, s<B / X, S, F / Y>, s<F / Y, D>>, 0, 0, 1));

  // Both: weights gathered over X.
  static_assert(is(os::plan_of<dims<B / X, S, F / Y>, s<B / X, S, D>, s<D / X, F / Y>>, 0, 1));
  static_assert(is(os::plan_of<dims<B / X, S, D>, s<B / X, S, F / Y>, s<F / Y, D / X>>, 0, 1, 0, 1));

  // Two-dimensional: activations divided over Y, too. Gathers of both; the product reduce-scattered; and the weights'
  // gradient.
  static_assert(is(os::plan_of<dims<B / X, S, F / Y>, s<B / X, S, D / Y>, s<D / X, F / Y>>, 1, 1));
  static_assert(is(os::plan_of<dims<B / X, F / Y>, s<B / X, D / Y>, s<D / X, F / Y>>, 1, 1));
  static_assert(is(os::plan_of<dims<B / X, S, D / Y>, s<B / X, S, F / Y>, s<F / Y, D / X>>, 0, 1, 1));
  static_assert(is(os::plan_of<dims<D / X, F / Y>, s<B / X, S, D / Y>, s<B / X, S, F / Y>>, 1, 0, 1));

  // Attention over heads: projections as above, scores and values of each head where the head is.
  static_assert(is(os::plan_of<dims<B / X, S, H / Y, C>, s<B / X, S, D>, s<D, H / Y, C>>, 0, 0));
  static_assert(is(os::plan_of<dims<B / X, S, H / Y, C>, s<B / X, S, D / Y>, s<D / X, H / Y, C>>, 1, 1));
  static_assert(is(os::plan_of<dims<B / X, H / Y, S, T>, s<B / X, S, H / Y, C>, s<B / X, T, H / Y, C>>, 0, 0));
  static_assert(is(os::plan_of<dims<B / X, S, H / Y, C>, s<B / X, H / Y, S, T>, s<B / X, T, H / Y, C>>, 0, 0));
  static_assert(is(os::plan_of<dims<B / X, S, D>, s<B / X, S, H / Y, C>, s<H / Y, C, D>>, 0, 0, 0, 1));
  static_assert(is(os::plan_of<dims<B / X, S, D / Y>, s<B / X, S, H / Y, C>, s<H / Y, C, D / X>>, 0, 1, 1));

  // Logits of a vocabulary that is divided.
  static_assert(is(os::plan_of<dims<B / X, S, V / Y>, s<B / X, S, D>, s<V / Y, D>>, 0, 0));
  static_assert(is(os::plan_of<dims<B / X, S, V / Y>, s<B / X, S, D / Y>, s<V / Y, D>>, 1, 0));
  return true;
}

OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(X2, 2);
OSTRAKA_MESH_AXIS(Y4, 4);
OSTRAKA_MESH_AXIS(X16, 16);
OSTRAKA_MESH_AXIS(Y16, os::about(16));
OSTRAKA_MESH_AXIS(X64, os::about(64));
OSTRAKA_MESH_AXIS(Y8, 8);
static_assert(layers_are_those_of_the_literature<X, Y>());
static_assert(layers_are_those_of_the_literature<X2, Y4>());
static_assert(layers_are_those_of_the_literature<X16, Y16>());
static_assert(layers_are_those_of_the_literature<X64, Y8>());

// With the sizes of a layer: B=8, S=128, D=4096, F=16384. The result is reduced, 12.6 MB a device; gathering both
// operands and multiplying all of it everywhere would move 226 MB.
namespace sized {
OSTRAKA_AXIS(tokens, 128);
OSTRAKA_AXIS(rows, 8);
OSTRAKA_AXIS(model, 4096);
OSTRAKA_AXIS(hidden, 16384);
constexpr auto down =
    os::plan_of<dims<rows / X2, tokens, model>, s<rows / X2, tokens, hidden / Y4>, s<hidden / Y4, model>>;
static_assert(is(down, 0, 0, 0, 1) && down.bytes() == 2 * 3 * (4 * 128 * 4096) / 4 * 4);
static_assert(os::plan_of<dims<B / X, S, D>, s<B / X, S, F / Y>, s<F / Y, D>>.bytes(B = 8, S = 128, D = 4096, F = 16384,
                                                                                    X = 2, Y = 4) == down.bytes());
}  // namespace sized

// Unknown extents share 4096 among the axes that occur in the same tensors, or as much as the longest known extent.
namespace nominal {
OSTRAKA_AXIS(model, 5120);
OSTRAKA_AXIS(hidden, 20480);
OSTRAKA_AXIS(words, os::about(512));
OSTRAKA_AXIS(none, 0);
template <class Left, class Right, class Out>
constexpr auto sizes = os::plan_of<Out, Left, Right>.sizes;
constexpr auto unknown = sizes<s<B, S, F>, s<F, D>, dims<B, S, D>>;
static_assert(unknown.label[0] == 64 && unknown.label[1] == 64 && unknown.label[2] == 4096 && unknown.label[3] == 4096);
constexpr auto weights_known = sizes<s<B, S, hidden>, s<hidden, model>, dims<B, S, model>>;
static_assert(weights_known.label[0] == 128 && weights_known.label[1] == 128 && weights_known.label[2] == 20480);
constexpr auto words_known = sizes<s<B, words, F>, s<F, D>, dims<B, words, D>>;
static_assert(words_known.label[0] == 8 && words_known.label[1] == 512);
constexpr auto three = sizes<s<B, S, H, F>, s<F, D>, dims<B, S, H, D>>;
static_assert(three.label[0] == 16 && three.label[1] == 16 && three.label[2] == 16);
constexpr auto long_words = sizes<s<B, hidden, F>, s<F, D>, dims<B, hidden, D>>;
static_assert(long_words.label[0] == 4 && long_words.label[2] == 16384);  // of 20480
constexpr auto empty = sizes<s<B, none, F>, s<F, D>, dims<B, none, D>>;
static_assert(empty.label[0] == 4096 && empty.label[1] == 0);
constexpr auto moved = os::plan_of<dims<B, S>, s<B / X, S>>.sizes;
static_assert(moved.label[0] * moved.label[1] == 4096 && moved.mesh[0] == 4);
}  // namespace nominal

// Plans are made for a hint, which is no promise: any extent is allowed. Keys of short heads are gathered if many
// queries are divided.
namespace hinted {
OSTRAKA_AXIS(head, os::about(128));
constexpr auto scores = os::plan_of<dims<B / X, H, S / Y, T>, s<B / X, S / Y, H, head>, s<B / X, T / Y, H, head>>;
static_assert(is(scores, 0, 1) && scores.sizes.label[3] == 128);
static_assert(head_axis::extent == os::dynamic_extent &&
              scores.bytes(B = 2, S = 4, T = 4, H = 3, head = 64, X = 1, Y = 2) == 2 * 2 * 3 * 64 * 4);
}  // namespace hinted

}  // namespace
