// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Programs without elements: verbs and operations on abstract tensors (abstract.hpp) give abstract results
/// and record the moves that they would take, in constant expressions too. Derivatives of such programs follow the same
/// rules as all others (rules/), on a tape that works in constant expressions (abstract_tape.hpp).

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/abstract/abstract.hpp>
#include <ostraka/gradient/rules/algebra/derivative_of_reductions.hpp>
#include <ostraka/plan/typed/plan_of.hpp>

namespace ostraka {
namespace detail {

template <class Operation>
consteval std::string_view text_of_name() {
  constexpr char const* name = name_of_operation<Operation>();
  if constexpr (name == nullptr)
    return {};
  else
    return name;
}

/// The record of an operation that states its own costs.
template <class Price>
constexpr predicted_operation entry_of_price(std::string_view name) {
  predicted_operation op{name,
                         &Price::count,
                         &Price::template total_bytes<size_table>,
                         &Price::template bytes<size_table>,
                         &Price::template flops<size_table>,
                         nullptr,
                         true};
  if constexpr (requires { &Price::template workspace<size_table>; }) {
    op.workspace = &Price::template workspace<size_table>;
    op.needs_workspace = true;
  }
  return op;
}

template <class Operation, class... Operands>
constexpr predicted_operation entry_for(std::string_view name) {
  if constexpr (requires { typename Operation::template moves<Operands...>; }) {
    using price = typename Operation::template moves<Operands...>;
    if constexpr (std::is_void_v<price>)
      return {name};
    else
      return entry_of_price<price>(name);
  } else {
    return {name};
  }
}

/// True if the operation's result is a view of its operand's memory.
template <class Operation>
inline constexpr bool is_a_view = requires {
  typename Operation::result_is_a_view;
};

constexpr predicted_block block_in() { return {}; }
template <class First, class... More>
constexpr predicted_block block_in(First const& first, More const&... more) {
  if constexpr (is_abstract<First>)
    return first.block();
  else
    return block_in(more...);
}

template <class Operation, class Result, class... Given>
constexpr abstract<Result> predict_result(forecast* written, Given const&... given) {
  if constexpr (is_after_error<Result>)
    return {written, {}};
  else if constexpr (is_a_view<Operation>)
    return {written, block_in(given...)};
  else
    return abstract<Result>(written);
}

// The results of an operation that gives several tensors.
template <class... Results>
constexpr several<abstract<Results>...> predict_results(std::type_identity<several<Results...>>, forecast* written) {
  return {abstract<Results>(written)...};
}

template <class Result>
inline constexpr bool is_several = false;
template <class... Results>
inline constexpr bool is_several<several<Results...>> = true;

}  // namespace detail

/// Records an operation that writes its result over `target`.
template <class Operation, class T, class... Given>
constexpr abstract<T> predict_in_place(Operation const&, abstract<T> const& target, Given const&...) {
  if (target.written() != nullptr)
    target.written()->add(
        detail::entry_for<Operation, typename detail::concrete<Given>::type..., T>(detail::text_of_name<Operation>()));
  return target;
}

/// Records an operation on abstract tensors with the moves that it would take, and returns a result of the right type.
/// `How` is at_once or with_residuals.
template <class How = detail::at_once, class Operation, class... Given>
constexpr auto predict(Operation const&, Given const&... given) {
  using result = std::remove_cvref_t<decltype(detail::operate_how(
      How{}, std::declval<Operation const&>(), std::declval<typename detail::concrete<Given>::type const&>()...))>;
  detail::forecast* const written = detail::written_in(given...);
  auto const made = [&] {
    if constexpr (detail::is_several<result>)
      return detail::predict_results(std::type_identity<result>{}, written);
    else
      return detail::predict_result<Operation, result>(written, given...);
  }();
  if constexpr (!(detail::is_after_error<result> || ... || detail::is_after_error<Given>))
    if (written != nullptr)
      written->add(detail::entry_for<Operation, typename detail::concrete<Given>::type...>(
          detail::text_of_name<Operation>()));
  return made;
}

namespace detail {

template <class How, class Operation, class... Given>
constexpr auto predicts::operate(How const& how, Operation const& operation, Given const&... given) {
  if constexpr (std::is_same_v<How, with_residuals>)
    return predict<How>(operation, given...);
  else
    return operate_on_variables<predicts>(how, operation, given...);
}
template <class Operation, class... Given>
constexpr auto predicts::record(Operation const& operation, Given const&... given) {
  return predict(operation, given...);
}

}  // namespace detail

}  // namespace ostraka
