// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Verbs that take no variables, and say what does instead: what is begun and waited for later, what writes
/// into a tensor that is there, moves between meshes, and diagonals.

#include <type_traits>

#include <ostraka/algebra/into_array.hpp>
#include <ostraka/algebra/start.hpp>
#include <ostraka/gradient/tape/variable.hpp>
#include <ostraka/moves/reshard_meshes.hpp>
#include <ostraka/tensors/relabel.hpp>
#include <ostraka/types/reasons/of_derivatives.hpp>

namespace ostraka {

template <auto... Labels, Variable A>
auto relabel(A const&) {
  reason::raise<reason::diagonal_has_no_derivative<A>>();
  return detail::after_error_of<typename A::value_type, sharding<detail::type_of<Labels>...>, typename A::space>();
}

template <auto... To, Variable A, class... Policy>
auto start_reshard(A const&, Policy const&...) {
  reason::raise<reason::verb_takes_no_variables<A>>();
  return detail::after_error_of<typename A::value_type, sharding_of<To...>, typename A::space>();
}

template <auto... To, Variable A, class... Ms>
auto reshard(A const&, mesh<Ms...> const&) {
  reason::raise<reason::verb_takes_no_variables<A>>();
  return detail::after_error_of<typename A::value_type, sharding_of<To...>, typename A::space>();
}

template <class... Given>
  requires any_variable<std::remove_cvref_t<Given>...>
void stencil_into(Given&&...) { reason::raise<reason::verb_takes_no_variables<Given...>>(); }

template <auto... To, class... Given>
  requires any_variable<std::remove_cvref_t<Given>...>
void reshard_into(Given&&...) {
  reason::raise<reason::verb_takes_no_variables<Given...>>();
}

}  // namespace ostraka
