// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The building blocks of pullbacks, in addition to the public verbs: einsum, sum, reshard and broadcast to a
/// sharding given as a type. They take both tensors and variables, so that a backward can be differentiated again.

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ostraka/algebra/reductions.hpp>
#include <ostraka/elements/operators.hpp>
#include <ostraka/gradient/tape/record.hpp>
#include <ostraka/moves/reshard.hpp>
#include <ostraka/operations/shapes/broadcast.hpp>

namespace ostraka {

namespace detail {

/// os::einsum to this sharding; policies may follow the operands.
template <class Sharding, class... Given>
[[nodiscard]] constexpr auto einsum_as(Given const&... given) {
  return operate(ostraka::operation::einsum<Sharding>{}, given...);
}

/// os::sum to this sharding: over the axes that it lacks.
template <class Sharding, class X>
[[nodiscard]] constexpr auto sum_as(X const& x) {
  return operate(ostraka::operation::reduce<reduction::sum, Sharding>{}, x, cheapest);
}

template <class Sharding, class X, class Policy = policy<planner::admit::any>>
constexpr auto reshard_as(X const& x, Policy const& how = {});

/// The recipe that repeats a reshard, from the tensor that was resharded.
template <class From, class Sharding, class Value, class Policy>
class resharded_again final : public recipe<Value> {
 public:
  resharded_again(remembered<From> from, Policy const& how) : recipe<Value>(run), from_(std::move(from)), how_(how) {}

 private:
  [[gnu::cold]] static void run(any_recipe& base, void* value) {
    auto& self = static_cast<resharded_again&>(base);
    if (value == nullptr)
      delete &self;
    else
      *static_cast<Value*>(value) = reshard_as<Sharding>(self.from_.get(), self.how_);
  }

  remembered<From> from_;
  Policy how_;
};

/// Sets the recipe of `y`, the resharded `x`.
template <class Sharding, class X, class Y, class Policy>
[[gnu::cold, gnu::noinline]] void add_recipe_to_reshard(Y& y, X const& x, Policy const& how) {
  using type = typename Y::tensor_type;
  using recipe_type = resharded_again<typename X::tensor_type, Sharding, without_names<type>, Policy>;
  y.set_recipe(recipe_of<type>(new recipe_type(remember(x), how)));
}

/// True if the reshard is a gather, at least in part.
template <class From, class Sharding>
consteval bool is_a_gather() {
  if constexpr (is_variable<From>) {
    return is_a_gather<typename From::tensor_type, Sharding>();
  } else {
    using types = reshard_types<From, varying_as_one<Sharding, From>>;
    for (planner::planned_step const& s : types::plan.steps)
      if (s.kind == step::all_gather) return true;
    return false;
  }
}

/// True if a reshard of an X to this sharding changes the order of its axes. Its result has a cotangent of its own.
template <class X, class Sharding>
inline constexpr bool reorders_axes = !std::is_same_v<axes_in<X>, axes_in<Sharding>>;

template <class Sharding, class X, class Policy>
constexpr auto reshard_abstract(X const& x, Policy const& how);  // of abstract_variable.hpp

/// os::reshard to this sharding.
template <class Sharding, class X, class Policy>
[[nodiscard]] constexpr auto reshard_as(X const& x, Policy const& how) {
  if constexpr (reorders_axes<X, Sharding>) {
    return operate(ostraka::operation::reshard<Sharding>{}, x, how);
  } else if constexpr (is_abstract_variable<X>) {
    return reshard_abstract<Sharding>(x, how);
  } else if constexpr (is_variable<X> && !is_abstract<X>) {
    using from = typename X::tensor_type;
    tape* const t = tape_of(x);
    auto value = result_with(t, [&] { return reshard_as<Sharding>(x.value(), how); });
    if (t != nullptr && t->is_first_run())
      return variable<std::remove_cvref_t<decltype(value)>, typename X::cotangent_type>(
          std::move(value), t->number_of_last(), t);
    auto y = x.as(std::move(value));
    if constexpr (is_a_gather<from, Sharding>()) {
      if (t != nullptr && t->gathers_again()) add_recipe_to_reshard<Sharding>(y, x, how);
    }
    return y;
  } else {
    return operate(ostraka::operation::reshard<Sharding>{}, x, how);
  }
}

/// os::broadcast to this sharding, with the extents of its axes and their origins.
template <class Sharding, class X, class Extents>
[[nodiscard]] constexpr auto broadcast_as(X const& x, Extents const& extents,
                                extent_origins<axes_in<Sharding>::size> const& origins = {}) {
  ostraka::operation::broadcast<Sharding> const repeat{{}, extents, origins};
  return operate(repeat, x);
}

/// The extents of an operand that a pullback keeps; for a block also the origins of its extents.
template <class X, bool IsBlock = (varying_in<X>::size > 0)>
struct shape_of_operand {
  constexpr explicit shape_of_operand(X const& x) : extents(x.extents()) {}
  std::array<std::int64_t, static_cast<std::size_t>(X::rank)> extents;
};
template <class X>
struct shape_of_operand<X, true> : shape_of_operand<X, false> {
  constexpr explicit shape_of_operand(X const& x)
      : shape_of_operand<X, false>(x), origins(stop_gradient(x).origins()) {}
  extent_origins<X::rank> origins;
};

template <class Sharding, class X, class Shape>
[[nodiscard]] constexpr auto broadcast_to(X const& x, Shape const& shape) {
  if constexpr (requires { shape.origins; })
    return broadcast_as<Sharding>(x, shape.extents, shape.origins);
  else
    return broadcast_as<Sharding>(x, shape.extents);
}

/// Converts g, which has the axes of `Wanted` and perhaps more, to `Wanted`: sums over the other axes, and moves.
template <class Wanted, class G>
[[nodiscard]] constexpr Wanted summed_to(G const& g) {
  using target = sharding_in<Wanted>;
  if constexpr (std::is_same_v<sharding_in<G>, target>)
    return g;
  else if constexpr (have_same_types<axes_in<G>, axes_in<Wanted>>)
    return reshard_as<target>(g);
  else
    return sum_as<target>(g);
}

template <class Cotangent>
Cotangent sum_of_padded(Cotangent const& a, Cotangent const& b);  // of rules/local_view/derivative_of_halos.hpp

template <class Cotangent>
constexpr Cotangent sum_of_cotangents(Cotangent const& a, Cotangent const& b) {
  if constexpr (padded_axes<axes_in<Cotangent>> > 0)  // arithmetic refuses padded tensors
    return sum_of_padded(a, b);
  else
    return ostraka::add(a, b);
}

/// Adds g to the sum of a variable's cotangents.
template <class T, class Cotangent, class G>
constexpr void add_cotangent(variable<T, Cotangent> const& to, G const& g) {
  to.slot()->add(settled<Cotangent, varying_in<T>>(summed_to<cotangent_along<Cotangent, varying_in<G>>>(g)));
}

struct identity_pullback {
  template <int, class Wanted, class G>
  constexpr Wanted pull(G const& g) const {
    return summed_to<Wanted>(g);
  }
};

template <class Wanted, class X>
constexpr auto abstract_with_cotangent(X const& x);  // of abstract_variable.hpp

template <class Wanted, class T, class Cotangent>
constexpr variable<T, Wanted> with_cotangent(variable<T, Cotangent> const& x) {
  if constexpr (is_abstract<T>)
    return abstract_with_cotangent<Wanted>(x);
  else if (tape* const t = tape_of(x); t != nullptr && t->is_first_run())
    return variable<T, Wanted>(x.value(), x.number(), t);
  else
    return record_as<Wanted>(x.value(), identity_pullback{}, x).made_by(x.recipe());
}

}  // namespace detail

}  // namespace ostraka
