// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. A product of two tensors on the tape, and its derivative, which is two products: one function records all
/// products of the same ranks (shared_node.hpp).

#include <ostraka/calls/planned_call.hpp>
#include <ostraka/gradient/tape/shared_node.hpp>

namespace ostraka::detail {

/// A product and its derivative as constants.
template <class T, class Space>
struct product_and_derivative {
  char const* name = nullptr;
  void const* type_of_result = nullptr;         ///< its mark, by which regions find saved results
  planned_operation<T, Space> product{};        ///< of the two operands
  planned_operation<T, Space> cotangents[2]{};  ///< of the result's cotangent and the other operand, for each variable
};

/// The pullback of a product. `A`, `B` are the types of the operands, `SumOfA`, `SumOfB` of the sums of their
/// cotangents.
template <class T, class Space, class A, class SumOfA, class B, class SumOfB>
class shared_product_pullback {
 public:
  shared_product_pullback(product_and_derivative<T, Space> const& all, shared_operand<A, SumOfA> const& a,
                          shared_operand<B, SumOfB> const& b)
      : all_(all), slot_of_a_(a.slot()), slot_of_b_(b.slot()), a_(a, b.place != nullptr), b_(b, a.place != nullptr) {}

  template <class G>
  void pull(G const& g) const {
    if (slot_of_a_ != nullptr) pull_to(*slot_of_a_, all_.cotangents[0], g, b_);
    if (slot_of_b_ != nullptr) pull_to(*slot_of_b_, all_.cotangents[1], g, a_);
  }

 private:
  template <class Sum, class G, class Other>
  void pull_to(slot_of_sum<Sum>& to, planned_operation<T, Space> const& product, G const& g,
               kept_operand<Other> const& other) const {
    Sum made;
    run_on_two(product, all_.name, g, other.get(), made);
    to.add(made);
  }

  product_and_derivative<T, Space> const& all_;
  slot_of_sum<SumOfA>* slot_of_a_;
  slot_of_sum<SumOfB>* slot_of_b_;
  kept_operand<A> a_;
  kept_operand<B> b_;
};

/// Writes the product of two operands to `y`, and puts it on their tape.
template <class T, class Space, class A, class SumOfA, class B, class SumOfB, class Result>
[[gnu::cold, gnu::noinline]] void record_product(product_and_derivative<T, Space> const& all,
                                                 shared_operand<A, SumOfA> const& a, shared_operand<B, SumOfB> const& b,
                                                 Result& y, place_on_tape<Result, Result>& place) {
  tape* const t = tape_of_operands(a, b);
  if (Result const* const saved = saved_result<Result>(t, all.type_of_result))
    y = *saved;
  else
    run_on_two(all.product, all.name, a.value, b.value, y);
  put_on_tape<shared_product_pullback<T, Space, A, SumOfA, B, SumOfB>>(t, all.name, place, all, a, b);
}

}  // namespace ostraka::detail
