// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A mixture of experts with a capacity: each expert takes at most a fixed number of tokens of a group, the
/// first ones, and further tokens are dropped (GShard 2020, Switch Transformers 2021). Groups are indices of all token
/// axes but the last, so dropping does not depend on the mesh. All shapes are known in advance, and all moves are
/// reshards.
///
///     auto const slots = os::assign_slots<E, C>(experts, E = 64, C = 32);     experts[B_X, S, K]
///     dispatch     x[B_X, S, M]         → [E, B_X, C, M]        nothing moved
///     os::with_capacity<E/X>(f, x, slots, weights, w…): dispatch, all-to-all to [E_X, B, C, M], f, and back

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <ostraka/engine/blocks/expert_slots.hpp>
#include <ostraka/experts/choices.hpp>
#include <ostraka/experts/dropless.hpp>
#include <ostraka/moves/reshard.hpp>

namespace ostraka {

/// The slot of each choice, made by os::assign_slots. A handle, as a tensor is.
template <class E, class C, class Experts, class Numbers>
class expert_slots {
 public:
  using experts_axis = E;
  using slots_axis = C;
  using experts_type = Experts;
  using space = typename Experts::view_type::memory_space;
  using state = engine::slot_lists<space>;

  expert_slots(Numbers const& made, std::shared_ptr<state const> shared_state,
               detail::extents_of_axes<axes_in<Experts>> const& choices,
               detail::extents_of_axes<type_list<E, C>> const& own)
      : numbers(made), shared_state_(std::move(shared_state)), choices_(choices), own_(own) {}

  Numbers numbers;  ///< as experts[…, S, K]: expert · capacity + slot, and −1 for a dropped choice

  [[nodiscard]] state const& shared_state() const { return *shared_state_; }
  [[nodiscard]] auto const& choices() const { return choices_; }
  [[nodiscard]] auto const& own() const { return own_; }

 private:
  std::shared_ptr<state const> shared_state_;
  detail::extents_of_axes<axes_in<Experts>> choices_;
  detail::extents_of_axes<type_list<E, C>> own_;
};

namespace detail {

/// Shardings of slots: [E, groups, C] and the rest of a tensor of tokens.
template <class Slots>
struct slots_of {
  using experts = typename Slots::experts_type;
  using types = choices_of<experts>;
  using counted = typename last_axis<axes_in<typename types::tokens>>::type;
  using groups = without_axis<typename types::tokens, counted>;
  using E = typename Slots::experts_axis;
  using C = typename Slots::slots_axis;

  template <class Y>
  using rest_of = without_axes<lasting_sharding<Y>,
                               typename unite_lists<axes_in<groups>, type_list<E, C>>::type>;
  template <class Rest>
  using dispatched = canonical_sharding<E, groups, C, Rest>;
  template <class Rest>
  using collected = canonical_sharding<typename types::choices, Rest>;
};

// The entries of a sharding without the mesh axes `Taken`, which other axes use.
template <class Sharding, class Taken>
struct left_to;
template <class Taken, class... Entries>
struct left_to<sharding<Entries...>, Taken> {
  using type = canonical_sharding<typename inside_entry<Entries, Taken>::type...>;
};

struct assigning_slots {
  static constexpr char const* name = "assign_slots";
};

template <class Experts>
consteval auto check_slots() {
  using own = choices_verdict<assigning_slots, Experts>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else if constexpr (Experts::rank < 2) {
    return found<reason::tokens_sharding_mismatch<sharding_in<Experts>, sharding_in<Experts>, assigning_slots>>{};
  } else {
    using counted = typename last_axis<axes_in<typename choices_of<Experts>::tokens>>::type;
    if constexpr (splits_of<counted, sharding_in<Experts>>::size > 0)
      return found<reason::axis_must_be_whole<counted, sharding_in<Experts>, assigning_slots>>{};
    else
      return found<reason::ok>{};
  }
}

template <class Operation, class Y, class Slots>
consteval auto check_slot_sharding() {
  using types = slots_of<Slots>;
  using own = first_fault<typename sharding_traits<sharding_in<Y>>::verdict, whole_values_verdict<Operation, Y>>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (!std::is_same_v<lasting_sharding<Y>,
                                     typename types::template dispatched<typename types::template rest_of<Y>>>)
    return found<
        reason::tokens_sharding_mismatch<sharding_in<Y>, sharding_in<typename Slots::experts_type>, Operation>>{};
  else
    return found<reason::ok>{};
}

}  // namespace detail

namespace operation {

/// Puts tokens, or choices, into the slots; empty slots are zero.
template <class Slots>
struct dispatch : detail::moves_nothing {
  static constexpr char const* name = "dispatch";
  using experts = typename Slots::experts_type;
  using types = detail::slots_of<Slots>;
  Slots slots;

  template <class X>
  static constexpr bool of_choices = types::types::template has_choices<X>;
  template <class X>
  using result = varying_as<
      typename types::template dispatched<typename types::types::template rest_of<X, of_choices<X>>>, X, experts>;
  template <class X>
  using verdict = detail::first_fault<detail::tokens_verdict<dispatch, X, experts>,
                                      detail::blocks_verdict<sharding<>, X, experts>,
                                      typename sharding_traits<result<X>>::verdict>;

  template <class How, class X>
  auto run(How const&, X const& x) const {
    using result_type = basic_tensor<typename X::value_type, result<X>, typename X::space>;
    bool const absent = detail::common_mesh(name, x)->absent();
    auto const made = detail::make_of_axes<result_type>(x.mesh_handle(), slots.choices(), slots.own(),
                                                        detail::extents_of_axes_in(x));
    if (absent) return made;
    detail::profiled_block<result_type> const region_of_run(name, made, "writes");
    auto const exec = detail::execution_space_of<X>();
    auto const& at = slots.shared_state();
    engine::fill_rows(exec, of_choices<X> ? at.choice_of_slot : at.token_of_slot,
                        detail::elements_behind(x, experts::rank - (of_choices<X> ? 0 : 1)), made.local().data(),
                        detail::elements_of(x), of_choices<X> ? at.tokens * at.repeats : at.tokens);
    return made;
  }
};

/// Brings the slots' contents back to the choices; a dropped choice gets zeros.
template <class Slots>
struct collect : detail::moves_nothing {
  static constexpr char const* name = "collect";
  using experts = typename Slots::experts_type;
  using types = detail::slots_of<Slots>;
  Slots slots;

  template <class Y>
  using result = varying_as<typename types::template collected<typename types::template rest_of<Y>>, Y, experts>;
  template <class Y>
  using verdict =
      detail::first_fault<typename decltype(detail::check_slot_sharding<collect, Y, Slots>())::type,
                          detail::blocks_verdict<sharding<>, Y, experts>, typename sharding_traits<result<Y>>::verdict>;

  template <class How, class Y>
  auto run(How const&, Y const& y) const {
    using result_type = basic_tensor<typename Y::value_type, result<Y>, typename Y::space>;
    bool const absent = detail::common_mesh(name, y)->absent();
    auto const made =
        detail::make_of_axes<result_type>(y.mesh_handle(), slots.choices(), detail::extents_of_axes_in(y));
    if (absent) return made;
    detail::profiled_block<result_type> const region_of_run(name, made, "writes");
    auto const exec = detail::execution_space_of<Y>();
    auto const& at = slots.shared_state();
    engine::fill_rows(exec, at.slot_of_choice, detail::elements_behind(y, experts::rank), made.local().data(),
                        detail::elements_of(y), static_cast<std::int64_t>(at.choice_of_slot.extent(0)));
    return made;
  }
};

}  // namespace operation

namespace detail {

template <class Slots, class Numbers, class Experts, class Sizes>
Slots make_slots(Experts const& experts, Sizes const& sizes) {
  using E = typename Slots::experts_axis;
  using C = typename Slots::slots_axis;
  auto const choices = extents_of_axes_in(experts);
  extents_of_axes<type_list<E, C>> own;
  own.whole = {checked_extent<false, E>(sizes, "assign_slots"), checked_extent<false, C>(sizes, "assign_slots")};
  auto const state = std::make_shared<typename Slots::state>();
  auto const numbers = make_of_axes<Numbers>(experts.mesh_handle(), choices);
  if (!common_mesh("assign_slots", experts)->absent()) {
    own.local = own.whole;
    std::int64_t groups = 1;
    constexpr auto counted = static_cast<std::size_t>(Experts::rank) - 2;
    for (std::size_t i = 0; i < counted; ++i) groups *= choices.local[i];
    *state = engine::assign_slots<typename Slots::space>(engine::numbers_on_host(experts.local()), groups,
                                                         choices.local[counted + 1], own.whole[0], own.whole[1]);
    engine::write_numbers<typename Slots::space>(state->numbers, numbers.local().data());
  }
  return Slots(numbers, state, choices, own);
}

}  // namespace detail

/// A slot for each choice of each token: `os::assign_slots<E, C>(experts, E = 64, C = 32)`, for experts[…, S, K]. Each
/// expert takes C choices of a group, in the order of tokens, then of choices. Later ones are dropped, and so is a
/// choice that names no expert (−1). A group is an index of the axes before S, which are divided in any way; S and K
/// are whole. For shorter groups split an axis (os::split). Nothing moves.
template <auto E, auto C, Tensor Experts, class... Given>
[[nodiscard]] auto assign_slots(Experts const& experts, Given const&... given) {
  using axis = detail::type_of<E>;
  using slot = detail::type_of<C>;
  using numbers_type = basic_tensor<std::int64_t, sharding_in<Experts>, typename Experts::space>;
  using slots = expert_slots<axis, slot, Experts, numbers_type>;
  using verdict = detail::first_fault<
      typename decltype(detail::check_slots<Experts>())::type,
      typename decltype(detail::check_extents_given<false>(type_list<axis, slot>{}, type_list<Given...>{}))::type>;
  if constexpr (reason::ok_or_raise<verdict>())
    return detail::make_slots<slots, numbers_type>(experts, collect_sizes(given...));
  else
    return detail::refused_choices{};
}

/// x[B_X, S, M] → [E, B_X, C, M]: puts each token into the slots of its experts; empty slots are zero. For y[B_X, S, K,
/// M] it puts each choice into its slot. Nothing moves.
template <TensorOrVariable X, class E, class C, class Experts, class Numbers>
[[nodiscard]] auto dispatch(X const& x, expert_slots<E, C, Experts, Numbers> const& slots) {
  return detail::operate(operation::dispatch<expert_slots<E, C, Experts, Numbers>>{{}, slots}, x);
}

/// y[E, B_X, C, M] → [B_X, S, K, M], the transpose: each choice receives the content of its slot, or zeros if it was
/// dropped. Nothing moves.
template <TensorOrVariable Y, class E, class C, class Experts, class Numbers>
[[nodiscard]] auto collect(Y const& y, expert_slots<E, C, Experts, Numbers> const& slots) {
  return detail::operate(operation::collect<expert_slots<E, C, Experts, Numbers>>{{}, slots}, y);
}

namespace operation {

struct with_capacity {
  static constexpr char const* name = "with_capacity";
};

/// The tensor itself. Its cotangents are summed in its own sharding, so that several products after one move share one
/// move back.
struct gather_cotangents : detail::moves_nothing {
  using result_is_a_view = void;
  static constexpr char const* name = "gather_cotangents";
  template <class X>
  using verdict = reason::ok;
  template <class How, class X>
  X run(How const&, X const& x) const {
    return x;
  }
};

}  // namespace operation

namespace detail {

/// The experts' product in f: rows[E_X, B, C, M], w[E_X, M, F] → [E_X, B, C, F].
template <class E>
struct products_of_slots {
  template <class A, class W>
  auto operator()(A const& rows, W const& w) const {
    using common = difference_of<common_of<axes_in<A>, axes_in<W>>, type_list<E>>;
    using left = without_axes<lasting_sharding<A>, common>;
    using right = without_axes<lasting_sharding<W>, typename unite_lists<common, type_list<E>>::type>;
    return operate(ostraka::operation::einsum<canonical_sharding<left, right>>{}, rows, w);
  }
};

}  // namespace detail

/// A mixture of experts with a capacity. Puts x[…, S, M] into the slots, sends them to their experts by an all-to-all,
/// calls `f(rows, dot, w…)` on rows[E/X, …, C, M], sends the results back, and sums them by `weights` […, S, K].
/// `dot(rows, w)` is the product of each row with its expert's matrix, an einsum along E. A dropped choice adds
/// nothing. On n devices (n−1)/n of the slots move, there and back. Collective over the mesh axes of the experts.
template <auto Dim, class F, TensorOrVariable X, class E, class C, class Experts, class Numbers,
          TensorOrVariable Weights, TensorOrVariable... Ws>
[[nodiscard]] auto with_capacity(F const& f, X const& x, expert_slots<E, C, Experts, Numbers> const& slots,
                                 Weights const& weights, Ws const&... w) {
  if constexpr (!reason::ok_or_raise<detail::is_an_axis_verdict<operation::with_capacity, detail::type_of<Dim>>>()) {
    return detail::after_refused_choices<X>{};
  } else {
    using argument = detail::axis_argument<detail::type_of<Dim>>;
    using types = detail::slots_of<expert_slots<E, C, Experts, Numbers>>;
    auto const sent = dispatch(x, slots);
    using rest = typename types::template rest_of<std::remove_const_t<decltype(sent)>>;
    using mesh = typename argument::mesh;
    using there = detail::canonical_sharding<typename detail::divided_over<E, mesh>::type,
                                             typename detail::left_to<typename types::groups, mesh>::type, C,
                                             typename detail::left_to<rest, mesh>::type>;
    auto const rows =
        detail::operate(operation::gather_cotangents{}, detail::operate(operation::reshard<there>{}, sent, cheapest));
    auto const made = f(rows, detail::products_of_slots<E>{}, w...);
    using made_rest = typename types::template rest_of<std::remove_cvref_t<decltype(made)>>;
    using here = typename types::template dispatched<made_rest>;
    return detail::combined<Experts>(collect(detail::operate(operation::reshard<here>{}, made, cheapest), slots),
                                     weights);
  }
}

/// Stands in for the results on slots that were refused.
template <TensorOrVariable X>
[[nodiscard]] auto dispatch(X const&, detail::refused_choices) {
  return detail::after_refused_choices<X>{};
}
template <TensorOrVariable Y>
[[nodiscard]] auto collect(Y const&, detail::refused_choices) {
  return detail::after_refused_choices<Y>{};
}
template <auto Dim, class F, TensorOrVariable X, class... Rest>
[[nodiscard]] auto with_capacity(F const&, X const&, detail::refused_choices, Rest const&...) {
  return detail::after_refused_choices<X>{};
}

}  // namespace ostraka
