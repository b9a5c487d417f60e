// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Regions (os::checkpoint) of programs without elements: gathers and computations that the backward repeats
/// are recorded among its operations.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/abstract/abstract_variable.hpp>
#include <ostraka/gradient/directives/checkpoint.hpp>

namespace ostraka::detail {

/// The leaf policy of abstract tensors.
struct abstract_values {
  template <class T, class Sharding>
  using leaf = abstract<values::leaf<T, Sharding>>;
};

/// The leaf policy of variables of abstract tensors.
struct abstract_variables {
  using inner = abstract_values;
  using is_of_abstract = void;
  static constexpr int derivatives = 1;
  template <class T, class Sharding>
  using leaf = variable<abstract<values::leaf<T, Sharding>>>;
};

struct abstract_value {
  template <class V>
  constexpr auto operator()(V const& x) const {
    return x.value();
  }
};
struct abstract_fresh {
  abstract_tape* t;
  template <class T, class Cotangent>
  constexpr variable<T, Cotangent> operator()(variable<T, Cotangent> const& x) const {
    return {x.value(), t->push<abstract_slot<Cotangent>>(), t};
  }
};

template <class Leaves, class F, class T>
constexpr auto of_each(F const& f, T const& x) {
  if constexpr (!has_abstract_variable<T>())
    return x;
  else if constexpr (is_variable<T>)
    return f(x);
  else
    return tree_map<Leaves>(f, x);
}

template <class T>
constexpr void give_back(T const& from, T const& to) {
  if constexpr (is_abstract_variable<T>) {
    if (to.slot() != nullptr && !from.slot()->is_empty()) to.slot()->add(from.slot()->sum());
  } else if constexpr (has_abstract_variable<T>()) {
    auto each = [](path const&, auto const& a, auto const& b) { give_back(a, b); };
    visit<shape_of<T>>(each, path{}, from, to);
  }
}

constexpr void find_tape_of(abstract_tape*&) {}
template <class First, class... More>
constexpr void find_tape_of(abstract_tape*& t, First const& first, More const&... more) {
  if constexpr (is_abstract_variable<First>) {
    find_tape(t, first);
  } else if constexpr (has_abstract_variable<First>()) {
    auto each = [&](path const&, auto const& leaf) { find_tape(t, leaf); };
    visit<shape_of<First>>(each, path{}, first);
  }
  find_tape_of(t, more...);
}

template <class Cotangent, class F, class... Given>
class abstract_region_node final : public abstract_slot<Cotangent> {
 public:
  constexpr abstract_region_node(F const& f, abstract_store const& saved, Given const&... given)
      : f_(f), saved_(saved), given_(given...) {}
  constexpr ~abstract_region_node() override {}

  constexpr void pull() override {
    if (!this->is_empty()) run_again(std::index_sequence_for<Given...>{});
  }

 private:
  template <std::size_t... Is>
  constexpr void run_again(std::index_sequence<Is...>) {
    abstract_tape again;
    again.run_again(saved_);
    auto const own = std::tuple(of_each<abstract_variables>(abstract_fresh{&again}, std::get<Is>(given_))...);
    abstract_node const* const operands = again.last();
    auto const result = f_(std::get<Is>(own)...);
    using type = std::remove_cvref_t<decltype(result)>;
    if constexpr (is_abstract_variable<type>) {
      result.slot()->add(summed_to<typename type::cotangent_type>(this->sum()));
      again.unwind_to(operands);
    }
    (give_back(std::get<Is>(own), std::get<Is>(given_)), ...);
  }

  F f_;
  abstract_store saved_;
  std::tuple<Given...> given_;
};

/// The region for save_nothing and save_names.
template <class Policy>
struct predicted_region {
  template <class F, class... Given>
  static constexpr auto run(F const& f, Policy const& policy, Given const&... given) {
    abstract_tape* t = nullptr;
    find_tape_of(t, given...);
    abstract_store saved;
    auto const value = abstract_result(t, [&] { return first_run(f, policy, saved, given...); });
    using type = std::remove_cvref_t<decltype(value)>;
    using cotangent = cotangent_of<type>;
    if (t == nullptr) return variable<type, cotangent>(value);
    if (t->is_first_run()) return variable<type, cotangent>(value, t->number_of_last(), t);
    return variable<type, cotangent>(value, t->push<abstract_region_node<cotangent, F, Given...>>(f, saved, given...),
                                     t);
  }

 private:
  template <class F, class... Given>
  static constexpr auto first_run(F const& f, Policy const& policy, abstract_store& saved, Given const&... given) {
    if constexpr (std::is_same_v<Policy, save_nothing_policy>) {
      return f(of_each<abstract_values>(abstract_value{}, given)...);
    } else {
      abstract_tape numbers;
      saved.want(policy.names.data(), policy.names.size());
      numbers.run_first(saved);
      return plain(f(of_each<abstract_variables>(abstract_fresh{&numbers}, given)...));
    }
  }
};

template <>
struct predicted_region<save_all_but_gathers_policy> {
  template <class F, class... Given>
  static constexpr auto run(F const& f, save_all_but_gathers_policy, Given const&... given) {
    abstract_tape* t = nullptr;
    find_tape_of(t, given...);
    bool const before = t != nullptr && t->gathers_again();
    if (t != nullptr) t->set_gathers_again(true);
    auto const result = f(given...);
    if (t != nullptr) t->set_gathers_again(before);
    return result;
  }
};

}  // namespace ostraka::detail
