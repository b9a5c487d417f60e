// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::pipeline_loss<os::one_forward_one_backward, L/P, N>(os::microbatches = 8, layer, layers, loss, head,
/// x, target)`: layers as in os::pipeline, and after the last one the loss of each microbatch, so that a microbatch's
/// backward can begin before the others' forward ends. The value is the mean of the losses.
///
///     auto loss = [](auto h, auto head, auto target) { … return os::mean<>(os::cross_entropy<V>(logits, target)); };
///     auto step = os::value_and_grad([&](auto const& p, auto const& tokens, auto const& next) {
///       auto const x = os::defer_over<P>(os::take<V, N, S, D>(p.table, tokens));
///       return os::pipeline_loss<os::one_forward_one_backward, L/P, N>(os::microbatches = 8, layer, p.layers, loss,
///                                                                      p.head, x, next);
///     });

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/local_view/collectives/psum.hpp>
#include <ostraka/local_view/pipelines/pipeline.hpp>
#include <ostraka/local_view/pipelines/pipeline_two_ways.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

namespace detail {

// `reason::ok` if none of the leaves is divided over the stages.
template <class P, class... Leaves>
consteval auto check_whole_on_stages(type_list<Leaves...>) {
  return found<first_fault<
      std::conditional_t<(position_in<P, mesh_axes_in<Leaves>> >= 0 || position_in<P, varying_in<Leaves>> >= 0),
                         reason::pipeline_loss_is_of_whole_batches<P, sharding_in<Leaves>>, reason::ok>...>>{};
}

// Checks that the rows of a target are those of the batch: divided as they are, or whole.
template <class N, class X, class T>
consteval auto check_rows_of_target() {
  if constexpr (position_in<N, axes_in<T>> < 0) {
    return found<reason::axis_missing<N, sharding_in<T>>>{};
  } else {
    using own = splits_of<N, sharding_in<T>>;
    using of_batch = splits_of<N, sharding_in<X>>;
    if constexpr (own::size > 0 && !std::is_same_v<own, of_batch>)
      return found<reason::axis_split_differently<N, difference_of<own, of_batch>, difference_of<of_batch, own>>>{};
    else
      return check_cut<N, 0, T>();
  }
}

/// A target divided as the batch is: a slice if the target is whole. Nothing moves.
template <class N, class X, class T>
auto target_as_batch(T const& t) {
  using rows = splits_of<N, sharding_in<X>>;
  if constexpr (rows::size == splits_of<N, sharding_in<T>>::size)
    return t;
  else
    return checked_reshard<with_entry<sharding_in<T>, N, typename divided_over<N, rows>::type>>("pipeline_loss", t);
}

/// Checks that the loss fits the schedule and the batch.
/// @throws ostraka::error, on all devices alike, before anything is sent
template <class N, class X, class... Ts>
void require_loss_fits(pipeline_rule const& rule, planner::pipeline_schedule const& table, X const& x,
                       Ts const&... targets) {
  if (rule == one_forward_one_backward && table.repeats > 1)
    throw_pipeline(join_text("os::one_forward_one_backward goes through the stages once, and these parameters have ",
                             table.repeats, " repeats; choose os::circular or os::circular_by_groups"));
  for (std::int64_t const rows : {x.extents()[0], targets.extents()[0]...})
    if (rows != x.extents()[0])
      throw_pipeline(join_text("targets have as many rows of ", N::name, " as what goes through, ", x.extents()[0],
                               ", and not ", rows));
}

template <pipeline_rule Rule, class Axes, class Layers, class Head, class X, class... Ts>
consteval auto check_pipeline_loss() {
  constexpr pipeline_rule forward{planner::pipeline_order::all_forward, Rule.per_layer};
  using of_layers = pipeline_verdict<forward, Axes, X, Layers>;
  if constexpr (!std::is_same_v<of_layers, reason::ok>)
    return found<of_layers>{};
  else if constexpr (Rule.per_layer)
    return found<reason::pipeline_loss_ticks_by_stage<typename Axes::layers>>{};
  else
    return found<first_fault<
        typename decltype(check_whole_on_stages<typename Axes::stages>(leaves_of_operands<Head, X, Ts...>{}))::type,
        typename decltype(check_rows_of_target<typename Axes::batch, X, Ts>())::type...>>{};
}

template <class Loss>
consteval auto check_loss_of_microbatch() {
  if constexpr (!Tensor<Loss>)
    return found<reason::loss_is_not_a_scalar<Loss>>{};
  else if constexpr (axes_in<Loss>::size > 0 || sharding_traits<sharding_in<Loss>>::partials::size > 0)
    return found<reason::loss_is_not_a_scalar<sharding_in<Loss>>>{};
  else
    return found<reason::ok>{};
}

/// The sum of the losses of the microbatches that ended on this stage.
template <class P, class Loss>
class sum_of_losses {
 public:
  using tensor_type =
      basic_tensor<typename Loss::value_type, typename with_varying<sharding_in<Loss>, type_list<P>>::type,
                   typename Loss::space>;
  using value_type = typename Loss::value_type;

  template <class X>
  explicit sum_of_losses(X const& x) : sum_(number<tensor_type>(x, value_type(0))) {}

  void add(Loss const& loss) {
    engine::combine_blocks(execution_space_of<tensor_type>(), sum_.local().data(), plus{}, sum_.local().data(),
                           elements_of(loss), std::int64_t{1});
  }

  /// The mean, on all stages. Collective over P.
  [[nodiscard]] auto mean(int microbatches) const {
    auto const all = ostraka::operation::combine_blocks<reduction::sum, P>{}(sum_);
    using wide = accumulator_of_t<value_type>;
    apply_in_place("pipeline_loss", all, divide_by<value_type>{wide(static_cast<real_of<wide>>(microbatches))});
    return all;
  }

  /// A tensor without axes.
  template <class T, class X>
  static T number(X const& x, value_type value) {
    std::int64_t const none[1]{};
    T const t = make_block<T>(x.mesh_handle(), {}, none, {});
    fill_block("pipeline_loss", t, value);
    return t;
  }

 private:
  tensor_type sum_;
};

// Runs forward only: the table has no backward, and nothing is stored. (The rule is a run-time value, so that programs
// of one layer under several schedules compile this once.)
template <class Axes, class F, class Layers, class Loss, class Head, class X, class... Ts>
auto pipeline_loss_of_blocks(pipeline_rule rule, int microbatches, F const& layer, Layers const& layers,
                             Loss const& loss, Head const& head, X const& x, Ts const&... targets) {
  using block = pipeline_block<Axes, X, Layers>;
  pipeline_stage const here =
      stage_here<Axes>(rule == one_forward_one_backward ? gpipe : rule, microbatches, x, layers);
  require_loss_fits<typename Axes::batch>(rule, here.table, x, targets...);
  pipeline_two_ways<block, block, typename Axes::batch> stage(here.w, here.table, block(x), nullptr);
  weights_of_stage<Axes, F, Layers> weights(layer, layers);
  using result = decltype(loss(std::declval<block const&>(), head, targets...));
  if constexpr (!reason::ok_or_raise<typename decltype(check_loss_of_microbatch<result>())::type>()) {
    return after_error_of<typename X::value_type, sharding<>, typename X::space>();
  } else {
    sum_of_losses<typename Axes::stages, result> sum(x);
    stage.run(
        [&](block h, int repeat) {
          for (std::int64_t l = 0; l < here.layers; ++l) h = layer(h, weights.of_layer(repeat, l));
          return h;
        },
        [&](block const& made, int microbatch) {
          sum.add(loss(made, head, stage.rows_of(targets, microbatch)...));
          return block();
        },
        [](block const&, block const& g, int) { return g; });
    return sum.mean(here.table.microbatches);
  }
}

}  // namespace detail

namespace operation {

/// os::pipeline_loss as an operation, like operation::pipeline. Its operands are layers, head, x, and targets, which
/// are constants.
template <pipeline_rule Rule, class Axes, class F, class Loss>
struct pipeline_loss {
  static constexpr char const* name = "pipeline_loss";
  int microbatches;
  F const& layer;
  Loss const& loss;

  template <class Layers, class Head, class X, class... Ts>
  using verdict = typename decltype(detail::check_pipeline_loss<Rule, Axes, Layers, Head, X, Ts...>())::type;
  template <class Layers, class Head, class X, class...>
  using refused = detail::after_error_of<typename X::value_type, sharding<>, typename X::space>;

  template <class How, class Layers, class Head, class X, class... Ts>
  auto run(How const&, Layers const& layers, Head const& head, X const& x, Ts const&... targets) const {
    return detail::in_stages<typename Axes::stages, sharding<>>(
        [this](auto const& own_layers, auto const& own_head, auto const& batch, auto const&... rest) {
          using block = std::remove_cvref_t<decltype(batch)>;
          return detail::pipeline_loss_of_blocks<Axes>(Rule, microbatches, layer, own_layers, loss, own_head, batch,
                                                       detail::target_as_batch<typename Axes::batch, block>(rest)...);
        },
        layers, head, x, targets...);
  }
};

}  // namespace operation

/// The mean over microbatches of `loss(h, head, targets…)`, where h is the result of `layer(h, w)` on a microbatch of
/// x, one layer after the other, and `targets` are the microbatch's rows of the targets. The loss is a number, without
/// axes.
///
/// With variables the value is computed together with its derivative, in the order of the table, and the backward of
/// os::value_and_grad only scales it. With `os::one_forward_one_backward` a stage S − s stages from the end stores at
/// most S − s microbatches; with os::gpipe, os::circular and os::circular_by_groups all of them. A stage stores the
/// operands of its layers, and runs the layers again in the backward. Without variables it runs forward only.
///
/// `layers` is a tensor or a tree of tensors, stacked along L, which is divided over the stages P. Stages may have
/// different numbers of layers. `head`, a tensor or a tree, x and targets are whole along P: the first stage reads x,
/// and the last one calls `loss`. Other mesh axes divide N in targets as in x, or not at all. Cotangents of layers stay
/// where the layers are. Cotangents of the head and x are summed over P once; os::defer_over<P>(x) leaves that to the
/// operations that made x. Cotangents that are partial over mesh axes that divide the batch are reduced once, at the
/// end. Only the stages' mesh axis is manual. Collective over P.
/// @throws ostraka::error, on all devices alike, if microbatches do not divide the batch, targets have other rows, or
/// os::one_forward_one_backward is to go through the stages several times
template <pipeline_rule Rule, auto... Named, class F, class Layers, class Loss, class Head, TensorOrVariable X,
          Tensor... Ts>
  requires(detail::PipelineOperands<Layers, Head>)
[[nodiscard]] auto pipeline_loss(microbatch_count count, F const& layer, Layers const& layers, Loss const& loss,
                                 Head const& head, X const& x, Ts const&... targets) {
  using axes = detail::pipeline_axes<detail::type_of<Named>...>;
  return detail::operate_on_leaves(operation::pipeline_loss<Rule, axes, F, Loss>{count.value, layer, loss}, layers,
                                   head, x, targets...);
}

}  // namespace ostraka
