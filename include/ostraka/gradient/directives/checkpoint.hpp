// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Rematerialisation: `os::checkpoint(f, policy)(x…)` is f(x…), but the tape keeps only the results that the
/// policy selects. The backward recomputes the rest, with the same bits, and so trades work for memory:
///
///     os::checkpoint(layer)                              // the operands alone; the backward runs layer once more
///     os::checkpoint(layer, os::save_names("h", "q"))    // and results named by os::checkpoint_name(x, "h") in layer
///     os::checkpoint(layer, os::save_all_but_gathers)    // everything, but gathers are repeated
///     os::checkpoint(layer, os::save_all)                // as without os::checkpoint
///
/// x are tensors and trees of tensors.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/cotangents/as.hpp>
#include <ostraka/gradient/tape/variables_in_trees.hpp>

namespace ostraka {

/// The types of the policies below, which say which results a checkpointed region keeps for its backward.
struct save_nothing_policy {};
struct save_all_policy {};
struct save_all_but_gathers_policy {};
template <std::size_t N>
struct save_names_policy {
  std::array<std::string_view, N> names;
};

/// The results of a region that os::checkpoint keeps for its backward: none, all, or all but those of gathers.
inline constexpr save_nothing_policy save_nothing{};
inline constexpr save_all_policy save_all{};
inline constexpr save_all_but_gathers_policy save_all_but_gathers{};

/// Keeps the results to which os::checkpoint_name gives these names.
template <class... Names>
[[nodiscard]] constexpr save_names_policy<sizeof...(Names)> save_names(Names const&... names) {
  return {{std::string_view(names)...}};
}

namespace detail {

/// Makes variables on a tape of its own with the values of other variables: of tensors and trees.
struct fresh_variable {
  tape* t;
  template <class T, class Cotangent>
  variable<T, Cotangent> operator()(variable<T, Cotangent> const& x) const {
    return {x.value(), t->push<cotangent_slot<Cotangent>>(), t};
  }
};

template <int Depth, class T>
auto fresh(tape& t, T const& x) {
  if constexpr (derivatives_in<T>() < Depth)
    return x;  // a constant of this derivative
  else if constexpr (is_variable<T>)
    return fresh_variable{&t}(x);
  else
    return tree_map<leaves_in<T>>(fresh_variable{&t}, x);
}

/// Adds the cotangents of fresh variables to the variables from which they were made.
struct return_cotangents {
  template <class V>
  void operator()(V const& from, V const& to) const {
    if (to.slot() != nullptr && !from.slot()->is_empty()) to.slot()->add(from.slot()->sum());
  }
};

template <int Depth, class T>
void return_all_cotangents(T const& from, T const& to) {
  if constexpr (derivatives_in<T>() < Depth)
    return;
  else if constexpr (is_variable<T>)
    return_cotangents{}(from, to);
  else
    for_each_leaf([](auto const&, auto const& a, auto const& b) { return_cotangents{}(a, b); }, from, to);
}

/// Finds the tape of a region's operands.
template <int Depth, class T>
void join_tape_of(tape*& all, T const& x) {
  if constexpr (derivatives_in<T>() < Depth)
    return;
  else if constexpr (is_variable<T>)
    join_tapes(all, tape_of(x));
  else
    for_each_leaf([&](auto const&, auto const& leaf) { join_tapes(all, tape_of(leaf)); }, x);
}

/// The counterpart of a region in programs without elements: predicted_regions.hpp.
template <class Policy>
struct predicted_region;

/// A region as one operation: its backward runs f again on variables of a tape of its own.
template <int Depth, class Cotangent, class F, class... Given>
class region_node final : public cotangent_slot<Cotangent> {
 public:
  region_node(F const& f, result_store saved, Given const&... given)
      : cotangent_slot<Cotangent>(run_node<region_node>), f_(f), saved_(std::move(saved)), given_(given...) {}

 private:
  friend void run_node<region_node>(tape_node&, bool);
  ~region_node() = default;

  [[gnu::noinline]] void pull_back() {
    if (this->is_empty()) return;
    tape again;
    again.run_again(saved_);
    auto const own = std::apply([&](auto const&... x) { return std::tuple(fresh<Depth>(again, x)...); }, given_);
    tape_node const* const operands = again.last();
    auto const result = std::apply(f_, own);
    if constexpr (is_variable<std::remove_cvref_t<decltype(result)>>) {  // else the result depends on no variable
      if (result.tape() != nullptr) {  // a constant depends on no variable either
        if (tape_of(result) != &again) throw_other_tape();
        Cotangent g;
        this->move_sum_to(g);
        add_cotangent(result, g);
        again.unwind_to(operands);
      }
    }
    return_each_cotangent(own, std::index_sequence_for<Given...>{});
  }

  template <std::size_t... Is>
  void return_each_cotangent(std::tuple<Given...> const& own, std::index_sequence<Is...>) const {
    (return_all_cotangents<Depth>(std::get<Is>(own), std::get<Is>(given_)), ...);
  }

  F f_;
  result_store saved_;
  std::tuple<Given...> given_;
};

template <int Depth, class T>
decltype(auto) plain_at(T const& x) {
  if constexpr (derivatives_in<T>() < Depth)
    return (x);
  else if constexpr (is_variable<T>)
    return x.value();
  else
    return tree_map<typename leaves_in<T>::inner>([](auto const& leaf) { return leaf.value(); }, x);
}

// Calls f on plain values if nothing is saved; else on variables that number its results.
template <int Depth, class F, class Policy, class... Given>
auto first_run(F const& f, Policy const& policy, result_store& saved, Given const&... given) {
  if constexpr (std::is_same_v<Policy, save_nothing_policy>) {
    return f(plain_at<Depth>(given)...);
  } else {
    tape numbers;
    saved.want(policy.names.data(), policy.names.size());
    numbers.run_first(saved);
    return plain(f(fresh<Depth>(numbers, given)...));
  }
}

// True for a variable of an abstract tensor, or a tree of such variables.
template <class T>
consteval bool has_abstract_variable() {
  if constexpr (is_variable<T>)
    return is_abstract_variable<T>;
  else if constexpr (requires { typename leaves_in<T>; })
    return requires { typename leaves_in<T>::is_of_abstract; };
  else
    return false;
}

template <int Depth, class Result>
consteval auto check_region() {
  if constexpr (!TensorOrVariable<Result>)
    return found<reason::region_result_is_not_a_tensor<Result>>{};
  else if constexpr (depth_of<Result> >= Depth)
    return found<reason::region_captures_variable<Result>>{};
  else
    return found<reason::ok>{};
}

template <class F, class Policy>
struct region {
  F f;
  Policy policy;

  template <class... Given>
  constexpr auto operator()(Given const&... given) const {
    constexpr int depth = std::max({0, derivatives_in<Given>()...});
    if constexpr (depth == 0 || std::is_same_v<Policy, save_all_policy>)
      return f(given...);
    else if constexpr ((has_abstract_variable<Given>() || ...))
      return predicted_region<Policy>::run(f, policy, given...);
    else
      return recorded_at<depth>(given...);
  }

 private:
  template <int Depth, class... Given>
  auto recorded_at(Given const&... given) const {
    tape* t = nullptr;
    (join_tape_of<Depth>(t, given), ...);
    if constexpr (std::is_same_v<Policy, save_all_but_gathers_policy>) {
      struct back_again {
        tape* t;
        bool before;
        ~back_again() {
          if (t != nullptr) t->set_gathers_again(before);
        }
      } const outside{t, t != nullptr && t->gathers_again()};
      if (t != nullptr) t->set_gathers_again(true);
      return f(given...);
    } else {
      result_store saved;
      auto const run = [&] { return first_run<Depth>(f, policy, saved, given...); };
      using result = decltype(run());
      if constexpr (!reason::ok_or_raise<typename decltype(check_region<Depth, result>())::type>())
        return run();
      else
        return recorded_run<Depth, result>(t, saved, run, given...);
    }
  }

  template <int Depth, class Result, class Run, class... Given>
  auto recorded_run(tape* t, result_store& saved, Run const& run, Given const&... given) const {
    using cotangent = cotangent_of_result<void, Result, Given...>;
    auto const value = result_with(t, run);
    if (t == nullptr) return variable<Result, cotangent>(value);
    if (t->is_first_run()) return variable<Result, cotangent>(value, t->number_of_last(), t);
    using recorded = region_node<Depth, cotangent, F, Given...>;
    return variable<Result, cotangent>(value, t->push<recorded>(f, std::move(saved), given...), t);
  }
};

}  // namespace detail

/// f, with a backward that recomputes the results that the policy does not save. f must depend on its arguments alone,
/// and do the same in every call. Captured variables are refused.
template <class F, class Policy = save_nothing_policy>
[[nodiscard]] constexpr auto checkpoint(F f, Policy policy = {}) {
  return detail::region<F, Policy>{std::move(f), policy};
}

/// x, with a name by which regions of os::save_names recognise it.
template <class X>
  requires TensorOrVariable<X>
[[nodiscard]] constexpr X checkpoint_name(X const& x, [[maybe_unused]] std::string_view name) {
  if constexpr (is_variable<X> && !is_abstract<X>)
    if (auto* const t = detail::tape_of(x);
        t != nullptr && t->is_first_run() && x.number() > 0 && t->saved()->wants(name))
      t->saved()->keep(x.number(), x.value());
  return x;
}

}  // namespace ostraka
