// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The definition of an operation, and the one way in which all are called. An operation is a struct, and its
/// derivative is found by that type (derivative_of, in gradient/):
///
///     template <class Along>
///     struct softmax {
///       static constexpr char const* name = "softmax";                   // in profiles, errors and docs
///       template <class... Given> using verdict = …;                      // reason::ok, or why not on these tensors
///       template <class... Given> using moves = …;                        // its price (moves.hpp); void: not known
///       template <class How, class... Given>
///       auto run(How const&, Given const&...) const;                      // does it. @pre the verdict is ok
///       template <class... Given> using refused = …;                      // optional: the type of a refused result
///     };
///
/// `Given` are operands, and further arguments: numbers, policies. `How` is at_once, or later (a pending result). The
/// *interpreter* of an operand decides how to operate on it: the interpreter of tensors runs the operation; other
/// folders specialise interpreter_of beside the types that they define. No folder is named here.

#include <type_traits>

#include <ostraka/calls/shared_memory.hpp>
#include <ostraka/calls/at_once.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/calls/moves.hpp>
#include <ostraka/tensors/after_error.hpp>
#include <ostraka/tensors/relabelled.hpp>
#include <ostraka/types/shardings/halo.hpp>

namespace ostraka {

namespace detail {

/// An existing destination, for os::einsum_into and its like; `When`: at once, or begun.
template <class C, class When = at_once>
struct into {
  static constexpr bool is_begun = When::is_begun;
  C const& target;
};
template <class C>
into(C const&) -> into<C>;

template <class How>
inline constexpr bool is_into = false;
template <class C, class When>
inline constexpr bool is_into<into<C, When>> = true;

/// True for a destination that is the result of a refused operation, whose error has been reported.
template <class How>
inline constexpr bool is_into_after_error = false;
template <class C, class When>
inline constexpr bool is_into_after_error<into<C, When>> = is_after_error<C>;

/// At once, and with the residuals: the values, in addition to the result, that the operation's derivative needs. The
/// operation then returns `several`, its result first. Operations with a member `has_residuals` are recorded in this
/// way.
struct with_residuals : at_once {};

/// The result of an operation that makes several tensors. An aggregate: constructors of a std::tuple cost compile time.
template <class...>
struct several;
template <class First, class Second>
struct several<First, Second> {
  First first;
  Second second;
};
template <class First, class Second, class Third>
struct several<First, Second, Third> {
  First first;
  Second second;
  Third third;
};
template <class First, class Second, class Third, class Fourth>
struct several<First, Second, Third, Fourth> {
  First first;
  Second second;
  Third third;
  Fourth fourth;
};
template <class First, class Second, class Third, class Fourth, class Fifth>
struct several<First, Second, Third, Fourth, Fifth> {
  First first;
  Second second;
  Third third;
  Fourth fourth;
  Fifth fifth;
};
template <class... Ts>
several(Ts...) -> several<Ts...>;

/// The context of an operation that runs by `How`. The extents of a destination have to agree, too.
template <class Labels, class Mesh, class How, class... Operands>
engine::execution_context context_how([[maybe_unused]] How const& how, char const* operation,
                                      engine::steps_ahead steps, Operands const&... operands) {
  if constexpr (is_into<How>)
    return context_of<Labels, Mesh>(operation, steps, operands..., how.target);
  else
    return context_of<Labels, Mesh>(operation, steps, operands...);
}

/// The tensor for the result: a new one, or the destination itself, which shares no memory with the operands.
/// `otherwise`: the operation that makes a new one.
template <class Result, class Labels, class Mesh, class How, class... Operands>
decltype(auto) result_how([[maybe_unused]] How const& how, [[maybe_unused]] char const* otherwise,
                          engine::execution_context const& w, [[maybe_unused]] engine::steps_ahead steps,
                          Operands const&... operands) {
  if constexpr (is_into<How>) {
    memory_range const read[] = {memory_of(operands)...};
    refuse_shared_memory(w, steps, otherwise, memory_of(how.target), read, static_cast<int>(sizeof...(Operands)));
    return (how.target);
  } else {
    return allocate_for<Result, Labels, Mesh>(w, operands...);
  }
}

/// An operation that writes to a C. Specialised beside each `…_into`, with a `verdict` and a static `run(operation,
/// target, given…)`, or `start`, which begins it.
template <class Operation, class C, class... Given>
struct written_to;

/// The result of a refused operation; void if it would write to a destination.
template <class How, class Operation, class First, class... Rest>
constexpr auto refused_result() {
  if constexpr (is_into<How> && !How::is_begun)
    return;
  else if constexpr (requires { typename Operation::template refused<First, Rest...>; })
    return typename Operation::template refused<First, Rest...>();
  else
    return after_error_of<typename First::value_type, typename First::sharding_type, typename First::space>();
}

/// The verdict of an operation on these arguments; a reason if it takes another number of them.
template <class How, class Operation, class... Given>
struct verdict_of {
  using type = reason::another_number_of_arguments<Operation, Given...>;
};
template <class How, class Operation, class... Given>
  requires requires { typename Operation::template verdict<Given...>; }
struct verdict_of<How, Operation, Given...> {
  using type = typename Operation::template verdict<Given...>;
};
template <class C, class When, class Operation, class... Given>
struct verdict_of<into<C, When>, Operation, Given...> {
  using type = typename written_to<Operation, C, Given...>::verdict;
};

/// True for an operand or a destination with another layout than a tensor's block: an array with ghost layers.
template <class T>
inline constexpr bool has_own_layout = requires {
  typename T::has_own_layout;
};
template <class C, class When>
inline constexpr bool has_own_layout<into<C, When>> = has_own_layout<C>;

template <class... Ts>
struct first_with_own_layout;
template <class T, class... Ts>
struct first_with_own_layout<T, Ts...>
    : std::conditional_t<has_own_layout<T>, std::type_identity<T>, first_with_own_layout<Ts...>> {};
template <class C, class When, class... Ts>
struct first_with_own_layout<into<C, When>, Ts...> : first_with_own_layout<C, Ts...> {};

/// True if the operation gets such an operand but has no member `takes_strides`, or gets such a destination but has
/// neither that member nor `writes_strides`.
template <class Operation, class How, class... Given>
consteval bool refuses_strides() {
  if constexpr (has_own_layout<How> || (has_own_layout<Given> || ...)) return !requires {
      typename Operation::takes_strides;
    }
  &&(!requires { typename Operation::writes_strides; } || (has_own_layout<Given> || ...));
  else
    return false;
}

/// The interpreter of tensors: raises the reason, or runs the operation. Operands that are results of refused
/// operations raise no further reason.
struct runs {
  static constexpr int level = 0;
  template <class How, class Operation, class... Given>
  static constexpr auto operate(How const& how, Operation const& operation, Given const&... given) {
    if constexpr (is_into_after_error<How> || (is_after_error<Given> || ...)) {
      return refused_result<How, Operation, Given...>();
    } else if constexpr (refuses_strides<Operation, How, Given...>()) {
      using array = typename first_with_own_layout<How, Given...>::type;
      reason::raise<reason::halo_meets_operation<typename first_halo<axes_in<array>>::type, sharding_in<array>>>();
      return refused_result<How, Operation, Given...>();
    } else if constexpr (reason::ok_or_raise<typename verdict_of<How, Operation, Given...>::type>()) {
      if constexpr (is_into<How> && How::is_begun)
        return written_to<Operation, std::remove_cvref_t<decltype(how.target)>, Given...>::start(operation, how.target,
                                                                                                 given...);
      else if constexpr (is_into<How>)
        return written_to<Operation, std::remove_cvref_t<decltype(how.target)>, Given...>::run(operation, how.target,
                                                                                               given...);
      else
        return operation.run(how, given...);
    } else {
      return refused_result<How, Operation, Given...>();
    }
  }
};

/// The interpreter of other arguments than operands: numbers, policies and functions accompany operands.
struct passes_through {
  static constexpr int level = -1;
  template <class How, class Operation, class First, class... Rest>
  static constexpr auto operate(How const&, Operation const&, First const&, Rest const&...) {
    if constexpr (requires { typename Operation::template without_operand<First>; })
      reason::raise<typename Operation::template without_operand<First>>();
    else
      reason::raise<reason::not_an_operand<First>>();
    return scalar_after_error<First>();
  }
};

/// The interpreter of operations on T: the customisation point. An interpreter has a `level` and a static `operate(how,
/// operation, given…)`. Among several operands the highest level decides. Specialise it where T is defined, never
/// elsewhere.
template <class T>
struct interpreter_of {
  using type = std::conditional_t<is_operand<T>, runs, passes_through>;
};

/// True if one of these types stands in for a tensor, as a variable does.
template <class... Ts>
inline constexpr bool any_stand_in = ((interpreter_of<Ts>::type::level > 0) || ...);

/// The tensor that an operand stands for, if its interpreter has a `value_of`; else the operand.
template <class A>
constexpr auto const& underlying_tensor(A const& a) {
  if constexpr (requires { interpreter_of<A>::type::value_of(a); })
    return underlying_tensor(interpreter_of<A>::type::value_of(a));
  else
    return a;
}

template <class One, class Other>
using higher_interpreter = std::conditional_t<(One::level >= Other::level), One, Other>;

template <class Highest, class... Ts>
struct common_interpreter {
  using type = Highest;
};
template <class Highest, class T, class... Ts>
struct common_interpreter<Highest, T, Ts...>
    : common_interpreter<higher_interpreter<Highest, typename interpreter_of<T>::type>, Ts...> {};

/// The interpreter of a destination is that of its tensor.
template <class C, class When>
struct interpreter_of<into<C, When>> : interpreter_of<C> {};

/// Calls an operation; all calls go through here.
template <class How, class Operation, class... Given>
constexpr auto operate_how(How const& how, Operation const& operation, Given const&... given) {
  return common_interpreter<passes_through, How, Given...>::type::operate(how, operation, given...);
}
template <class Operation, class... Given>
constexpr auto operate(Operation const& operation, Given const&... given) {
  return common_interpreter<passes_through, Given...>::type::operate(at_once{}, operation, given...);
}

/// The base of operations that are called as objects: `os::all_reduce<X>(A)`.
template <class Operation>
struct callable : verb_base {
  template <class First, class... Rest>
  [[nodiscard]] constexpr auto operator()(First const& first, Rest const&... rest) const {
    return operate(static_cast<Operation const&>(*this), first, rest...);
  }
};

/// The base of operations on blocks that the library alone calls, with operands that fit: it refuses none, and has no
/// price unless the operation has a `moves` of its own.
template <class Operation>
struct internal_step : callable<Operation>, moves_nothing {
  template <class... Operands>
  using verdict = reason::ok;
};

}  // namespace detail

/// An operand of operations that have a derivative: a tensor, or another interpreter's stand-in for one.
template <class T>
concept TensorOrVariable = Tensor<T> || detail::any_stand_in<T>;

/// An argument of an operation on one operand: the operand or a policy. Both are accepted in either place, so that the
/// error can say which belongs where.
template <class T>
concept OperandOrPolicy = Operand<T> || TensorOrVariable<T> || is_policy<T> || Verb<T>;

}  // namespace ostraka
