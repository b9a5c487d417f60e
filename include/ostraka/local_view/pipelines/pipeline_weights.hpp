// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Parameters of a pipeline that are stored divided over further mesh axes and gathered for use (fully
/// sharded): before every layer, so that only one layer's parameters are held at a time; before every repeat; or once a
/// pass.
///
///     os::weights_each_tick(os::gather_over<X>, layer)      a weight is gathered once for each microbatch
///     os::weights_each_repeat(os::gather_over<X>, layer)    once; the weights of one repeat are held
///     os::weights_each_pass(os::gather_over<X>, layer)      once; all weights of the stage are held
///
/// Pass one of these as `layer`. The backward pass reduces cotangents as often as the forward gathers weights.

#include <cstdint>
#include <optional>
#include <utility>

#include <ostraka/local_view/pipelines/pipeline_operands.hpp>
#include <ostraka/moves/reshard.hpp>

namespace ostraka {

namespace detail {

enum class weights_interval : std::uint8_t { tick, repeat, pass };

/// A layer whose parameters `prepare` makes from the stored ones.
template <weights_interval Interval, class Prepare, class F>
struct layer_of_prepared {
  Prepare prepare;
  F layer;

  template <class H, class... Ws>
  auto operator()(H const& h, Ws const&... ws) const {
    if constexpr (Interval == weights_interval::tick)
      return layer(h, prepare(ws)...);
    else
      return layer(h, ws...);  // the stage has prepared the parameters
  }
};

template <class F>
inline constexpr weights_interval weights_interval_of = weights_interval::tick;
template <weights_interval Interval, class Prepare, class F>
inline constexpr weights_interval weights_interval_of<layer_of_prepared<Interval, Prepare, F>> = Interval;

}  // namespace detail

namespace operation {

/// Gathers one tensor, so that none of it is divided over these mesh axes.
template <class... Ms>
struct gather_over {
  using changes_sharding = void;
  static constexpr char const* name = "gather_over";
  template <class A>
  using target = detail::varying_as_one<typename detail::gathered<sharding_in<A>, type_list<Ms...>>::type, A>;
  template <class A>
  using verdict = detail::first_fault<detail::reshard_verdict<A, target<A>>,
                                      detail::element_verdict<typename A::value_type, target<A>>>;
  template <class A>
  using moves = detail::moves_of_reshard<A, target<A>>;
  template <class A>
  using refused = typename detail::refused_reshard<target<A>, A>::type;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    return detail::run_reshard<detail::reshard_types<A, target<A>>, target<A>, How>(name, a);
  }
};

}  // namespace operation

namespace detail {

template <class... Ms>
struct gather_leaf {
  template <class W>
  auto operator()(W const& w) const {
    return operate(ostraka::operation::gather_over<Ms...>{}, w);
  }
  template <class Inner>
  struct leaves : derivatives_as<Inner, leaves> {
    template <class T, class Sharding>
    using leaf = decltype(std::declval<gather_leaf const&>()(
        std::declval<typename Inner::template leaf<T, Sharding> const&>()));
  };
};

template <class... Ms>
struct gathers_over {
  template <class W>
  auto operator()(W const& w) const {
    return map_operand(gather_leaf<Ms...>{}, w);
  }
};

/// One parameter of this stage, a tensor or a tree, in the form that layers of `F` take.
template <class Axes, class F, class W, weights_interval Interval = weights_interval_of<F>>
class weights_of_stage {
 public:
  weights_of_stage(F const& layer, W const& stored) : layer_(layer), stored_(stored) {}

  auto of_layer(int repeat, std::int64_t layer) {
    bool const once = Interval == weights_interval::pass;
    if (!made_ || (!once && repeat != repeat_)) {
      made_.reset();  // frees the old parameters before new ones are made
      made_.emplace(prepared(repeat));
      repeat_ = repeat;
    }
    return map_operand(part_of_layer<Axes>{once ? repeat : 0, layer}, *made_);
  }

 private:
  auto prepared(int repeat) const {
    if constexpr (Interval == weights_interval::pass)
      return layer_.prepare(stored_);
    else
      return layer_.prepare(map_operand(part_of_repeat<Axes>{repeat}, stored_));
  }

  F const& layer_;
  W const& stored_;
  std::optional<decltype(std::declval<F const&>().prepare(std::declval<W const&>()))> made_;
  int repeat_ = -1;
};
template <class Axes, class F, class W>
class weights_of_stage<Axes, F, W, weights_interval::tick> {
 public:
  weights_of_stage(F const&, W const& stored) : stored_(stored) {}
  W of_layer(int repeat, std::int64_t layer) { return map_operand(part_of_layer<Axes>{repeat, layer}, stored_); }

 private:
  W const& stored_;
};

}  // namespace detail

/// Gathers each tensor of a tree, or a single one, so that none of it is divided over these mesh axes.
template <auto... Ms>
inline constexpr detail::gathers_over<detail::type_of<Ms>...> gather_over{};

/// `layer`, with parameters that `prepare` makes from the stored ones of one layer, before each call.
template <class Prepare, class F>
[[nodiscard]] auto weights_each_tick(Prepare prepare, F layer) {
  return detail::layer_of_prepared<detail::weights_interval::tick, Prepare, F>{std::move(prepare), std::move(layer)};
}

/// The same, but prepares all layers of a repeat before the stage begins it.
template <class Prepare, class F>
[[nodiscard]] auto weights_each_repeat(Prepare prepare, F layer) {
  return detail::layer_of_prepared<detail::weights_interval::repeat, Prepare, F>{std::move(prepare), std::move(layer)};
}

/// The same, but prepares all layers of the stage, once in the forward and once in the backward pass.
template <class Prepare, class F>
[[nodiscard]] auto weights_each_pass(Prepare prepare, F layer) {
  return detail::layer_of_prepared<detail::weights_interval::pass, Prepare, F>{std::move(prepare), std::move(layer)};
}

}  // namespace ostraka
