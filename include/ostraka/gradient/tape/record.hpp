// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. An operation on variables becomes a node of the tape. Its *pullback* is a struct that keeps what the
/// derivative needs. For operand K it converts the result's cotangent to the operand's, in the sharding of the
/// operand's cotangents:
///
///     template <int K, class Wanted, class G>  Wanted pull(G const& cotangent) const;
///     template <class G>  std::tuple<…> pull_all(G const& cotangent) const;      or all operands' in one call
///
/// It consists of operations that also accept variables (public ones, and those of as.hpp). So a backward is planned,
/// counted and described like any program, and has a derivative of its own.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/calls/operate.hpp>
#include <ostraka/gradient/tape/cotangent_kinds.hpp>
#include <ostraka/gradient/tape/recompute.hpp>
#include <ostraka/gradient/tape/remembered.hpp>

namespace ostraka {

namespace detail {

template <class Wanted, class G>
constexpr Wanted summed_to(G const& g);  // of as.hpp

// The slot to which the cotangent of an operand is added; none for a constant.
template <class T>
struct slot_of {
  constexpr explicit slot_of(T const&) {}
  template <class Node>
  constexpr explicit slot_of(Node*) {}
  static constexpr bool wanted = false;
};
template <class T, class Cotangent>
struct slot_of<variable<T, Cotangent>> {
  explicit slot_of(variable<T, Cotangent> const& x) : slot(x.slot()) {}
  explicit slot_of(tape_node* node) : slot(static_cast<cotangent_slot<Cotangent>*>(node)) {}
  static constexpr bool wanted = true;
  using cotangent_type = Cotangent;
  using value_varies = varying_in<T>;
  cotangent_slot<Cotangent>* slot;

  /// Adds a cotangent after converting it to the slot's type.
  template <class G>
  void add(G const& g) const {
    slot->add(settled<Cotangent, value_varies>(g));
  }
};

/// The type that a pullback returns for an operand: the operand's cotangent, varying as the result's cotangent does. At
/// the door of a body, where the varying mesh axes change, exactly the operand's cotangent.
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
      "value_and_grad: a variable lives as long as the call of the function that it was handed to, or made in; this "
      "one is of a call that has ended; keep its value by os::stop_gradient(x), or return it");
}

/// The tape of this handle; throws if it has ended.
[[gnu::cold, gnu::noinline]] inline tape* live_tape(tape_handle const& handle) {
  if (!handle.is_live()) throw_consumed_tape();
  return handle.at;
}

template <class T>
tape* tape_of(T const&) {
  return nullptr;
}
template <class T, class Cotangent>
constexpr auto* tape_of(variable<T, Cotangent> const& x) {
  if constexpr (is_abstract<T>)
    return x.tape();
  else
    return live_tape(x.tape_handle());
}

/// The sum of a variable's cotangents, if there were any.
template <class Cotangent>
struct cotangent_sum {
  bool is_empty;
  Cotangent sum;
};

[[noreturn, gnu::cold]] inline void throw_other_tape() {
  throw_error(
      "value_and_grad: variables that meet are of one derivative, but one of these is of an outer os::value_and_grad, "
      "or was captured by a "
      "function of os::checkpoint; hand it over as an argument, or its value by os::stop_gradient(x)");
}


inline void join_tapes(tape*& all, tape* one) {
  if (one == nullptr) return;
  if (all != nullptr && all != one) throw_other_tape();
  all = one;
}

/// Adds a cotangent to the slot of an operand. `Pullback` is the pullback that computed it.
template <class Pullback, class Slot, class G>
constexpr void propagate(Slot const& to, G const& g) {
  if constexpr (Slot::wanted)
    if (to.slot != nullptr) to.add(summed_to<typename wanted_of<Pullback, Slot, G>::type>(g));
}
template <class Pullback, class Slot>
constexpr void propagate(Slot const&, not_kept const&) {}
template <class Pullback, class Slot, class Sum>
constexpr void propagate(Slot const& to, cotangent_sum<Sum> const& g) {
  if constexpr (Slot::wanted)
    if (!g.is_empty && to.slot != nullptr) to.slot->add(g.sum);
}

template <int K, class Pullback, class Slot, class G>
constexpr void pull_one(Pullback const& pullback, Slot const& to, G const& g) {
  if constexpr (Slot::wanted)
    if (to.slot != nullptr) to.add(pullback.template pull<K, typename wanted_of<Pullback, Slot, G>::type>(g));
}

/// Runs a pullback on the cotangent g, and adds the results to the slots of all operands. slots[k] is the node whose
/// slot has the k-th type of `Slots`. Serves both real and predicted nodes.
template <class... Slots, class Pullback, class Node, class G, std::size_t... Ks>
[[gnu::cold]] constexpr void propagate_all(Pullback const& pullback, Node* const* slots, G const& g,
                                           std::index_sequence<Ks...>) {
  if constexpr (requires { pullback.pull_all(g); }) {
    auto const all = pullback.pull_all(g);
    (propagate<Pullback>(Slots(slots[Ks]), std::get<Ks>(all)), ...);
  } else {
    (pull_one<static_cast<int>(Ks)>(pullback, Slots(slots[Ks]), g), ...);
  }
}

// The node to whose slot the cotangents of an operand are added; nullptr for a constant.
template <class T>
tape_node* slot_node(T const&) {
  return nullptr;
}
template <class T, class Cotangent>
tape_node* slot_node(variable<T, Cotangent> const& x) {
  return x.slot();
}

/// The node of an operation on operands of these types.
template <class Cotangent, class Pullback, class... Operands>
class recorded : public cotangent_slot<Cotangent> {
 public:
  template <class Make>
  explicit recorded(Make const& make_pullback, Operands const&... operands)
      : cotangent_slot<Cotangent>(run_node<recorded>), pullback_(make_pullback()), slots_{slot_node(operands)...} {}

 private:
  friend void run_node<recorded>(tape_node&, bool);
  ~recorded() = default;

  [[gnu::cold]] void pull_back() {
    if (this->is_empty()) return;
    Cotangent g;
    this->move_sum_to(g);
    propagate_all<slot_of<Operands>...>(pullback_, slots_, g, std::index_sequence_for<Operands...>{});
  }

  Pullback pullback_;
  tape_node* slots_[sizeof...(Operands)];  // without their types: a std::tuple would cost a class for each operand
};

/// The common tape of these handles, or nullptr; throws if there are two tapes.
[[gnu::cold, gnu::noinline]] inline tape* common_tape_of(tape_handle const* handles, int count) {
  tape* all = nullptr;
  for (int k = 0; k < count; ++k) join_tapes(all, live_tape(handles[k]));
  return all;
}

template <class T>
tape_handle tape_handle_of(T const&) {
  return {};
}
template <class T, class Cotangent>
tape_handle tape_handle_of(variable<T, Cotangent> const& x) {
  return x.tape_handle();
}

template <class... Operands>
tape* common_tape(Operands const&... operands) {
  tape_handle const handles[] = {tape_handle_of(operands)...};
  return common_tape_of(handles, static_cast<int>(sizeof...(Operands)));
}

/// The result of an operation on the tape `t`; in a region perhaps a saved one.
template <class Make>
auto result_with(tape* t, Make const& make) -> decltype(make()) {
  using result = decltype(make());
  if (t != nullptr && t->saved() != nullptr)
    if (auto const* const saved = t->next_saved<without_names<result>>(&type_mark<result>)) return result(*saved);
  return make();
}

inline int number_of_last(tape const* t) { return t == nullptr ? 0 : t->number_of_last(); }

/// Puts y, the result of an operation, on the tape `t`; if t is null, y stays a constant. `make_pullback` makes the
/// pullback in place, because a pullback holds tensors, which should not be copied.
template <class Result, class Cotangent, class Make, class... Operands>
[[gnu::cold]] void record_made(variable<Result, Cotangent>& y, tape* t, int number, Make const& make_pullback,
                               Operands const&... operands) {
  if (t == nullptr) return;
  if (t->is_first_run())  // which writes no nodes
    y.set_number(number, t);
  else
    y.set_slot(t->push<recorded<Cotangent, decltype(make_pullback()), Operands...>>(make_pullback, operands...), t);
}

/// The result as a variable whose cotangents have the type `Cotangent`, with a given pullback. It has no number, so a
/// region recomputes it.
template <class Cotangent, class Result, class Pullback, class... Operands>
auto record_as(Result result, Pullback const& pullback, Operands const&... operands) {
  variable<Result, Cotangent> y(made_in_place{}, [&] { return std::move(result); });
  record_made(y, common_tape(operands...), 0, [&] { return pullback; }, operands...);
  return y;
}

/// The base of a derivative_of for an operation whose result is always a constant.
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
// residuals are recomputed.
template <class Operation, class... Given>
[[gnu::cold]] auto record_with_residuals(Operation const& operation, Given const&... given) {
  using rule = derivative_of<Operation>;
  tape* const t = common_tape(given...);
  auto const made = operate_how(with_residuals{}, operation, plain(given)...);
  if constexpr (is_after_error<std::remove_const_t<decltype(made)>>) {
    return made;
  } else {
    using result = std::remove_cvref_t<decltype(made.first)>;
    variable<result, cotangent_of_result<rule, result, Given...>> y(
        made_in_place{}, [&] { return result_with(t, [&] { return made.first; }); });
    if (t != nullptr) t->name_next(name_of_operation<Operation>());
    record_made(y, t, number_of_last(t), [&] { return rule::pullback(operation, made, given...); }, given...);
    return y;
  }
}

// Records y, the result of an operation on these operands.
template <class Operation, class Result, class Cotangent, class... Given>
[[gnu::cold, gnu::noinline]] void record_variable(variable<Result, Cotangent>& y, Operation const& operation, tape* t,
                                                  int number, Given const&... given) {
  using rule = derivative_of<Operation>;
  if (t == nullptr) return;
  t->name_next(name_of_operation<Operation>());
  record_made(y, t, number, [&] { return rule::pullback(operation, as_held(y.value()), given...); }, given...);
  constexpr bool is_a_gather = std::is_base_of_v<gathers, rule>;
  if constexpr (is_a_gather || has_operand_cotangent<rule, Result, Given...>)
    if (t->gathers_again() && (is_a_gather || (has_recipe(given) || ...)))
      y.set_recipe(recomputing_recipe<Result>(operation, given...));
}

// Records the result that `make` returns, of an operation on these operands. Its number in a region is the last one of
// `numbers`, or 0.
template <class Operation, class Make, class... Given>
[[gnu::cold]] auto record_result(Operation const& operation, tape* t, tape const* numbers, Make const& make,
                                 Given const&... given) {
  using rule = derivative_of<Operation>;
  using result = decltype(make());
  if constexpr (is_constant_result<rule, result>() || is_after_error<result>) {
    return make();
  } else {
    variable<result, cotangent_of_result<rule, result, Given...>> y(made_in_place{}, make);
    record_variable(y, operation, t, number_of_last(numbers), given...);
    return y;
  }
}

}  // namespace detail

namespace detail {

template <class Operation, class... Given>
constexpr auto record(Operation const& operation, Given const&... given) {
  if constexpr (requires { derivative_of<Operation>::record(operation, given...); }) {
    return derivative_of<Operation>::record(operation, given...);
  } else if constexpr (HasResiduals<Operation>) {
    return record_with_residuals(operation, given...);
  } else {
    tape* const t = common_tape(given...);
    auto const make = [&] { return operate(operation, plain(given)...); };
    return record_result(operation, t, t, [&] { return result_with(t, make); }, given...);
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
      return operate(operation, at_depth<depth>(given)...);  // variables of outer derivatives are constants to the
                                                             // innermost
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
