// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::stack<T>(a, b, c)` and `os::stack<T>(std::vector)`: tensors of one sharding side by side along a new
/// axis, which no mesh axis divides; nothing moves. os::take<T>(A, k) takes them apart.
///
///     stack<T>             [B_X, H], …    → [T, B_X, H]
///     stack<B/X, T, H>     [B_X, H], …    → [B_X, T, H]
///
/// The first operand makes the result, and each operand writes its index of the result. For variables, each write is a
/// node of the tape, and all nodes share one value.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/along.hpp>
#include <ostraka/engine/blocks/write_rows.hpp>

namespace ostraka {

namespace detail {

/// The result that the call names: its dimensions, or only the new axis, which then comes first.
template <class A, class Named>
struct stacked_as {
  using type = Named;
};
template <class A, Axis T>
struct stacked_as<A, sharding<T>> {
  using type = canonical_sharding<T, sharding_in<A>>;
};

/// The axis that A lacks; void if there are none or several.
template <class Lacking>
struct one_axis {
  using type = void;
};
template <class T>
struct one_axis<type_list<T>> {
  using type = T;
};

template <class Operation, class Named, class A>
consteval auto check_stack() {
  using out = typename stacked_as<A, Named>::type;
  using fresh = difference_of<axes_in<Named>, axes_in<A>>;
  using lacking = difference_of<axes_in<A>, axes_in<out>>;
  using own = first_fault<typename sharding_traits<sharding_in<A>>::verdict, typename sharding_traits<Named>::verdict,
                          blocks_verdict<Named, A>>;
  if constexpr (!std::is_same_v<own, reason::ok>) {
    return found<own>{};
  } else if constexpr (axes_in<Named>::size == 0) {
    return found<reason::not_an_axis<Named, Operation>>{};
  } else if constexpr (fresh::size == 0) {
    return found<
        reason::new_axis_already_exists<typename type_at<axes_in<Named>, 0>::type, sharding_in<A>, Operation>>{};
  } else if constexpr (fresh::size > 1) {
    return found<reason::broadcast_sharding_mismatch<sharding_in<A>, out>>{};
  } else {
    using T = typename type_at<fresh, 0>::type;
    if constexpr (splits_of<T, out>::size > 0)
      return found<reason::axis_must_be_whole<T, out, Operation>>{};
    else if constexpr (lacking::size > 0)
      return found<reason::broadcast_sharding_mismatch<sharding_in<A>, out>>{};
    else if constexpr (!std::is_same_v<without_axis<varying_as<out, A>, T>, sharding_in<A>>)
      return found<reason::broadcast_sharding_mismatch<sharding_in<A>, out>>{};
    else
      return found<typename sharding_traits<out>::verdict>{};
  }
}

/// `reason::ok` if a tensor has the sharding of the operands that were written before it along T.
template <class Operation, class T, class All, class A>
consteval auto check_beside() {
  using own = first_fault<typename sharding_traits<sharding_in<A>>::verdict, blocks_verdict<sharding<>, All, A>,
                          element_type_verdict<typename All::value_type, typename A::value_type>>;
  using one = without_axis<sharding_in<All>, T>;
  if constexpr (!std::is_same_v<own, reason::ok>)
    return found<own>{};
  else if constexpr (!std::is_same_v<sharding_in<A>, one>)
    return found<reason::operands_sharded_differently<one, sharding_in<A>, Operation>>{};
  else
    return found<reason::ok>{};
}

/// all[…, at, …] = a along T.
template <class T, class All, class A>
void write_beside(char const* operation, All const& all, A const& a, std::int64_t at) {
  using axes = axes_in<All>;
  using mesh = mesh_axes_in<All>;
  constexpr planner::spec s = spec_of<All, axes, mesh>;
  engine::execution_context const w = context_of<axes, mesh>(operation, all, a);
  profiled_block<A> const region_of_run(operation, a, "reads and writes", 2);
  engine::write_rows(execution_space_of<All>(), w, s, position_in<T, axes>, at, 1, all.local().data(), elements_of(a));
}

}  // namespace detail

namespace operation {

/// The operation of os::stack: allocates the result of `count` operands, and writes the first one. `Named`: the
/// result's sharding, or only the new axis.
template <class Named>
struct stack : detail::moves_nothing {
  static constexpr char const* name = "stack";
  std::int64_t count = 1;

  template <class A>
  using verdict = typename decltype(detail::check_stack<stack, Named, A>())::type;
  template <class A>
  using axis =
      typename detail::one_axis<difference_of<axes_in<typename detail::stacked_as<A, Named>::type>, axes_in<A>>>::type;

  template <class How, class A>
  auto run(How const&, A const& a) const {
    using out = varying_as<typename detail::stacked_as<A, Named>::type, A>;
    using result_type = basic_tensor<typename A::value_type, out, typename A::space>;
    using T = axis<A>;
    using labels = axes_in<out>;
    using mesh = mesh_axes_in<out>;
    engine::execution_context w = detail::context_of<labels, mesh>(name, a);
    w.sizes.label[position_in<T, labels>] = count;
    result_type all(detail::allocate_unnamed<typename A::value_type, result_type::rank, typename A::space>(
        a.mesh_handle(), w, spec_of<out, labels, mesh>));
    if constexpr (varying_in<A>::size > 0) all.set_origins(origins(a, labels{}));
    detail::write_beside<T>(name, all, a, 0);
    return all;
  }

 private:
  template <class A, class... Is>
  static auto origins(A const& a, type_list<Is...>) {
    auto const origin = [&]<class I>(std::type_identity<I>) {
      if constexpr (position_in<I, axes_in<A>> >= 0)
        return detail::origin_in<I>(a);
      else
        return detail::extent_origin{};  // all devices stack the same number
    };
    return detail::extent_origins<static_cast<int>(sizeof...(Is))>{origin(std::type_identity<Is>{})...};
  }
};

/// Writes one more operand, into the memory of the first.
template <class T>
struct stack_next : detail::moves_nothing {
  static constexpr char const* name = "stack";
  using result_is_a_view = void;
  std::int64_t at = 0;

  template <class All, class A>
  using verdict = typename decltype(detail::check_beside<stack_next, T, All, A>())::type;

  template <class How, class All, class A>
  All run(How const&, All const& all, A const& a) const {
    detail::write_beside<T>(name, all, a, at);
    return all;
  }
};

}  // namespace operation

namespace detail {

template <class T, class All>
constexpr All stack_on(All const& all, std::int64_t) {
  return all;
}
template <class T, class All, class A, class... More>
constexpr auto stack_on(All const& all, std::int64_t at, A const& a, More const&... more) {
  return stack_on<T>(operate(operation::stack_next<T>{{}, at}, all, a), at + 1, more...);
}

/// The operation for a first operand, unless that is refused.
template <class Named, class A>
struct stack_of {
  using operand = basic_tensor<typename A::value_type, typename A::sharding_type, typename A::space>;
  using verdict = typename ostraka::operation::stack<Named>::template verdict<operand>;
  using axis = typename ostraka::operation::stack<Named>::template axis<operand>;
};

[[noreturn, gnu::cold]] inline void throw_stack_of_nothing() {
  throw_error(
      "stack: the extents of the result are those of its operands, but the list of operands is empty; os::zeros makes "
      "a tensor without elements");
}

/// A std::vector of tensors, or another type with such elements.
template <class R>
concept ListOfTensors = !TensorOrVariable<R> && requires(R const& list) {
  requires TensorOrVariable<std::remove_cvref_t<decltype(list[0])>>;
  list.size();
};

}  // namespace detail

/// Tensors of one sharding and the same extents side by side along a new axis T, which no mesh axis divides. T comes
/// first, `os::stack<T>(a, b)`, or where the result's dimensions have it, `os::stack<B/X, T, H>(a, b)`.
/// @throws ostraka::error, on all devices alike, if extents differ
template <auto First, auto... Out, TensorOrVariable A, TensorOrVariable... More>
[[nodiscard]] constexpr auto stack(A const& a, More const&... more) {
  using named = sharding_of<First, Out...>;
  using made = detail::stack_of<named, A>;
  operation::stack<named> const first{{}, 1 + static_cast<std::int64_t>(sizeof...(More))};
  if constexpr (std::is_same_v<typename made::verdict, reason::ok>)
    return detail::stack_on<typename made::axis>(detail::operate(first, a), 1, more...);
  else
    return detail::operate(first, a);  // raises the reason
}

/// The same for a std::vector or std::array of tensors. @throws ostraka::error, on all devices alike, if it is empty
template <auto First, auto... Out, detail::ListOfTensors List>
[[nodiscard]] constexpr auto stack(List const& list) {
  using named = sharding_of<First, Out...>;
  using made = detail::stack_of<named, std::remove_cvref_t<decltype(list[0])>>;
  auto const n = static_cast<std::int64_t>(list.size());
  if (n == 0) detail::throw_stack_of_nothing();
  auto all = detail::operate(operation::stack<named>{{}, n}, list[0]);
  if constexpr (std::is_same_v<typename made::verdict, reason::ok>)
    for (std::int64_t k = 1; k < n; ++k)
      all = detail::operate(operation::stack_next<typename made::axis>{{}, k}, all, list[static_cast<std::size_t>(k)]);
  return all;
}

}  // namespace ostraka
