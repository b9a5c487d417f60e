// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A product of two tensors on the tape, and its derivative, which is two products. The facts in their types
/// are constants, and one function records all products of the same ranks, so that a distinct one adds only its
/// constants and a call to a program.

#include <ostraka/calls/planned_call.hpp>
#include <ostraka/gradient/tape/record.hpp>

namespace ostraka::detail {

/// A product and its derivative as constants.
template <class T, class Space>
struct product_and_derivative {
  char const* name = nullptr;
  void const* type_of_result = nullptr;         ///< its mark, by which regions find saved results
  planned_operation<T, Space> product{};        ///< of the two operands
  planned_operation<T, Space> cotangents[2]{};  ///< of the result's cotangent and the other operand, for each variable
};

/// An operand as functions for all shardings take it: its value, and a variable's place on the tape.
template <class Value, class Sum>
struct factor {
  Value const& value;
  place_on_tape<Value, Sum> const* place;  ///< none for a constant

  [[nodiscard]] slot_of_sum<Sum>* slot() const { return place == nullptr ? nullptr : place->slot; }
  [[nodiscard]] tape* live() const { return place == nullptr ? nullptr : live_tape(place->on); }
};

/// The value of a factor, or its recipe, if a node needs it.
template <class Value>
struct kept_factor {
  template <class Sum>
  kept_factor(factor<Value, Sum> const& x, bool is_needed) {
    if (!is_needed) return;
    if (x.place != nullptr && x.place->recipe)
      again = x.place->recipe;
    else
      value = x.value;
  }
  [[nodiscard]] Value get() const { return again ? again.get() : value; }

  Value value{};
  recipe_handle<Value> again{};
};

/// The node of a product. `Values` and `Sums` are those of the operands and their cotangents.
template <class T, class Space, class Result, class A, class SumOfA, class B, class SumOfB>
class product_node final : public slot_of_sum<Result> {
 public:
  using constants = product_and_derivative<T, Space>;

  product_node(constants const& all, factor<A, SumOfA> const& a, factor<B, SumOfB> const& b)
      : slot_of_sum<Result>(run_node<product_node>),
        all_(all),
        slot_of_a_(a.slot()),
        slot_of_b_(b.slot()),
        a_(a, b.place != nullptr),
        b_(b, a.place != nullptr) {}

 private:
  friend void run_node<product_node>(tape_node&, bool);
  ~product_node() = default;

  [[gnu::cold]] void pull_back() {
    if (this->is_empty()) return;
    if (slot_of_a_ != nullptr) pull(all_.cotangents[0], b_, *slot_of_a_);
    if (slot_of_b_ != nullptr) pull(all_.cotangents[1], a_, *slot_of_b_);
  }

  template <class Other, class Sum>
  void pull(planned_operation<T, Space> const& product, kept_factor<Other> const& other, slot_of_sum<Sum>& to) const {
    Sum g;
    run_on_two(product, all_.name, this->sum(), other.get(), g);
    to.add(g);
  }

  constants const& all_;
  slot_of_sum<SumOfA>* slot_of_a_;
  slot_of_sum<SumOfB>* slot_of_b_;
  kept_factor<A> a_;
  kept_factor<B> b_;
};

/// Writes the product of two operands to `y`, and puts it on their tape.
template <class T, class Space, class A, class SumOfA, class B, class SumOfB, class Result>
[[gnu::cold, gnu::noinline]] void record_product(product_and_derivative<T, Space> const& all,
                                                 factor<A, SumOfA> const& a, factor<B, SumOfB> const& b, Result& y,
                                                 place_on_tape<Result, Result>& place) {
  tape* t = a.live();
  join_tapes(t, b.live());
  Result const* saved = nullptr;
  if (t != nullptr && t->saved() != nullptr) saved = t->next_saved<Result>(all.type_of_result);
  if (saved != nullptr)
    y = *saved;
  else
    run_on_two(all.product, all.name, a.value, b.value, y);
  if (t == nullptr) return;
  t->name_next(all.name);
  place.on = t;
  if (t->is_first_run())  // writes no nodes
    place.number = t->number_of_last();
  else
    place.slot = t->push<product_node<T, Space, Result, A, SumOfA, B, SumOfB>>(all, a, b);
}

/// A tensor or variable as a factor.
template <class A>
auto as_factor(A const& x) {
  return factor<without_names<A>, without_names<cotangent_of<A>>>{x, nullptr};
}
template <class T, class Cotangent>
auto as_factor(variable<T, Cotangent> const& x) {
  return factor<without_names<T>, without_names<Cotangent>>{x.value(), &x.place()};
}

}  // namespace ostraka::detail
