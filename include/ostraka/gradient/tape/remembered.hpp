// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The value of an operand or a result that a pullback keeps until the tape unwinds: `remember(x)`, read by
/// `.get()`. It is the tensor, or a *recipe* that recomputes it, if x has one and the policy of its region is
/// os::save_all_but_gathers.

#include <utility>

#include <ostraka/calls/operate.hpp>
#include <ostraka/gradient/tape/recipe.hpp>
#include <ostraka/gradient/tape/variable.hpp>

namespace ostraka::detail {

/// A value that a pullback needs.
template <class T>
class remembered {
 public:
  explicit remembered(T const& x) : value_(static_cast<without_names<T> const&>(x)) {}
  explicit remembered(recipe_of<T> const& again) : again_(again) {}

  [[nodiscard]] T get() const { return again_ ? T(again_.get()) : T(value_); }

 private:
  without_names<T> value_{};
  recipe_of<T> again_;
};

// Numbers and policies have no recipes.
template <class T>
  requires(!TensorOrVariable<T>)
class remembered<T> {
 public:
  explicit remembered(T const& x) : value_(x) {}
  [[nodiscard]] T const& get() const { return value_; }

 private:
  T value_;
};

/// Remembers the value of a variable, or a constant, a result or a number itself.
template <class X>
[[nodiscard]] constexpr remembered<plain_type<X>> remember(X const& x) {
  if constexpr (is_abstract_variable<X>)
    return remembered<plain_type<X>>(x.value(), x.recipe());
  else if constexpr (is_variable<X> && !is_abstract<X>)
    if (x.recipe()) return remembered<plain_type<X>>(x.recipe());
  return remembered<plain_type<X>>(plain(x));
}

/// Takes the place of an operand that a pullback does not need.
struct not_kept {
  template <class T>
  constexpr explicit not_kept(T const&) {}
};

/// A remembered<…> if the derivative needs the operand, else a not_kept.
template <bool Needed, class X>
[[nodiscard]] constexpr auto remember_if(X const& x) {
  if constexpr (Needed)
    return remember(x);
  else
    return not_kept(x);
}

template <bool Needed, class X>
using kept = decltype(remember_if<Needed>(std::declval<X const&>()));

}  // namespace ostraka::detail
