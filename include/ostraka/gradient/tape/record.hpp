// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. An operation on variables becomes a node of the tape. Its *pullback* is a struct that keeps what the
/// derivative needs. For operand K it converts the result's cotangent to that of the operand, in the sharding that the
/// operand wants:
///
///     template <int K, class Wanted, class G>  Wanted pull(G const& cotangent) const;
///     template <class G>  std::tuple<…> pull_all(G const& cotangent) const;      or those of all operands at once
///
/// It is made of operations that also take variables (public ones, and those of as.hpp). So a backward is planned,
/// counted and described as any program, and has a derivative of its own.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/calls/vocabulary.hpp>
#include <ostraka/gradient/tape/cotangent_kinds.hpp>
#include <ostraka/gradient/tape/remembered.hpp>

namespace ostraka {

namespace detail {

template <class Wanted, class G>
constexpr Wanted summed_to(G const& g);  // of as.hpp

// The slot to which the cotangent of an operand is added; none for a constant.
template <class T>
struct slot_of {
  constexpr explicit slot_of(T const&) {}
  static constexpr bool wanted = false;
};
template <class T, class Cotangent>
struct slot_of<variable<T, Cotangent>> {
  explicit slot_of(variable<T, Cotangent> const& x) : slot(x.slot()) {}
  static constexpr bool wanted = true;
  using cotangent_type = Cotangent;
  using value_varies = varying_in<T>;
  cotangent_slot<Cotangent>* slot;

  /// Adds a cotangent, after converting it to this type.
  template <class G>
  void add(G const& g) const {
    slot->add(settled<Cotangent, value_varies>(g));
  }
};

/// The type that an operand wants from a pullback: its cotangent, varying as the result's cotangent does. At the door
/// of a body, where mesh axes change sides, exactly its cotangent.
template <class Pullback, class Slot, class G>
struct wanted_of {
  using type = cotangent_along<typename Slot::cotangent_type, varying_in<G>>;
};
template <class Pullback, class Slot, class G>
  requires requires { typename Pullback::is_door; }
struct wanted_of<Pullback, Slot, G> {
  using type = typename Slot::cotangent_type;
};

[[noreturn, gnu::cold]] inline void throw_consumed_tape() {
  throw_error(
      "value_and_grad: a variable lives as long as the call of the function that it was handed to, or made in; this one is of a call that has "
      "ended; keep its value by os::stop_gradient(x), or return it");
}

template <class T>
tape* tape_of(T const&) {
  return nullptr;
}
template <class T, class Cotangent>
constexpr auto* tape_of(variable<T, Cotangent> const& x) {
  if constexpr (!is_abstract<T>)
    if (!x.is_live()) throw_consumed_tape();
  return x.tape();
}

/// The sum of a variable's cotangents, if there were any.
template <class Cotangent>
struct cotangent_sum {
  bool is_empty;
  Cotangent sum;
};

[[noreturn, gnu::cold]] inline void throw_other_tape() {
  throw_error(
      "value_and_grad: variables that meet are of one derivative, but one of these is of an outer os::value_and_grad, or was captured by a "
      "function of os::checkpoint; hand it over as an argument, or its value by os::stop_gradient(x)");
}

inline void join_tapes(tape*& all, tape* one) {
  if (one == nullptr) return;
  if (all != nullptr && all != one) throw_other_tape();
  all = one;
}

/// Adds a cotangent to the slot of an operand. `Pullback` is the pullback that computed it.
template <class Pullback, class Slot, class G>
constexpr void hand_on(Slot const& to, G const& g) {
  if constexpr (Slot::wanted)
    if (to.slot != nullptr) to.add(summed_to<typename wanted_of<Pullback, Slot, G>::type>(g));
}
template <class Pullback, class Slot>
constexpr void hand_on(Slot const&, not_kept const&) {}
template <class Pullback, class Slot, class Sum>
constexpr void hand_on(Slot const& to, cotangent_sum<Sum> const& g) {
  if constexpr (Slot::wanted)
    if (!g.is_empty && to.slot != nullptr) to.slot->add(g.sum);
}

template <int K, class Pullback, class Slot, class G>
constexpr void pull_one(Pullback const& pullback, Slot const& to, G const& g) {
  if constexpr (Slot::wanted)
    if (to.slot != nullptr) to.add(pullback.template pull<K, typename wanted_of<Pullback, Slot, G>::type>(g));
}

/// Runs a pullback on the cotangent g, and adds the results to the slots of all operands. Serves nodes that run and
/// predicted ones.
template <class Pullback, class... Slots, class G>
constexpr void hand_all_on(Pullback const& pullback, std::tuple<Slots...> const& slots, G const& g) {
  if constexpr (requires { pullback.pull_all(g); }) {  // not within the lambda, where nvcc compiles both branches
    auto const all = pullback.pull_all(g);
    [&]<std::size_t... Ks>(std::index_sequence<Ks...>) {
      (hand_on<Pullback>(std::get<Ks>(slots), std::get<Ks>(all)), ...);
    }(std::index_sequence_for<Slots...>{});
  } else {
    [&]<std::size_t... Ks>(std::index_sequence<Ks...>) {
      (pull_one<static_cast<int>(Ks)>(pullback, std::get<Ks>(slots), g), ...);
    }(std::index_sequence_for<Slots...>{});
  }
}

/// The node of an operation on operands of these types.
template <class Cotangent, class Pullback, class... Operands>
class recorded : public cotangent_slot<Cotangent> {
 public:
  template <class Make>
  explicit recorded(Make const& make_pullback, Operands const&... operands)
      : cotangent_slot<Cotangent>(end), pullback_(make_pullback()), slots_(slot_of<Operands>(operands)...) {}

 private:
  friend struct ended_node<recorded>;
  ~recorded() = default;

  static void end(tape_node& node, bool pulls) {
    ended_node<recorded> const ends{static_cast<recorded&>(node)};
    if (pulls && !ends.node.is_empty()) hand_all_on(ends.node.pullback_, ends.node.slots_, ends.node.sum());
  }

  Pullback pullback_;
  std::tuple<slot_of<Operands>...> slots_;
};

template <class... Operands>
tape* common_tape(Operands const&... operands) {
  tape* all = nullptr;
  (join_tapes(all, tape_of(operands)), ...);
  return all;
}

/// The result of an operation on the tape `t`; in a region perhaps a saved one.
template <class Make>
auto result_with(tape* t, Make const& make) -> decltype(make()) {
  if (t != nullptr && t->saved() != nullptr)
    if (auto const* const saved = t->next_saved<decltype(make())>()) return *saved;
  return make();
}

inline int number_of_last(tape const* t) { return t == nullptr ? 0 : t->number_of_last(); }

/// The result of an operation as a variable whose cotangents have the type `Cotangent`. `make_pullback` makes the
/// pullback in place, because a pullback holds tensors, which are not copied around.
template <class Cotangent, class Result, class Make, class... Operands>
variable<Result, Cotangent> record_made(tape* t, int number, Result& result, Make const& make_pullback,
                                        Operands const&... operands) {
  if (t == nullptr || t->is_first_run()) return {std::move(result), number, t};  // of constants, or without nodes
  auto* const node = t->push<recorded<Cotangent, decltype(make_pullback()), Operands...>>(make_pullback, operands...);
  return {std::move(result), node, t};
}

/// The same with a given pullback. It has no number: a region computes it again.
template <class Cotangent, class Result, class Pullback, class... Operands>
auto record_as(Result result, Pullback const& pullback, Operands const&... operands) {
  return record_made<Cotangent>(common_tape(operands...), 0, result, [&] { return pullback; }, operands...);
}

/// The base of a derivative_of whose operation gives no real numbers: its result is a constant.
struct locally_constant {};

/// True if `T` has a derivative: floating point or complex.
template <class T>
inline constexpr bool is_differentiable = std::is_floating_point_v<T> || is_narrow<T> || complex_number<T>;

/// True for results that are constants, without a rule: bools and integers.
template <class Rule, class Result>
consteval bool is_constant_result() {
  if constexpr (requires { typename Result::value_type; })
    if constexpr (!is_differentiable<typename Result::value_type>) return true;
  if constexpr (requires { sizeof(Rule); })
    return std::is_base_of_v<locally_constant, Rule>;
  else
    return false;
}

}  // namespace detail

/// The derivative of an operation: a specialisation for the operation's struct, beside its family in gradient/rules/.
template <class Operation>
struct derivative_of;

namespace detail {

template <class Operation>
consteval char const* name_of_operation() {
  if constexpr (requires { Operation::name(); })
    return Operation::name();
  else if constexpr (requires { Operation::name; })
    return Operation::name;
  else
    return nullptr;
}

template <class Operation>
concept HasResiduals = requires { typename Operation::has_residuals; };

// Records an operation whose pullback takes the residuals with the result. If a region has saved the result, the
// residuals are computed again.
template <class Operation, class... Given>
auto record_with_residuals(Operation const& operation, Given const&... given) {
  using rule = derivative_of<Operation>;
  tape* const t = common_tape(given...);
  auto const made = operate_how(with_residuals{}, operation, plain(given)...);
  if constexpr (is_after_error<std::remove_const_t<decltype(made)>>) {
    return made;
  } else {
    auto result = result_with(t, [&] { return made.first; });
    if (t != nullptr) t->name_next(name_of_operation<Operation>());
    return record_made<cotangent_of_result<rule, decltype(result), Given...>>(
        t, number_of_last(t), result, [&] { return rule::pullback(operation, made, given...); }, given...);
  }
}

/// Makes the result of an operation again from its operands.
template <class T, class Operation, class... Given>
class done_again final : public recipe<T> {
 public:
  explicit done_again(Operation const& operation, Given const&... given)
      : operation_(operation), given_(remember(given)...) {}

 private:
  T make() const override {
    return std::apply([&](auto const&... given) { return operate(operation_, given.get()...); }, given_);
  }

  Operation operation_;
  std::tuple<remembered<plain_type<Given>>...> given_;
};

/// The base of a derivative_of whose operation os::save_all_but_gathers does again. An operation that passes on the
/// cotangents that its operand wants (a rename, a cast) is done again if its operand was gathered.
struct gathers {};

template <class X>
bool has_recipe(X const& x) {
  if constexpr (is_variable<X>)
    return static_cast<bool>(x.recipe());
  else
    return false;
}

// Records the result of an operation on these operands.
template <class Operation, class Result, class... Given>
auto record_result(Operation const& operation, tape* t, int number, Result& result, Given const&... given) {
  using rule = derivative_of<Operation>;
  if constexpr (is_constant_result<rule, Result>() || is_after_error<Result>) {
    return result;
  } else {
    if (t != nullptr) t->name_next(name_of_operation<Operation>());
    auto const y = record_made<cotangent_of_result<rule, Result, Given...>>(
        t, number, result, [&] { return rule::pullback(operation, as_held(result), given...); }, given...);
    constexpr bool is_a_gather = std::is_base_of_v<gathers, rule>;
    if constexpr (is_a_gather || hands_on<rule, Result, Given...>)
      if (t != nullptr && t->gathers_again() && (is_a_gather || (has_recipe(given) || ...)))
        return y.made_by(recipe_handle<Result>(new done_again<Result, Operation, Given...>(operation, given...)));
    return y;
  }
}

}  // namespace detail

namespace detail {

template <class Operation, class... Given>
constexpr auto record(Operation const& operation, Given const&... given) {
  if constexpr (HasResiduals<Operation>) {
    return record_with_residuals(operation, given...);
  } else {
    tape* const t = common_tape(given...);
    auto const make = [&] { return operate(operation, plain(given)...); };
    auto result = result_with(t, make);
    return record_result(operation, t, number_of_last(t), result, given...);
  }
}

/// Operates on variables, for all interpreters of variables. `Innermost` records for variables of the innermost
/// derivative.
template <class Innermost, class How, class Operation, class... Given>
constexpr auto operate_on_variables(How const&, Operation const& operation, Given const&... given) {
  constexpr int depth = depth_of_all<Given...>;
  if constexpr (std::is_same_v<How, at_once>) {
    if constexpr (requires { derivative_of<Operation>::composed(operation, given...); })
      return derivative_of<Operation>::composed(operation, given...);  // other operations, recorded one by one
    else if constexpr (((is_variable<Given> && depth_of<Given> < depth) || ...))
      return operate(operation, at_depth<depth>(given)...);  // others are constants to the innermost
    else
      return Innermost::record(operation, given...);
  } else if constexpr (std::is_same_v<How, with_residuals>) {
    return derivative_of<Operation>::with_residuals(operation, given...);  // by operations that have derivatives
  } else if constexpr (requires { typename Operation::is_collective; } && !is_into<How>) {
    return start_on_variable(operation, given...);
  } else {
    reason::raise<reason::verb_takes_no_variables<Given...>>();
    return refused_result<How, Operation, plain_type<Given>...>();
  }
}

template <class How, class Operation, class... Given>
constexpr auto records::operate(How const& how, Operation const& operation, Given const&... given) {
  return operate_on_variables<records>(how, operation, given...);
}
template <class Operation, class... Given>
constexpr auto records::record(Operation const& operation, Given const&... given) {
  return detail::record(operation, given...);
}

}  // namespace detail

}  // namespace ostraka
