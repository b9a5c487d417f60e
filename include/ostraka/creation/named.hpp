// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `auto T = os::named("T", os::zeros<float, I/X, J>(mesh, …))`: a tensor with a label, which os::describe
/// prints: T[I_X, J] · V[J, K].

#include <string>
#include <type_traits>

#include <ostraka/calls/operate.hpp>
#include <ostraka/tensors/tensor.hpp>

namespace ostraka {

namespace operation {

struct named : detail::moves_nothing {
  static constexpr char const* name = "named";
  template <class A, class Label>
  using verdict = reason::ok;

  template <class How, class A, class Label>
  A run(How const&, A const& a, Label const& label) const {
    A called = a;
    called.set_label(std::string(label));
    return called;
  }
};

}  // namespace operation

/// The same tensor with this label: a handle of the same block. Copies of the handle keep the label; results of
/// operations have none.
template <class Label, TensorOrVariable A>
  requires std::is_convertible_v<Label const&, std::string>
[[nodiscard]] constexpr auto named(Label const& label, A const& a) {
  return detail::operate(operation::named{}, a, label);
}

}  // namespace ostraka
