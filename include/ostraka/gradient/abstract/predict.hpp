// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Programs without elements: verbs and operations on abstract tensors (abstract.hpp) return abstract results
/// and record the moves that they would take, even in constant expressions. Derivatives of such programs follow the
/// same rules as all others (rules/), on a tape that works in constant expressions (abstract_tape.hpp).

#include <array>
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

/// An operation of a program, with its costs for the program's sizes.
struct predicted_entry {
  predicted_operation operation{};
  predicted_costs costs{};
  std::int64_t workspace = 0;

  constexpr void add_to(forecast& written) const {
    written.add(operation);
    written.add(costs, workspace);
  }
};

/// Adds the costs of an operation whose types determine them.
template <class Price, class Sizes>
constexpr void add_price(predicted_entry& to, cost_question const& asked, [[maybe_unused]] Sizes const& sizes) {
  if (asked.total_bytes) to.costs.total_bytes = Price::total_bytes(sizes);
  if (asked.bytes) to.costs.bytes = Price::bytes(sizes);
  if (asked.flops) to.costs.flops = Price::flops(sizes);
  if constexpr (requires { Price::workspace(sizes); })
    if (asked.memory) to.workspace = Price::workspace(sizes);
}

/// Adds the costs of one call. Each group of devices that does the same work sends the same number of bytes.
constexpr void add_price(predicted_entry& to, moves_of_call const& call, std::int64_t devices) {
  to.costs = {call.total * (devices / call.devices), call.bytes(), call.flops};
}

/// Throws unless the extents of these operands are given.
template <class First>
constexpr void require_extents([[maybe_unused]] First const& given) {
  if constexpr (is_abstract<First>) {
    std::size_t i = 0;
    [[maybe_unused]] auto const require = [&](std::string_view name) {
      if (given.extents()[i++] == size_table::missing) static_cast<void>(given.mesh_sizes()->find(name));
    };
    [&]<class... Is>(type_list<Is...>) { (require(Is::name), ...); }(axes_in<First>{});
  }
}

/// The record of an operation on these operands.
template <class Operation, class... Given>
constexpr predicted_entry entry_for([[maybe_unused]] forecast const* written, Operation const& operation,
                                    Given const&... given) {
  predicted_entry entry{{text_of_name<Operation>()}};
  bool const asks = written != nullptr && written->has_sizes();
  if constexpr (has_moves<Operation, typename concrete<Given>::type...>()) {
    using price = typename Operation::template moves<typename concrete<Given>::type...>;
    entry.operation.count = &price::count;
    entry.operation.priced = true;
    if constexpr (!std::is_same_v<price, nothing_moved>)
      if (asks) {
        add_price<price>(entry, written->asked(), sizes_of_call(given..., extent_made_by(operation)));
        if constexpr (requires { operation.flops_of_call(std::int64_t{}, given...); })
          if (written->asked().flops) entry.costs.flops = operation.flops_of_call(entry.costs.flops, given...);
      }
  } else if constexpr (requires { operation.moved(given...); }) {
    entry.operation.count = &nothing_moved::count;
    entry.operation.priced = true;
    if (asks && written->asked().asks_for_operations()) {
      (require_extents(given), ...);
      add_price(entry, operation.moved(given...), written->sizes().devices());
    }
  }
  return entry;
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

/// The extent of an axis among the axes that an operation says it makes, or `missing`.
template <class Axis, class Made>
constexpr std::int64_t extent_in_made([[maybe_unused]] Made const& made) {
  if constexpr (is_named_extent<Made>) {
    if constexpr (std::is_same_v<typename Made::named, Axis>) return made.value;
  } else if constexpr (requires { typename Made::names; }) {
    if constexpr (position_in<Axis, typename Made::names> >= 0) return made.template of<Axis>();
  }
  return size_table::missing;
}

/// The extent of an axis of an operand, or of an argument `K = n`, or `missing`.
template <class Axis, class Given>
constexpr std::int64_t extent_in_given([[maybe_unused]] Given const& given) {
  if constexpr (!is_abstract<Given>)
    return extent_in_made<Axis>(given);
  else if constexpr (constexpr int at = position_in<Axis, axes_in<Given>>; at >= 0)
    return given.extents()[static_cast<std::size_t>(at)];
  else
    return size_table::missing;
}

/// True if the extents of all operands are known.
template <class... Given>
constexpr bool knows_extents_of(Given const&... given) {
  auto const knows = [](auto const& one) {
    if constexpr (is_abstract<std::remove_cvref_t<decltype(one)>>)
      for (std::int64_t const n : one.extents())
        if (n == size_table::missing) return false;
    return true;
  };
  return (knows(given) && ...);
}

/// The extent of axis number `At` of an operation's result: the extent that the operation makes, else that of an
/// operand by name, else that of the table. A view with the same number of axes renames them.
template <class Result, std::size_t At, class Operation, class First, class... Rest>
constexpr std::int64_t extent_of_result(forecast const& written, [[maybe_unused]] bool is_known,
                                        Operation const& operation, First const& first, Rest const&... rest) {
  using axis = typename type_at<axes_in<Result>, static_cast<int>(At)>::type;
  std::int64_t n = size_table::missing;
  auto const take = [&n](std::int64_t found) { n = n == size_table::missing ? found : n; };
  if constexpr (requires { operation.made(first, rest...); }) {
    if (is_known) take(extent_in_made<axis>(operation.made(first, rest...)));
  } else {
    take(extent_in_made<axis>(extent_made_by(operation)));
  }
  if constexpr (is_a_view<Operation> && is_abstract<First>)
    if constexpr (First::rank == Result::rank) take(first.extents()[At]);
  (take(extent_in_made<axis>(rest)), ...);
  take(extent_in_given<axis>(first));
  (take(extent_in_given<axis>(rest)), ...);
  take(written.template extent_of<axis>());
  return n;
}

template <class Result, class Operation, class... Given>
constexpr auto extents_of_result(forecast const* written, [[maybe_unused]] Operation const& operation,
                                 Given const&... given) {
  using extents_type = typename abstract<Result>::extents_type;
  if (written == nullptr) return extents_type{};
  [[maybe_unused]] bool const is_known = written->has_sizes() && knows_extents_of(given...);
  return [&]<std::size_t... At>(std::index_sequence<At...>) {
    return extents_type{extent_of_result<Result, At>(*written, is_known, operation, given...)...};
  }
  (std::make_index_sequence<static_cast<std::size_t>(Result::rank)>{});
}

template <class Operation, class Result, class... Given>
constexpr abstract<Result> predict_result(forecast* written, Operation const& operation, Given const&... given) {
  if constexpr (is_after_error<Result>)
    return {written, {}, {}};
  else if constexpr (is_a_view<Operation>)
    return {written, extents_of_result<Result>(written, operation, given...), block_in(given...)};
  else
    return abstract<Result>(written, extents_of_result<Result>(written, operation, given...));
}

// The results of an operation that returns several tensors.
template <class Operation, class... Results, class... Given>
constexpr several<abstract<Results>...> predict_results(std::type_identity<several<Results...>>, forecast* written,
                                                        Operation const& operation, Given const&... given) {
  return {abstract<Results>(written, extents_of_result<Results>(written, operation, given...))...};
}

template <class Result>
inline constexpr bool is_several = false;
template <class... Results>
inline constexpr bool is_several<several<Results...>> = true;

}  // namespace detail

/// Records an operation that writes its result over `target`.
template <class Operation, class T, class... Given>
constexpr abstract<T> predict_in_place(Operation const& operation, abstract<T> const& target, Given const&... given) {
  if (target.written() != nullptr)
    detail::entry_for(target.written(), operation, given..., target).add_to(*target.written());
  return target;
}

/// Records an operation on abstract tensors with the moves that it would take, and returns a result of the right type.
/// `How` is at_once or with_residuals.
template <class How = detail::at_once, class Operation, class... Given>
constexpr auto predict(Operation const& operation, Given const&... given) {
  using result = std::remove_cvref_t<decltype(detail::operate_how(
      How{}, std::declval<Operation const&>(), std::declval<typename detail::concrete<Given>::type const&>()...))>;
  detail::forecast* const written = detail::written_in(given...);
  auto const made = [&] {
    if constexpr (detail::is_several<result>)
      return detail::predict_results(std::type_identity<result>{}, written, operation, given...);
    else
      return detail::predict_result<Operation, result>(written, operation, given...);
  }();
  if constexpr (!(detail::is_after_error<result> || ... || detail::is_after_error<Given>))
    if (written != nullptr) detail::entry_for(written, operation, given...).add_to(*written);
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
