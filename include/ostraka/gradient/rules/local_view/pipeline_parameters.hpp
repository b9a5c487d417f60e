// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The parameters of a pipeline's stage while its layers are differentiated: variables of one layer at a time,
/// whose cotangents are summed over microbatches where the parameters are. Over mesh axes that divide the activations
/// (data parallelism) the sums stay partial: they are reduced once, when the pipeline has finished, for any number of
/// microbatches.

#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/cotangents/as.hpp>
#include <ostraka/gradient/cotangents/deferred.hpp>
#include <ostraka/gradient/directives/checkpoint.hpp>
#include <ostraka/gradient/rules/local_view/rows_among_zeros.hpp>
#include <ostraka/local_view/pipelines/pipeline.hpp>
#include <ostraka/tree/in_pipelines.hpp>

namespace ostraka::detail {

/// The type in which cotangents of a parameter are summed on a stage, for a value of type T whose own cotangents have
/// the type `Cotangent`. `Over` are the mesh axes that divide activations.
template <class P, class Over, class T, class Cotangent>
using sum_on_stage = cotangent_along<
    basic_tensor<typename Cotangent::value_type,
                 deferred<invariant_over<sharding_in<T>, varying_in<T>>,
                          union_of<Over, typename sharding_traits<sharding_in<Cotangent>>::partials>>,
                 typename T::space>,
    union_of<varying_in<Cotangent>, type_list<P>>>;

template <class... Leaves>
consteval bool any_variable_among(type_list<Leaves...>) {
  return any_variable<Leaves...>;
}
/// True if there is a variable among the leaves.
template <class... Ws>
inline constexpr bool any_variable_in = any_variable_among(leaves_of_operands<Ws...>{});

/// Zeros for the cotangents of an operand.
template <class Cotangent, class X>
Cotangent zero_cotangent(X const& x) {
  Cotangent zero(allocate_unnamed<typename Cotangent::value_type, Cotangent::rank, typename Cotangent::space>(
      x.mesh_handle(),
      context_of_tensor("gradient", *x.mesh_handle(), names_of<mesh_axes_in<Cotangent>>.data(),
                        mesh_axes_in<Cotangent>::size, x.extents().data(), Cotangent::rank),
      spec_of<Cotangent, axes_in<Cotangent>, mesh_axes_in<Cotangent>>));
  if constexpr (varying_in<Cotangent>::size > 0) zero.set_origins(origins_of_operand(x));
  fill_block("gradient", zero, typename Cotangent::value_type(0));
  return zero;
}

/// A part of a larger block ← itself + g. The part does not know whether others hold the block.
template <class Block>
void add_to_part(Block const& part, Block const& g) {
  engine::combine_blocks(execution_space_of<Block>(), part.local().data(), plus{}, part.local().data(),
                         elements_of(g), static_cast<std::int64_t>(g.local().size()));
}

/// The plain tensors of variables.
struct value_of_leaf {
  template <class X>
  auto operator()(X const& x) const {
    return plain(x);
  }
  template <class Inner>
  struct leaves {
    template <class T, class Sharding>
    using leaf = plain_type<typename Inner::template leaf<T, Sharding>>;
  };
};
template <class W>
auto plain_operand(W const& w) {
  if constexpr (any_variable_in<W>)
    return map_operand(value_of_leaf{}, w);
  else
    return w;
}

/// Zeros for the sums of cotangents.
template <class P, class Over>
struct zero_sum_of_leaf {
  template <class T, class Cotangent>
  auto operator()(variable<T, Cotangent> const& x) const {
    return zero_cotangent<sum_on_stage<P, Over, T, Cotangent>>(x.value());
  }
  template <class Inner>
  struct leaves {
    template <class T, class Sharding>
    using leaf = decltype(std::declval<zero_sum_of_leaf const&>()(
        std::declval<typename Inner::template leaf<T, Sharding> const&>()));
  };
};

/// Variables on a tape of their own that hold parts of other variables' values. Their cotangents have the types of the
/// sums.
template <class P, class Over, class Part>
struct variable_on_stage {
  tape* t;
  Part part;

  template <class T, class Cotangent>
  auto operator()(variable<T, Cotangent> const& x) const {
    using sum = sum_on_stage<P, Over, T, Cotangent>;
    return variable<T, sum>(part(x.value()), t->push<cotangent_slot<sum>>(), t);
  }
  template <class Inner>
  struct leaves {
    using inner = value_of_leaf::leaves<Inner>;
    static constexpr int derivatives = 1;
    template <class T, class Sharding>
    using leaf = decltype(std::declval<variable_on_stage const&>()(
        std::declval<typename Inner::template leaf<T, Sharding> const&>()));
  };
};

/// Adds the cotangents of the variables of a part.
template <class Part>
struct add_part {
  Part part;
  template <class Sum, class V>
  void operator()(Sum const& sum, V const& x) const {
    if (!x.slot()->is_empty()) add_to_part(part(sum), typename V::cotangent_type(x.slot()->sum()));
  }
};

/// A parameter of layers, and the sum of its cotangents.
template <class Axes, class Over, class W>
class summed_parameter {
 public:
  using stages = typename Axes::stages;
  using of_one_layer = variable_on_stage<stages, Over, part_of_layer<Axes>>;

  explicit summed_parameter(W const& given) : given_(given) {}

  [[nodiscard]] auto value_of_layer(int repeat, std::int64_t layer) const {
    return map_operand(part_of_layer<Axes>{repeat, layer}, plain_operand(given_));
  }
  void begin(tape& t, int repeat, std::int64_t first, std::int64_t end) {
    layers_.clear();
    sum();
    first_ = first;
    for (std::int64_t l = first; l < end; ++l)
      layers_.push_back(map_operand(of_one_layer{&t, {repeat, l}}, given_));
  }
  [[nodiscard]] auto const& of_layer(int, std::int64_t layer) const {
    return layers_[static_cast<std::size_t>(layer - first_)];
  }
  void end(int repeat, std::int64_t first, std::int64_t end) {
    for (std::int64_t l = first; l < end; ++l)
      visit_operand(add_part<part_of_layer<Axes>>{{repeat, l}}, sum(), of_layer(repeat, l));
    layers_.clear();
  }
  [[nodiscard]] auto const& given() const { return given_; }
  /// The sum. It is allocated as zeros when the backward reaches its first layer, so a run without a backward does not
  /// allocate it.
  auto const& sum() {
    if (!sum_) sum_.emplace(map_operand(zero_sum_of_leaf<stages, Over>{}, given_));
    return *sum_;
  }

 private:
  W given_;
  std::optional<decltype(map_operand(zero_sum_of_leaf<stages, Over>{}, std::declval<W const&>()))> sum_;
  dynamic_array<decltype(map_operand(std::declval<of_one_layer const&>(), std::declval<W const&>()))> layers_;
  std::int64_t first_ = 0;
};

struct add_sums_to_operands {
  template <class Sum, class V>
  void operator()(Sum const& sum, V const& x) const {
    if constexpr (is_variable<V>)
      if (x.slot() != nullptr) add_cotangent(x, sum);
  }
};

/// Takes the place of the sum of a constant.
struct no_sum {};

/// Adds a sum to the cotangents of its operand.
template <class Sum, class W>
void add_to_operand(Sum const& sum, W const& to) {
  if constexpr (!std::is_same_v<Sum, no_sum>) visit_operand(add_sums_to_operands{}, sum, to);
}

/// A parameter that is a constant.
template <class Axes, class F, class Over, class W, bool IsVariable = any_variable_in<W>,
          weights_interval Interval = weights_interval_of<F>>
class parameter_of_stage {
 public:
  parameter_of_stage(F const& layer, W const& given) : weights_(layer, given) {}
  auto value_of_layer(int repeat, std::int64_t layer) { return weights_.of_layer(repeat, layer); }
  void begin(tape&, int, std::int64_t, std::int64_t) {}
  auto of_layer(int repeat, std::int64_t layer) { return weights_.of_layer(repeat, layer); }
  void end(int, std::int64_t, std::int64_t) {}
  [[nodiscard]] no_sum sum() const { return {}; }

 private:
  weights_of_stage<Axes, F, W> weights_;
};

/// A parameter that layers take as it is stored.
template <class Axes, class F, class Over, class W>
class parameter_of_stage<Axes, F, Over, W, true, weights_interval::tick> : public summed_parameter<Axes, Over, W> {
 public:
  parameter_of_stage(F const&, W const& given) : summed_parameter<Axes, Over, W>(given) {}
};

/// A parameter that is prepared for a repeat or a pass. Cotangents of layers are summed for the prepared parameter, and
/// go back through its tape before it is discarded.
template <class Axes, class F, class Over, class W, weights_interval Interval>
  requires(Interval != weights_interval::tick)
class parameter_of_stage<Axes, F, Over, W, true, Interval> {
 public:
  parameter_of_stage(F const& layer, W const& given) : layer_(layer), stored_(given) {}

  // Loading and unloading take two steps each; all parameters do each step before the next.
  void take(tape& t, int repeat) {
    repeat_ = repeat;
    taken_.emplace(map_operand(take_part{&t, make_part()}, stored_.given()));
  }
  void prepare() { prepared_.emplace(layer_.prepare(*taken_)); }
  void pull() {
    if (prepared_) visit_operand(add_sums_to_operands{}, prepared_->sum(), prepared_->given());
    was_pulled_ = true;
  }
  void unload() {
    if (taken_ && was_pulled_) visit_operand(add_part<part>{make_part()}, stored_.sum(), *taken_);
    was_pulled_ = false;
    prepared_.reset();
    taken_.reset();
  }

  auto value_of_layer(int repeat, std::int64_t layer) { return prepared_->value_of_layer(inner(repeat), layer); }
  void begin(tape& t, int repeat, std::int64_t first, std::int64_t end) {
    stored_.sum();
    prepared_->begin(t, inner(repeat), first, end);
  }
  [[nodiscard]] auto const& of_layer(int repeat, std::int64_t layer) const {
    return prepared_->of_layer(inner(repeat), layer);
  }
  void end(int repeat, std::int64_t first, std::int64_t end) { prepared_->end(inner(repeat), first, end); }
  [[nodiscard]] auto const& sum() { return stored_.sum(); }

 private:
  struct everything {
    template <class T>
    T operator()(T const& x) const {
      return x;
    }
  };
  static constexpr bool of_pass = Interval == weights_interval::pass;
  using part = std::conditional_t<of_pass, everything, part_of_repeat<Axes>>;
  using take_part = variable_on_stage<typename Axes::stages, Over, part>;
  using taken = decltype(map_operand(std::declval<take_part const&>(), std::declval<W const&>()));
  using prepared = std::remove_cvref_t<decltype(std::declval<F const&>().prepare(std::declval<taken const&>()))>;

  [[nodiscard]] part make_part() const {
    if constexpr (of_pass)
      return {};
    else
      return {repeat_};
  }
  static int inner(int repeat) { return of_pass ? repeat : 0; }

  F const& layer_;
  summed_parameter<Axes, Over, W> stored_;
  std::optional<taken> taken_;
  std::optional<summed_parameter<Axes, Over, prepared>> prepared_;
  int repeat_ = 0;
  bool was_pulled_ = false;
};

/// All parameters of a stage. Their preparation is recorded on one tape, which lives as long as the prepared
/// parameters.
template <class Axes, class F, class Over, class... Ws>
class parameters_of_stage {
 public:
  explicit parameters_of_stage(F const& layer, Ws const&... ws) : layer_(layer), each_(parameter<Ws>(layer, ws)...) {}

  /// Call this before the layers of the repeat.
  void prepare(int repeat) {
    if constexpr (weights_interval_of<F> != weights_interval::tick && any_variable_in<Ws...>) {
      if (shared_ && (weights_interval_of<F> == weights_interval::pass || repeat == repeat_)) return;
      make_room();
      tape& t = shared_.emplace();
      repeat_ = repeat;
      for_loaded([&](auto& one) { one.take(t, repeat); });
      taken_ = t.last();
      for_loaded([](auto& one) { one.prepare(); });
    }
  }

  template <class H>
  auto call_with_values(H const& h, int repeat, std::int64_t l) {
    return std::apply([&](auto&... each) { return layer_(h, each.value_of_layer(repeat, l)...); }, each_);
  }

  /// `begin` makes variables of the layers [first, end) on the tape t, `call` calls a layer with them, and `end` adds
  /// up their cotangents when the tape has been unwound.
  void begin(tape& t, int repeat, std::int64_t first, std::int64_t end) {
    std::apply([&](auto&... each) { (each.begin(t, repeat, first, end), ...); }, each_);
  }
  template <class H>
  auto call(H const& h, int repeat, std::int64_t l) {
    return std::apply([&](auto&... each) { return layer_(h, each.of_layer(repeat, l)...); }, each_);
  }
  void end(int repeat, std::int64_t first, std::int64_t end) {
    std::apply([&](auto&... each) { (each.end(repeat, first, end), ...); }, each_);
    was_pulled_ = true;
  }

  /// The sums, to be read when the pipeline has finished.
  [[nodiscard]] auto sums() {
    make_room();
    return std::apply([](auto&... each) { return std::tuple(each.sum()...); }, each_);
  }

 private:
  template <class W>
  using parameter = parameter_of_stage<Axes, F, Over, W>;

  void make_room() {
    if (shared_ && was_pulled_) {
      for_loaded([](auto& one) { one.pull(); });
      shared_->unwind_to(taken_);
    }
    for_loaded([](auto& one) { one.unload(); });
    shared_.reset();
    was_pulled_ = false;
  }

  template <class Call>
  void for_loaded(Call const& call) {
    std::apply(
        [&](auto&... each) {
          auto const one = [&](auto& p) {
            if constexpr (requires { p.unload(); }) call(p);
          };
          (one(each), ...);
        },
        each_);
  }

  F const& layer_;
  std::optional<tape> shared_;  // declared before the nodes on it
  tape_node const* taken_ = nullptr;
  int repeat_ = -1;
  bool was_pulled_ = false;
  std::tuple<parameter<Ws>...> each_;
};

}  // namespace ostraka::detail
