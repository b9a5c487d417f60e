// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The recipe of an operation's result: repeats the operation with the same operands.

#include <tuple>

#include <ostraka/calls/operate.hpp>
#include <ostraka/gradient/tape/recipe.hpp>
#include <ostraka/gradient/tape/remembered.hpp>

namespace ostraka::detail {

/// Recomputes the result of an operation from its operands.
template <class Value, class Operation, class... Given>
class recompute final : public recipe<Value> {
 public:
  explicit recompute(Operation const& operation, Given const&... given)
      : recipe<Value>(run), operation_(operation), given_(remember(given)...) {}

 private:
  [[gnu::cold]] static void run(any_recipe& base, void* value) {
    auto& self = static_cast<recompute&>(base);
    if (value == nullptr)
      delete &self;
    else
      *static_cast<Value*>(value) =
          std::apply([&](auto const&... given) { return operate(self.operation_, given.get()...); }, self.given_);
  }

  Operation operation_;
  std::tuple<remembered<plain_type<Given>>...> given_;
};

template <class T, class Operation, class... Given>
[[gnu::cold, gnu::noinline]] recipe_of<T> recomputing_recipe(Operation const& operation, Given const&... given) {
  return recipe_of<T>(new recompute<without_names<T>, Operation, Given...>(operation, given...));
}

/// The base of a derivative_of whose operation os::save_all_but_gathers repeats. An operation that passes on its
/// operand's cotangents (a rename, a cast) is repeated if its operand was gathered.
struct gathers {};

template <class X>
bool has_recipe(X const& x) {
  if constexpr (is_variable<X>)
    return static_cast<bool>(x.recipe());
  else
    return false;
}

}  // namespace ostraka::detail
