// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The derivative of os::pipeline: the pipeline backwards. Cotangents of microbatches go from the last stage
/// to the first by the same table, with as many messages as in the forward. A stage keeps the operands of its layers
/// for each microbatch. When the cotangent arrives, it runs the layers again on a tape of their own (as os::checkpoint
/// does). Cotangents of parameters are summed where the parameters are, so none of them moves between stages.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/creation/copy.hpp>
#include <ostraka/engine/memory/foreign_memory.hpp>
#include <ostraka/gradient/rules/local_view/pipeline_parameters.hpp>

namespace ostraka {

namespace detail {

/// The operands of layers, by repeat, lane and microbatch, kept until the backward has used them.
template <class Block>
struct kept_by_stage {
  dynamic_array<Block> blocks;
  int stored = 0;

  static std::size_t place(planner::pipeline_schedule const& table, int lane, int repeat, int microbatch) {
    return static_cast<std::size_t>((repeat * table.lanes + lane) * table.microbatches + microbatch);
  }
  void operator()(Block const& h, int lane, int repeat, int microbatch, planner::pipeline_schedule const& table) {
    if (blocks.empty()) blocks.resize(place(table, 0, table.repeats, 0));
    blocks[place(table, lane, repeat, microbatch)] = h;
    count_stored(++stored);
  }
  Block take(int lane, int repeat, int microbatch, planner::pipeline_schedule const& table) {
    --stored;
    return std::exchange(blocks[place(table, lane, repeat, microbatch)], Block());
  }
};

// Converts a layer's result to the next layer's operand.
template <class H, class R>
H as_operand_of_layer(R const& result) {
  using block = typename H::tensor_type;
  if constexpr (!is_variable<R>)
    return H(block(result));
  else if constexpr (std::is_same_v<typename R::tensor_type, block>)
    return result;
  else
    return [&]<class... Ms>(type_list<Ms...>) { return ostraka::pvary<Ms{}...>(result); }(
        difference_of<varying_in<block>, varying_in<R>>{});
}

/// The type of cotangents of the activations that go from stage to stage.
template <class Rule, class Result, class Leaves>
struct find_stage_cotangent;
template <class Rule, class Result, class... Leaves>
struct find_stage_cotangent<Rule, Result, type_list<Leaves...>> {
  using type = cotangent_of_result<Rule, Result, Leaves...>;
};
template <class Rule, class Result, class... Operands>
using stage_cotangent = typename find_stage_cotangent<Rule, Result, leaves_of_operands<Operands...>>::type;

/// The mesh axes that divide activations.
template <class X>
using axes_of_activations = typename sharding_traits<sharding_in<X>>::splits;

/// Runs layers [first, end) of this stage again from their operand, and then their backward. Returns the operand's
/// cotangent.
template <class Cotangent, class Parameters, class Block>
Cotangent layers_back(Parameters& parameters, Block const& began_with, Cotangent const& of_result, int repeat,
                      std::int64_t first, std::int64_t end) {
  using h_type = variable<Block, Cotangent>;
  parameters.prepare(repeat);
  tape t;
  h_type const operand(began_with, t.push<cotangent_slot<Cotangent>>(), &t);
  parameters.begin(t, repeat, first, end);
  tape_node const* const leaves = t.last();
  h_type h = operand;
  for (std::int64_t l = first; l < end; ++l) h = as_operand_of_layer<h_type>(parameters.call(h, repeat, l));
  // Sums are formed in place, and a part of a larger block does not know whether others hold the block: copy it.
  if (h.slot() != nullptr) add_cotangent(h, engine::holders_of(of_result.local()) == 0 ? copy(of_result) : of_result);
  t.unwind_to(leaves);
  parameters.end(repeat, first, end);
  return operand.slot()->is_empty() ? zero_cotangent<Cotangent>(began_with) : Cotangent(operand.slot()->sum());
}

/// The node of a pipeline, which runs its backward.
template <pipeline_rule Rule, class Axes, bool Divided, class F, class Block, class Cotangent, class X, class... Ws>
class pipeline_node final : public cotangent_slot<Cotangent> {
 public:
  pipeline_node(int microbatches, F const& layer, std::shared_ptr<kept_by_stage<Block>> kept, X const& x,
                Ws const&... ws)
      : cotangent_slot<Cotangent>(run_node<pipeline_node>), microbatches_(microbatches), layer_(layer),
        kept_(std::move(kept)), x_(x), ws_(ws...) {}

 private:
  friend void run_node<pipeline_node>(tape_node&, bool);
  ~pipeline_node() = default;

  using of_block = stage_cotangent<void, Block, X, Ws...>;

  [[gnu::noinline]] void pull_back() {
    if (!this->is_empty()) std::apply([&](auto const&... ws) { run_back(ws...); }, ws_);
  }

  void run_back(Ws const&... ws) {
    parameters_of_stage<Axes, F, axes_of_activations<Block>, Ws...> parameters(layer_, ws...);
    pipeline_stage const here = stage_here<Axes>(Rule, microbatches_, plain(x_), plain_operand(ws)...);
    pipeline_run<of_block, typename Axes::batch, Divided> stage(here.w, here.table, of_block(Cotangent(this->sum())),
                                                                pipeline_way::backwards);
    of_block const of_x = stage.run([&](of_block const& of_result, int lane, int repeat, int microbatch) {
      return layers_back(parameters, kept_->take(lane, repeat, microbatch, here.table), of_result, repeat,
                         here.first_layer(lane), here.end_of_layers(lane));
    });
    add_sums_to_operands{}(of_x, x_);
    std::apply([&](auto const&... sums) { (add_to_operand(sums, ws), ...); }, parameters.sums());
  }

  int microbatches_;
  F layer_;
  std::shared_ptr<kept_by_stage<Block>> kept_;
  X x_;
  std::tuple<Ws...> ws_;
};

template <bool Divided, class P>
struct pipeline_kinds {
  using invariant_along = std::conditional_t<Divided, type_list<>, type_list<P>>;
};

struct join_tape_of_leaf {
  tape** all;
  template <class X>
  void operator()(X const& x) const {
    join_tapes(*all, tape_of(x));
  }
};

// Refuses second derivatives: the backward is another pipeline, which is not differentiated.
template <class Axes, class... Leaves>
consteval auto check_first_derivatives(type_list<Leaves...>) {
  if constexpr (depth_of_all<Leaves...> > 1)
    return found<reason::pipeline_has_first_derivatives<typename Axes::layers, typename Axes::stages>>{};
  else
    return found<reason::ok>{};
}
template <class Axes, class... Operands>
using first_derivatives_verdict =
    typename decltype(check_first_derivatives<Axes>(leaves_of_operands<Operands...>{}))::type;

// os::pipeline in a body, on variables of blocks.
template <pipeline_rule Rule, class Axes, class F, class X, class... Ws>
auto pipeline_of_variables(int microbatches, F const& layer, X const& x, Ws const&... ws) {
  using P = typename Axes::stages;
  using block = pipeline_block<Axes, X, Ws...>;
  constexpr bool divided = position_in<P, varying_in<X>> >= 0;
  tape* t = nullptr;
  join_tapes(t, tape_of(x));
  (visit_operand(join_tape_of_leaf{&t}, ws), ...);
  auto const kept = std::make_shared<kept_by_stage<block>>();
  auto const keep = [&](auto const&... what) { (*kept)(what...); };
  auto const made = pipeline_of_blocks<Rule, Axes>(microbatches, keep, layer, plain(x), plain_operand(ws)...);
  using result = std::remove_const_t<decltype(made)>;
  using cotangent = stage_cotangent<pipeline_kinds<divided, P>, result, X, Ws...>;
  if (t == nullptr || t->is_first_run()) return variable<result, cotangent>(made, 0, t);
  t->name_next("pipeline");
  using recorded_node = pipeline_node<Rule, Axes, divided, F, block, cotangent, X, Ws...>;
  return variable<result, cotangent>(made, t->push<recorded_node>(microbatches, layer, kept, x, ws...), t);
}

}  // namespace detail

template <pipeline_rule Rule, class Axes, class F>
struct derivative_of<operation::pipeline<Rule, Axes, F>> {
  template <class X, class... Ws>
  static auto composed(operation::pipeline<Rule, Axes, F> const& of, X const& x, Ws const&... ws) {
    using verdict = detail::first_fault<detail::pipeline_verdict<Rule, Axes, X, Ws...>,
                                        detail::first_derivatives_verdict<Axes, X, Ws...>>;
    if constexpr (!reason::ok_or_raise<verdict>())
      return detail::after_error_of<typename X::value_type, sharding_in<X>, typename X::space>();
    else
      return detail::in_body_of_stages<Axes>(
          [&of](auto const& block, auto const&... blocks) {
            return detail::pipeline_of_variables<Rule, Axes>(of.microbatches, of.layer, block, blocks...);
          },
          x, ws...);
  }
};

}  // namespace ostraka
