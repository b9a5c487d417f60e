// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::checkpoint(f)(x…)`: f, of which the tape keeps the operands alone; the backward runs it again. It trades
/// what f does once more for the memory of all that its derivative needs.

#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/gradient/record.hpp>

namespace ostraka {

namespace detail {

template <class F, class... Given>
struct checkpoint_pullback {
  F f;
  std::tuple<Given...> given;  // variables of the outer tape lend their types, and nothing is added to them here

  template <class G>
  auto pull_all(G const& g) const {
    return std::apply([&](Given const&... x) { return run_again(g, x...); }, given);
  }

 private:
  template <class G>
  auto run_again(G const& g, Given const&... x) const {
    tape again;
    auto const own = std::tuple(fresh(again, x)...);
    tape_node const* const leaves = again.last();
    auto const result = std::apply(f, own);
    using type = std::remove_cvref_t<decltype(result)>;
    if constexpr (is_variable<type>) {  // else it depends on none of them
      if (result.tape() != &again) throw_other_tape();
      result.slot()->add(summed_to<typename type::cotangent_type>(g));
      again.unwind_to(leaves);
    }
    return std::apply([](auto const&... v) { return std::tuple(sum_of(v)...); }, own);
  }

  template <class T>
  static T const& fresh(tape&, T const& constant) {
    return constant;
  }
  template <class T, class Cotangent>
  static variable<T, Cotangent> fresh(tape& t, variable<T, Cotangent> const& x) {
    return {x.value(), t.push<cotangent_slot<Cotangent>>(), &t};
  }

  template <class T>
  static not_kept sum_of(T const& constant) {
    return not_kept(constant);
  }
  template <class T, class Cotangent>
  static cotangent_sum<Cotangent> sum_of(variable<T, Cotangent> const& x) {
    return {x.slot()->is_empty(), x.slot()->sum()};
  }
};

template <class F>
struct checkpointed {
  F f;

  template <class... Given>
  auto operator()(Given const&... given) const {
    if constexpr (!any_variable<Given...>) {
      return f(given...);
    } else {
      auto const result = f(plain(given)...);
      static_assert(!is_variable<std::remove_cvref_t<decltype(result)>>);
      return record(result, checkpoint_pullback<F, Given...>{f, {given...}}, given...);
    }
  }
};

}  // namespace detail

/// f, whose backward computes again what it needs. f is a function of its arguments alone: variables that it captures
/// are refused.
template <class F>
[[nodiscard]] auto checkpoint(F f) {
  return detail::checkpointed<F>{std::move(f)};
}

}  // namespace ostraka
