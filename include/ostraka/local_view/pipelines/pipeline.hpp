// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::pipeline<os::gpipe, L/P, N>(os::microbatches = 8, layer, x, W, b)`: x[N, D] through the layers L of
/// the stacked parameters W[L_P, …], b[L_P, …]. The devices along P are stages, each with its block of layers. They
/// work at the same time on different microbatches of N, as the table of the schedule says
/// (plan/pipeline/pipeline_schedule.hpp).
///
///     auto layer = [](auto h, auto w) {                                    // h[N, D], w[L, D, F]: one layer
///       return os::rename<F, D>(os::map(relu, os::einsum<N, F>(h, w)));
///     };
///     auto y = os::pipeline<os::gpipe, L/P, N>(os::microbatches = 8, layer, x, W);

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/local_view/pipelines/pipeline_run.hpp>
#include <ostraka/local_view/pipelines/pipeline_weights.hpp>
#include <ostraka/plan/pipeline/describe_pipeline.hpp>

namespace ostraka {

/// A number of microbatches with its name: the value of `os::microbatches = 8`.
struct microbatch_count {
  int value;
};

/// The type of os::microbatches.
struct microbatches_setting {
  template <std::integral Number>
  constexpr microbatch_count operator=(Number n) const {
    return {static_cast<int>(n)};
  }
};
/// The number of microbatches of a pipeline: `os::microbatches = 8`.
inline constexpr microbatches_setting microbatches{};

namespace detail {

// The axes in the angle brackets: layers L over the stages P, the batch N, and the repeats R or nothing.
template <class... Named>
struct pipeline_axes {  // if no stages are named
  using layers = sharding<Named...>;
  using stages = void;
};
template <class L, class P, class N, class... Rs>
  requires(sizeof...(Rs) < 2)
struct pipeline_axes<over<L, P>, N, Rs...> {
  using layers = L;
  using stages = P;
  using batch = N;
  using repeats = std::conditional_t<sizeof...(Rs) == 0, void, typename type_at<type_list<Rs..., void>, 0>::type>;
};

// `reason::ok` if A has the axis at this place, or not at all.
template <class Axis, int Place, class A>
consteval auto check_cut() {
  constexpr int place = position_in<Axis, axes_in<A>>;
  if constexpr (place < 0 || place == Place)
    return found<reason::ok>{};
  else
    return found<reason::pipeline_cuts_leading_axes<Axis, sharding_in<A>>>{};
}

// Repeats come first among the axes of parameters, then layers.
template <class Axes, class W>
using parameters_verdict = first_fault<
    typename decltype(check_cut<typename Axes::repeats, 0, W>())::type,
    typename decltype(check_cut<typename Axes::layers, (position_in<typename Axes::repeats, axes_in<W>> >= 0 ? 1 : 0),
                                W>())::type>;

// True if `Axis` is divided over the mesh axis in a sharding.
template <class Axis, class M, class Entry>
inline constexpr bool divides_entry = false;
template <class Axis, class M, class... Ms>
inline constexpr bool divides_entry<Axis, M, over<Axis, Ms...>> = is_one_of<M, Ms...>;
template <class Axis, class M, class Sharding>
inline constexpr bool divides = false;
template <class Axis, class M, class... Entries>
inline constexpr bool divides<Axis, M, sharding<Entries...>> = (divides_entry<Axis, M, Entries> || ...);

template <class Axis, class... As>
inline constexpr bool one_has = ((position_in<Axis, axes_in<As>> >= 0) || ...);

// In the body of os::shard_map: true if one of these operands varies along the mesh axis.
template <class M, class... As>
inline constexpr bool one_varies = ((position_in<M, varying_in<As>> >= 0) || ...);

template <pipeline_rule Rule, class Axes, class X, class... Ws>
consteval auto check_named_pipeline() {
  using L = typename Axes::layers;
  using P = typename Axes::stages;
  using N = typename Axes::batch;
  using R = typename Axes::repeats;
  constexpr bool in_body = one_varies<P, Ws...>;
  if constexpr (Rule.order == planner::pipeline_order::one_forward_one_backward)
    return found<reason::pipeline_goes_forward_only<L, P>>{};
  else if constexpr (!one_has<L, Ws...> || !(in_body || (divides<L, P, sharding_in<Ws>> || ...)))
    return found<reason::pipeline_needs_stacked_layers<L, P>>{};
  else if constexpr (!std::is_void_v<R> && !one_has<R, Ws...>)
    return found<reason::axis_missing<R, sharding_in<typename nth<0, Ws...>::type>>>{};
  else if constexpr (!one_has<N, X>)
    return found<reason::axis_missing<N, sharding_in<X>>>{};
  else if constexpr (position_in<P, mesh_axes_in<X>> >= 0 && !divides<N, P, sharding_in<X>>)
    return found<reason::pipeline_divides_the_batch<P, sharding_in<X>>>{};
  else
    return found<first_fault<typename decltype(check_cut<N, 0, X>())::type, parameters_verdict<Axes, Ws>...,
                             enter_verdict<sharding_in<X>, type_list<P>>,
                             enter_verdict<sharding_in<Ws>, type_list<P>>...>>{};
}

// `Leaves` are those of all parameters.
template <pipeline_rule Rule, class Axes, class X, class... Leaves>
consteval auto check_pipeline(type_list<Leaves...>) {
  if constexpr (std::is_void_v<typename Axes::stages>)
    return found<reason::pipeline_needs_stacked_layers<typename Axes::layers, void>>{};
  else
    return check_named_pipeline<Rule, Axes, X, Leaves...>();
}
template <pipeline_rule Rule, class Axes, class X, class... Ws>
using pipeline_verdict = typename decltype(check_pipeline<Rule, Axes, X>(leaves_of_operands<Ws...>{}))::type;

template <class M, class... Leaves>
consteval bool one_varies_among(type_list<Leaves...>) {
  return one_varies<M, Leaves...>;
}
/// In the body of os::shard_map: true if one of their leaves varies along the mesh axis.
template <class M, class... Ws>
inline constexpr bool varies_in_any_of = one_varies_among<M>(leaves_of_operands<Ws...>{});

/// This device's stage: the table, and the stage's layers.
struct pipeline_stage {
  engine::execution_context w;  // of only the mesh axis of stages
  planner::pipeline_schedule table;
  std::int64_t layers;
  bool per_layer;

  [[nodiscard]] std::int64_t first_layer(int lane) const { return per_layer ? lane : 0; }
  [[nodiscard]] std::int64_t end_of_layers(int lane) const { return per_layer ? lane + 1 : layers; }
};

template <class Axes, class X, class... Ws>
pipeline_stage stage_here(pipeline_rule rule, int microbatches, X const& x, Ws const&... ws) {
  using P = typename Axes::stages;
  engine::execution_context const w =
      engine::make_context(*common_mesh("pipeline", x), names_of<type_list<P>>.data(), 1, "pipeline");
  own_extent const own_layers = extent_among<typename Axes::layers>(ws...);
  planner::pipeline_schedule table = rule(static_cast<int>(w.sizes.mesh[0]), microbatches);
  if (rule.per_layer) {
    if (!own_layers.origin().is_alike()) throw_stages_differ(Axes::layers::name);
    table.lanes = static_cast<int>(own_layers);
  }
  if constexpr (!std::is_void_v<typename Axes::repeats>)
    table.repeats = static_cast<int>(extent_among<typename Axes::repeats>(ws...));
  return {w, table, own_layers, rule.per_layer};
}

// The type of the blocks that go from stage to stage.
template <class Axes, class X, class Leaves>
struct find_pipeline_block;
template <class Axes, class X, class... Leaves>
struct find_pipeline_block<Axes, X, type_list<Leaves...>> {
  using type = basic_tensor<typename X::value_type,
                            varying_as<sharding_in<X>, sharding<varying<typename Axes::stages>>, X, Leaves...>,
                            typename X::space>;
};
template <class Axes, class X, class... Ws>
using pipeline_block = typename find_pipeline_block<Axes, X, leaves_of_operands<Ws...>>::type;

struct no_query {
  template <class Block>
  void operator()(Block const&, int, int, int, planner::pipeline_schedule const&) const {}
};

// Runs a pipeline on blocks in a body. The result is a block, which is the same along the stages if the batch was.
// `begins(h, lane, repeat, microbatch, table)` receives the operand of a lane of this stage.
template <pipeline_rule Rule, class Axes, class Begins, class F, class X, class... Ws>
auto pipeline_of_blocks(int microbatches, Begins const& begins, F const& layer, X const& x, Ws const&... ws) {
  using P = typename Axes::stages;
  using block = pipeline_block<Axes, X, Ws...>;
  static constexpr bool divided = position_in<P, varying_in<X>> >= 0;
  using result =
      std::conditional_t<divided, block,
                         basic_tensor<typename block::value_type, invariant_over<sharding_in<block>, type_list<P>>,
                                      typename block::space>>;
  pipeline_stage const here = stage_here<Axes>(Rule, microbatches, x, ws...);
  pipeline_run<block, typename Axes::batch, divided> stage(here.w, here.table, block(x));
  auto const made = [&](auto... weights) {
    return stage.run([&](block h, int lane, int repeat, int microbatch) {
      begins(h, lane, repeat, microbatch, here.table);
      for (std::int64_t l = here.first_layer(lane); l < here.end_of_layers(lane); ++l)
        h = layer(h, weights.of_layer(repeat, l)...);
      return h;
    });
  }(weights_of_stage<Axes, F, Ws>(layer, ws)...);
  result r(made.mesh_handle(), made.extents(), made.local());
  if constexpr (varying_in<result>::size > 0) r.set_origins(made.origins());
  return r;
}

// Turns a tensor into the operand of a body that is opened for a call outside of one.
template <class Manual>
struct enter_leaf {
  template <class A>
  auto operator()(A const& a) const {
    return enter_all<Manual>("pipeline", a);
  }
  template <class Inner>
  struct leaves : derivatives_as<Inner, leaves> {
    template <class T, class Sharding>
    using leaf = decltype(enter_all<Manual>("", std::declval<typename Inner::template leaf<T, Sharding> const&>()));
  };
};

template <class P, class Out>
struct pipeline_body {
  using results = type_list<Out>;
  using manual = type_list<P>;
  static constexpr bool is_tuple = false;
};

template <class... Ts>
consteval auto varying_in_all(type_list<Ts...>) {
  return union_of<varying_in<Ts>...>{};
}

/// The result of `run` on the blocks of x and ws, as a tensor. Only the stages' mesh axis is manual: layers are written
/// in the global view along all others.
template <class P, class Out, class Run, class... Ws>
auto in_stages(Run const& run, Ws const&... ws) {
  using kept = decltype(varying_in_all(leaves_of_operands<Ws...>{}));
  return results_of<pipeline_body<P, Out>, kept>(run(map_operand(enter_leaf<type_list<P>>{}, ws)...));
}

/// The result of `run` on x and ws: on blocks in a body, else on the blocks of tensors.
template <class Axes, class Run, class X, class... Ws>
auto in_body_of_stages(Run const& run, X const& x, Ws const&... ws) {
  if constexpr (varies_in_any_of<typename Axes::stages, Ws...>)
    return run(x, ws...);
  else
    return in_stages<typename Axes::stages, sharding_in<X>>(run, x, ws...);
}

template <class... Ws>
concept PipelineOperands = (pipeline_operand<Ws>::is_one && ...);

}  // namespace detail

namespace operation {

/// `Axes` are the axes in the angle brackets of os::pipeline. Operands are x and parameters. The program owns the
/// layer, which outlives the call.
template <pipeline_rule Rule, class Axes, class F>
struct pipeline {
  static constexpr char const* name = "pipeline";
  int microbatches;
  F const& layer;

  template <class X, class... Ws>
  using verdict = detail::pipeline_verdict<Rule, Axes, X, Ws...>;
  template <class X, class...>
  using refused = detail::block_after_error<X>;

  template <class How, class X, class... Ws>
  auto run(How const&, X const& x, Ws const&... ws) const {
    return detail::in_body_of_stages<Axes>(
        [this](auto const& block, auto const&... blocks) {
          return detail::pipeline_of_blocks<Rule, Axes>(microbatches, detail::no_query{}, layer, block, blocks...);
        },
        x, ws...);
  }
};

}  // namespace operation

/// Sends `x` through all layers of the stacked parameters `ws`. `layer(h, w…)` is one of the layers; its `w…` have
/// extent 1 along the axis of layers (a product whose result lacks that axis sums over it). The stage that has the
/// layer calls it, for one microbatch at a time, and never for an idle slot. It may communicate along other mesh axes.
///
/// `ws` are tensors, and trees of tensors (tree.hpp). If they are stored divided over further mesh axes, pass
/// os::weights_each_repeat(os::gather_over<X>, layer), or one of its variants, as `layer`
/// (local_view/pipelines/pipeline_weights.hpp).
///
/// `Named`: L/P, the axis of layers over the stages; N, the batch; and R, the axis of repeats, if microbatches go
/// through the stages several times (os::circular). N comes first in `x`, and R and then L in parameters, so that each
/// part is contiguous. `Rule`: os::gpipe, os::circular, os::circular_by_groups, or os::tick_per_layer for comparison.
///
/// If N is divided over P, each stage sends its microbatches to the first one and gets its results from the last. A
/// batch that all stages have is fed without messages, and all get the result. Every microbatch's activation moves once
/// from a stage to the next; plan/pipeline/messages.hpp and feeding.hpp count these moves. Call it in the body of
/// os::shard_map with blocks, or outside with tensors: then only P is manual, and the layer is written in the global
/// view along all other mesh axes, as without a pipeline. If other mesh axes divide the batch, each device cuts its own
/// rows: a microbatch is a part of each device's rows. Collective over P.
/// @throws ostraka::error, on all devices alike, if the number of microbatches does not divide the batch, or if N is
/// divided over P and the number of stages does not divide the number of microbatches
///
/// With variables, the layers' cotangents are summed where the parameters are. Over mesh axes that divide the batch the
/// sums are reduced once, outside of the pipeline.
template <pipeline_rule Rule, auto... Named, class F, TensorOrVariable X, class... Ws>
  requires(detail::PipelineOperands<Ws...>)
[[nodiscard]] auto pipeline(microbatch_count count, F const& layer, X const& x, Ws const&... ws) {
  using pipeline = operation::pipeline<Rule, detail::pipeline_axes<detail::type_of<Named>...>, F>;
  return detail::operate_on_leaves(pipeline{count.value, layer}, x, ws...);
}

}  // namespace ostraka
