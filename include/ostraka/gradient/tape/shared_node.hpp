// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. An operation on the tape with a record, node and pullback that know no names: the facts in its types are
/// constants, and one function records all operations of a kind on tensors of the same ranks. So a distinct operation
/// adds only its constants and a call to a program.

#include <ostraka/gradient/tape/record.hpp>

namespace ostraka::detail {

/// An operand as functions for all shardings take it: its value, and a variable's place on the tape.
template <class Value, class Sum>
struct shared_operand {
  Value const& value;
  place_on_tape<Value, Sum> const* place;  ///< none for a constant

  [[nodiscard]] slot_of_sum<Sum>* slot() const { return place == nullptr ? nullptr : place->slot; }
  [[nodiscard]] tape* live() const { return place == nullptr ? nullptr : live_tape(place->on); }
};

/// The operand of this rank, and the place of a result of this rank.
template <class T, int Rank, class Space>
using shared_tensor = shared_operand<unnamed_tensor<T, Rank, Space>, unnamed_tensor<T, Rank, Space>>;
template <class T, int Rank, class Space>
using place_of_tensor = place_on_tape<unnamed_tensor<T, Rank, Space>, unnamed_tensor<T, Rank, Space>>;

/// A tensor or variable as such an operand.
template <class A>
auto as_shared_operand(A const& x) {
  return shared_operand<without_names<A>, without_names<cotangent_of<A>>>{x, nullptr};
}
template <class T, class Cotangent>
auto as_shared_operand(variable<T, Cotangent> const& x) {
  return shared_operand<without_names<T>, without_names<Cotangent>>{x.value(), &x.place()};
}

/// The value of an operand, or its recipe, if a node needs it.
template <class Value>
struct kept_operand {
  template <class Sum>
  kept_operand(shared_operand<Value, Sum> const& x, bool is_needed) {
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

/// The node of a result without its names. `Pullback` has a `pull(g)`, which adds to the slots of its operands.
template <class Result, class Pullback>
class shared_node final : public slot_of_sum<Result> {
 public:
  template <class... Arguments>
  explicit shared_node(Arguments const&... arguments)
      : slot_of_sum<Result>(run_node<shared_node>), pullback_(arguments...) {}

 private:
  friend void run_node<shared_node>(tape_node&, bool);
  ~shared_node() = default;

  [[gnu::cold]] void pull_back() {
    if (!this->is_empty()) pullback_.pull(this->sum());
  }

  Pullback pullback_;
};

/// The tape of the operands; none if all are constants. Throws if there are two.
template <class... Operands>
tape* tape_of_operands(Operands const&... operands) {
  tape* t = nullptr;
  (join_tapes(t, operands.live()), ...);
  return t;
}

/// The result of the operation that a region saved, or nullptr. `type` is the mark of its type.
template <class Result>
Result const* saved_result(tape* t, void const* type) {
  return t != nullptr && t->saved() != nullptr ? t->next_saved<Result>(type) : nullptr;
}

/// Puts a result on the tape. The arguments are passed to the pullback's constructor.
template <class Pullback, class Result, class... Arguments>
void put_on_tape(tape* t, char const* name, place_on_tape<Result, Result>& place, Arguments const&... arguments) {
  if (t == nullptr) return;
  t->name_next(name);
  place.on = t;
  if (t->is_first_run())  // which writes no nodes
    place.number = t->number_of_last();
  else
    place.slot = t->push<shared_node<Result, Pullback>>(arguments...);
}

}  // namespace ostraka::detail
