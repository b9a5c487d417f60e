// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. os::pipeline_loss of variables. Its derivative is computed together with its value, in the order of the
/// table, because some microbatches go back while others go forward. The derivative is kept until the cotangent of the
/// loss, a number, is known, and is then multiplied by it.

#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/arrays/value.hpp>
#include <ostraka/gradient/rules/local_view/derivative_of_pipeline.hpp>
#include <ostraka/local_view/pipelines/pipeline_loss.hpp>

namespace ostraka {

namespace detail {

/// The axes of the head, which is one layer without an axis of layers.
template <class P>
struct axes_of_head {
  using layers = void;
  using repeats = void;
  using stages = P;
};

/// Multiplies a sum in place.
struct scale_sum {
  double factor;
  template <class Sum>
  void operator()(Sum const& sum) const {
    using value = typename Sum::value_type;
    using wide = accumulator_of_t<value>;
    apply_in_place("pipeline_loss", sum, divide_by<value>{wide(static_cast<real_of<wide>>(1 / factor))});
  }
};

/// Passes on the sums that the run has computed. `Sums`: one for each operand.
template <class Cotangent, class Sums, class... Operands>
class pipeline_loss_node final : public cotangent_slot<Cotangent> {
 public:
  explicit pipeline_loss_node(Sums sums, Operands const&... operands)
      : cotangent_slot<Cotangent>(run_node<pipeline_loss_node>), sums_(std::move(sums)), operands_(operands...) {}

 private:
  friend void run_node<pipeline_loss_node>(tape_node&, bool);
  ~pipeline_loss_node() = default;

  void pull_back() {
    if (!this->is_empty()) propagate_scaled(std::index_sequence_for<Operands...>{});
  }

  template <std::size_t... Is>
  void propagate_scaled(std::index_sequence<Is...>) const {
    auto const factor = static_cast<double>(engine::read_on_host(this->sum().local()));
    (propagate_one(factor, std::get<Is>(sums_), std::get<Is>(operands_)), ...);
  }
  template <class Sum, class W>
  static void propagate_one(double factor, Sum const& sum, W const& to) {
    if constexpr (!std::is_same_v<Sum, no_sum>) {
      if (factor != 1) visit_operand(scale_sum{factor}, sum);
      add_to_operand(sum, to);
    }
  }

  Sums sums_;
  std::tuple<Operands...> operands_;
};

struct find_slot_of_leaf {
  bool* found;
  template <class X>
  void operator()(X const& x) const {
    if constexpr (is_variable<X>) *found = *found || x.slot() != nullptr;
  }
};

// os::pipeline_loss in a body, on variables of blocks. A region of os::checkpoint calls it twice, and needs its
// derivative only the second time. A derivative of the head alone needs no backward of the layers.
template <class Axes, class F, class Layers, class Loss, class Head, class X, class... Ts>
auto pipeline_loss_of_variables(pipeline_rule rule, int microbatches, F const& layer, Layers const& layers,
                                Loss const& loss, Head const& head, X const& x, Ts const&... targets) {
  using P = typename Axes::stages;
  using block = pipeline_block<Axes, X, Layers>;
  using of_block = stage_cotangent<void, block, X, Layers, Head>;
  using h_type = variable<block, of_block>;
  using over = axes_of_activations<block>;
  tape* all = nullptr;
  visit_operand(join_tape_of_leaf{&all}, layers);
  visit_operand(join_tape_of_leaf{&all}, head);
  join_tapes(all, tape_of(x));
  bool const is_recorded = all != nullptr && !all->is_first_run();
  bool runs_backward = false;
  visit_operand(find_slot_of_leaf{&runs_backward}, layers);
  visit_operand(find_slot_of_leaf{&runs_backward}, x);
  runs_backward = runs_backward && is_recorded;

  bool const by_turns = rule == one_forward_one_backward;
  pipeline_stage here =
      stage_here<Axes>(by_turns && !runs_backward ? gpipe : rule, microbatches, plain(x), plain_operand(layers));
  require_loss_fits<typename Axes::batch>(rule, here.table, plain(x), targets...);
  here.table.backward = runs_backward;

  parameters_of_stage<Axes, F, over, Layers> parameters(layer, layers);
  parameter_of_stage<axes_of_head<P>, no_sum, over, Head> of_head(no_sum{}, head);
  using sum_of_x = std::conditional_t<is_variable<X>, of_block, no_sum>;
  sum_of_x of_x{};
  of_block const* where = nullptr;
  if constexpr (is_variable<X>)
    if (is_recorded) {
      of_x = zero_cotangent<of_block>(x.value());
      where = &of_x;
    }
  pipeline_two_ways<block, of_block, typename Axes::batch> stage(here.w, here.table, block(plain(x)), where);

  using given_head = decltype(of_head.of_layer(0, 0));
  using made_loss = decltype(loss(std::declval<h_type const&>(), std::declval<given_head>(), targets...));
  using result = plain_type<std::remove_cvref_t<made_loss>>;
  if constexpr (!reason::ok_or_raise<typename decltype(check_loss_of_microbatch<result>())::type>()) {
    return after_error_of<typename X::value_type, sharding<>, typename X::space>();
  } else {
    using sum_type = sum_of_losses<P, result>;
    sum_type sum(x);
    auto const share = typename result::value_type(1.0 / here.table.microbatches);
    stage.run(
        [&](block h, int repeat) {
          parameters.prepare(repeat);
          for (std::int64_t l = 0; l < here.layers; ++l) h = parameters.call_with_values(h, repeat, l);
          return h;
        },
        [&](block const& made, int microbatch) {
          tape t;
          h_type const h = runs_backward ? h_type(made, t.push<cotangent_slot<of_block>>(), &t) : h_type(made);
          of_head.begin(t, 0, 0, 1);
          tape_node const* const leaves = t.last();
          auto const one = loss(h, of_head.of_layer(0, 0), stage.rows_of(targets, microbatch)...);
          sum.add(plain(one));
          if constexpr (is_variable<std::remove_cvref_t<decltype(one)>>)
            if (is_recorded && one.slot() != nullptr) {
              add_cotangent(one, sum_type::template number<result>(x, share));
              t.unwind_to(leaves);
            }
          of_head.end(0, 0, 1);
          if (!runs_backward) return of_block();
          return h.slot()->is_empty() ? zero_cotangent<of_block>(made) : of_block(h.slot()->sum());
        },
        [&](block const& began_with, of_block const& of_result, int repeat) {
          return layers_back(parameters, began_with, of_result, repeat, 0, here.layers);
        });
    auto const value = sum.mean(here.table.microbatches);
    using value_type = std::remove_const_t<decltype(value)>;
    using cotangent = cotangent_of<value_type>;
    if (!is_recorded) return variable<value_type, cotangent>(value, 0, all);
    all->name_next("pipeline_loss");
    auto sums = std::tuple_cat(parameters.sums(), std::tuple(of_head.sum(), of_x));
    using node_type = pipeline_loss_node<cotangent, decltype(sums), Layers, Head, X>;
    return variable<value_type, cotangent>(value, all->push<node_type>(std::move(sums), layers, head, x), all);
  }
}

}  // namespace detail

template <pipeline_rule Rule, class Axes, class F, class Loss>
struct derivative_of<operation::pipeline_loss<Rule, Axes, F, Loss>> {
  template <class Layers, class Head, class X, class... Ts>
  static auto composed(operation::pipeline_loss<Rule, Axes, F, Loss> const& of, Layers const& layers, Head const& head,
                       X const& x, Ts const&... targets) {
    using verdict =
        detail::first_fault<typename decltype(detail::check_pipeline_loss<Rule, Axes, Layers, Head, X, Ts...>())::type,
                            detail::first_derivatives_verdict<Axes, X, Layers, Head>>;
    if constexpr (!reason::ok_or_raise<verdict>())
      return detail::after_error_of<typename X::value_type, sharding<>, typename X::space>();
    else
      return detail::in_stages<typename Axes::stages, sharding<>>(
          [&of](auto const& own_layers, auto const& own_head, auto const& batch, auto const&... rest) {
            using block = detail::plain_type<std::remove_cvref_t<decltype(batch)>>;
            return detail::pipeline_loss_of_variables<Axes>(
                Rule, of.microbatches, of.layer, own_layers, of.loss, own_head, batch,
                detail::target_as_batch<typename Axes::batch, block>(rest)...);
          },
          layers, head, x, targets...);
  }
};

}  // namespace ostraka
