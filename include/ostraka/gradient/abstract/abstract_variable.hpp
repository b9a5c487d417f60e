// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Variables without elements, and how operations on them are recorded (abstract_tape.hpp): the counterpart of
/// variable.hpp and record.hpp in constant expressions.

#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/abstract/abstract_tape.hpp>

namespace ostraka {

/// A tensor without elements whose derivative is predicted.
template <class T, class Cotangent>
class variable<abstract<T>, Cotangent> {
 public:
  using tensor_type = abstract<T>;
  using cotangent_type = Cotangent;
  using value_type = typename T::value_type;
  using sharding_type = typename T::sharding_type;
  using space = typename T::space;
  using axes = typename T::axes;
  using mesh_axes = typename T::mesh_axes;
  static constexpr int rank = T::rank;

  constexpr variable() = default;
  constexpr variable(tensor_type const& value) : value_(value) {}
  constexpr variable(tensor_type const& value, detail::abstract_slot<Cotangent>* slot, detail::abstract_tape* tape)
      : value_(value), slot_(slot), tape_(tape) {}
  constexpr variable(tensor_type const& value, int number, detail::abstract_tape* tape)
      : value_(value), tape_(tape), number_(number) {}
  template <class Other>
    requires(!std::is_same_v<Other, Cotangent>)
  constexpr variable(variable<tensor_type, Other> const& x) : variable(detail::with_cotangent<Cotangent>(x)) {}

  [[nodiscard]] constexpr tensor_type const& value() const { return value_; }
  template <Axis A>
  [[nodiscard]] constexpr std::int64_t extent(A a) const {
    return value_.extent(a);
  }
  [[nodiscard]] constexpr auto const& extents() const { return value_.extents(); }
  [[nodiscard]] constexpr detail::abstract_slot<Cotangent>* slot() const { return slot_; }
  [[nodiscard]] constexpr detail::abstract_tape* tape() const { return tape_; }
  [[nodiscard]] constexpr int number() const { return number_; }

  template <class Other>
  [[nodiscard]] constexpr variable<Other, Cotangent> as(Other const& value) const {
    return {value, slot_, tape_};
  }

  [[nodiscard]] constexpr detail::abstract_recipe_handle const& recipe() const { return recipe_; }
  [[nodiscard]] constexpr variable made_by(detail::abstract_recipe_handle const& recipe) const {
    variable x = *this;
    x.recipe_ = recipe;
    return x;
  }

 private:
  tensor_type value_;
  detail::abstract_slot<Cotangent>* slot_ = nullptr;
  detail::abstract_tape* tape_ = nullptr;
  int number_ = 0;
  detail::abstract_recipe_handle recipe_;
};

namespace detail {

template <class T>
class remembered<abstract<T>> {
 public:
  constexpr explicit remembered(abstract<T> const& x) : value_(x) {}
  constexpr remembered(abstract<T> const& x, abstract_recipe_handle const& again)
      : value_(x.written(), x.extents(), again.block_beside(x.block())), again_(again) {}

  [[nodiscard]] constexpr abstract<T> get() const {
    if (again_) return abstract<T>(value_.written(), value_.extents(), again_.make(value_.written()));
    return value_;
  }

 private:
  abstract<T> value_;
  abstract_recipe_handle again_;
};

/// The result of an operation. A result that a region has saved is not recomputed.
template <class Make>
constexpr auto abstract_result(abstract_tape* t, Make const& make) -> decltype(make()) {
  using type = decltype(make());
  bool const is_saved = t != nullptr && t->is_next_saved();
  if constexpr (is_abstract<type>)
    if (is_saved) return t->saved()->template get<type>(t->number_of_last());
  return make();
}

template <class Sharding, class X, class Policy>
constexpr auto reshard_abstract(X const& x, Policy const& how) {
  auto const value = abstract_result(x.tape(), [&] { return reshard_as<Sharding>(x.value(), how); });
  using from = typename X::tensor_type::tensor_type;
  using to = typename std::remove_cvref_t<decltype(value)>::tensor_type;
  if constexpr (is_after_error<to>) {
    return value;
  } else {
    if (x.tape() != nullptr && x.tape()->is_first_run())
      return variable<abstract<to>, typename X::cotangent_type>(value, x.tape()->number_of_last(), x.tape());
    auto const y = x.as(value);
    if constexpr (is_a_gather<from, Sharding>())
      if (x.tape() != nullptr && x.tape()->gathers_again())
        return y.made_by(abstract_recipe_handle(new abstract_recipe{
            entry_for(value.written(), ostraka::operation::reshard<sharding_in<to>>{}, x.value()),
            value.written()->bytes_of_block(value), x.recipe(), x.recipe().block_beside(x.value().block())}));
    return y;
  }
}

template <class T, class Cotangent>
struct slot_of<variable<abstract<T>, Cotangent>> {
  constexpr explicit slot_of(abstract_node* node) : slot(static_cast<abstract_slot<Cotangent>*>(node)) {}
  static constexpr bool wanted = true;
  using cotangent_type = Cotangent;
  abstract_slot<Cotangent>* slot;

  constexpr void add(Cotangent const& g) const { slot->add(g); }
};

template <class T>
constexpr abstract_node* abstract_slot_node(T const&) {
  return nullptr;
}
template <class T, class Cotangent>
constexpr abstract_node* abstract_slot_node(variable<abstract<T>, Cotangent> const& x) {
  return x.slot();
}

template <class T>
constexpr void find_tape(abstract_tape*&, T const&) {}
template <class T, class Cotangent>
constexpr void find_tape(abstract_tape*& found, variable<abstract<T>, Cotangent> const& x) {
  if (x.tape() != nullptr) found = x.tape();
}

template <class Cotangent, class Pullback, class... Operands>
class abstract_recorded final : public abstract_slot<Cotangent> {
 public:
  constexpr explicit abstract_recorded(Pullback const& pullback, Operands const&... operands)
      : pullback_(pullback), slots_{abstract_slot_node(operands)...} {}

  constexpr ~abstract_recorded() override {}

  constexpr void pull() override {
    if (!this->is_empty())
      propagate_all<slot_of<Operands>...>(pullback_, slots_, this->sum(), std::index_sequence_for<Operands...>{});
  }

 private:
  Pullback pullback_;
  abstract_node* slots_[sizeof...(Operands)];
};

template <class Wanted, class X>
constexpr auto abstract_with_cotangent(X const& x) {
  using type = variable<typename X::tensor_type, Wanted>;
  if (x.tape() == nullptr) return type(x.value());
  if (x.tape()->is_first_run()) return type(x.value(), x.number(), x.tape());
  using recorded_node = abstract_recorded<Wanted, identity_pullback, X>;
  return type(x.value(), x.tape()->template push<recorded_node>(identity_pullback{}, x), x.tape()).made_by(x.recipe());
}

// `made` is the pullback's argument: the result, or the result with its residuals.
template <class Operation, class Result, class Made, class... Given>
constexpr auto record_abstract_result(Operation const& operation, abstract_tape* t, Result const& result,
                                      Made const& made, Given const&... given) {
  using rule = derivative_of<Operation>;
  if constexpr (!is_abstract<Result> || is_constant_result<rule, Result>() || is_after_error<Result>) {
    return result;
  } else {
    using cotangent = cotangent_of_result<rule, Result, Given...>;
    if (t == nullptr) return variable<Result, cotangent>(result);
    if (t->is_first_run()) return variable<Result, cotangent>(result, t->number_of_last(), t);
    auto const pullback = rule::pullback(operation, as_held(made), given...);
    using recorded = abstract_recorded<cotangent, std::remove_cvref_t<decltype(pullback)>, Given...>;
    return variable<Result, cotangent>(result, t->push<recorded>(pullback, given...), t);
  }
}

}  // namespace detail

/// Records an operation on variables of abstract tensors, and returns its result.
template <class Operation, class... Given>
constexpr auto record_abstract(Operation const& operation, Given const&... given) {
  detail::abstract_tape* t = nullptr;
  (detail::find_tape(t, given), ...);
  if constexpr (detail::HasResiduals<Operation>) {
    auto const made = detail::operate_how(detail::with_residuals{}, operation, detail::plain(given)...);
    if constexpr (detail::is_after_error<std::remove_const_t<decltype(made)>>) {
      return made;
    } else {
      auto const result = detail::abstract_result(t, [&] { return made.first; });
      return detail::record_abstract_result(operation, t, result, made, given...);
    }
  } else {
    auto const result = detail::abstract_result(t, [&] { return detail::operate(operation, detail::plain(given)...); });
    return detail::record_abstract_result(operation, t, result, result, given...);
  }
}

namespace detail {

template <class How, class Operation, class... Given>
constexpr auto records_abstract::operate(How const& how, Operation const& operation, Given const&... given) {
  return operate_on_variables<records_abstract>(how, operation, given...);
}
template <class Operation, class... Given>
constexpr auto records_abstract::record(Operation const& operation, Given const&... given) {
  return record_abstract(operation, given...);
}

}  // namespace detail

}  // namespace ostraka
