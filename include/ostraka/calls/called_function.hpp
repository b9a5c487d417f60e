// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Checks the function argument of os::map, os::map_into and os::generate: it has to take the elements or
/// indices, a kernel has to be able to call it where the tensor is, and it must not be the name of an overloaded
/// function.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <ostraka/types/reasons.hpp>

namespace ostraka::detail {

template <class F, class... Arguments>
consteval auto check_called() {
  if constexpr (std::is_invocable_v<F const&, Arguments...>)
    return found<reason::ok>{};
  else
    return found<reason::function_takes_other_arguments<F, std::remove_cvref_t<Arguments>...>>{};
}

/// `reason::ok`, or the reason why f cannot be called with these arguments.
template <class F, class... Arguments>
using called_verdict = typename decltype(check_called<F, Arguments...>())::type;

template <class F, class Space>
consteval auto check_callable_there() {
  constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;
  if constexpr (on_host || !std::is_pointer_v<std::decay_t<F>>)
    return found<reason::ok>{};
  else
    return found<reason::function_of_the_host<std::decay_t<F>>>{};
}

/// `reason::ok`, or the reason why a kernel on tensors of this space cannot call f.
template <class F, class Space>
using callable_there_verdict = typename decltype(check_callable_there<F, Space>())::type;

/// The name of an overloaded function, one overload of which has these parameters. A template cannot take such a name;
/// the name converts to this class if nothing else takes it.
template <class Result, class... Parameters>
struct overloaded_function {
  overloaded_function(Result (*)(Parameters...)) {}
};

/// An argument of a function of global indices, for each `I` of a pack. It is a class because nvcc does not expand a
/// pack through an alias that gives the same type for each `I`.
template <std::size_t I>
struct global_index {
  using type = std::int64_t;
};

template <class T, class Indices>
struct overloaded_of_indices;
template <class T, std::size_t... Is>
struct overloaded_of_indices<T, std::index_sequence<Is...>> {
  using type = overloaded_function<T, typename global_index<Is>::type...>;
};

}  // namespace ostraka::detail
