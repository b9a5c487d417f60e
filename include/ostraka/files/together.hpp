// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::together("model", params, "optimizer", state)`: several trees in one file, each under its name:
/// `model.w1`, `optimizer.m.w1`, `optimizer.steps`; a tensor has just the name. Named arguments are held by reference
/// and temporaries by value, so that the same object saves and loads:
///
///     auto const run = os::together("model", params, "optimizer", state);
///     os::save("run.safetensors", run);
///     os::load_into(run, "run.safetensors");

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ostraka/tree/walk.hpp>

namespace ostraka {

/// Trees, each with a name. `Trees`: T& for one held by reference, which must outlive this; T for one held by value.
template <class... Trees>
class named_trees {
 public:
  explicit named_trees(std::pair<std::string, Trees>&&... trees) : trees_(std::move(trees)...) {}

  /// Calls f(tree, path of its root) for each tree.
  template <class F>
  void for_each(F const& f) const {
    std::apply([&](auto const&... one) { (f(one.second, detail::path{nullptr, one.first, 0}), ...); }, trees_);
  }

 private:
  std::tuple<std::pair<std::string, Trees>...> trees_;
};

namespace detail {

template <class T>
inline constexpr bool are_together = false;
template <class... Trees>
inline constexpr bool are_together<named_trees<Trees...>> = true;

// T for an argument passed as T&&, T& for T&.
template <class T>
using as_forwarded = std::conditional_t<std::is_lvalue_reference_v<T>, T, std::remove_reference_t<T>>;

template <class Arguments, std::size_t... Is>
auto together_of(Arguments&& arguments, std::index_sequence<Is...>) {
  return named_trees<as_forwarded<std::tuple_element_t<2 * Is + 1, Arguments>>...>(
      std::pair<std::string, as_forwarded<std::tuple_element_t<2 * Is + 1, Arguments>>>(
          std::get<2 * Is>(arguments),
          std::forward<std::tuple_element_t<2 * Is + 1, Arguments>>(std::get<2 * Is + 1>(arguments)))...);
}

}  // namespace detail

/// Names several trees, or tensors, for one file. The arguments are names and trees alternately.
template <class... NamesAndTrees>
[[nodiscard]] auto together(std::string name, NamesAndTrees&&... trees) {
  static_assert(
      sizeof...(NamesAndTrees) % 2 == 1,
      "together: each tree has a name before it; write os::together(\"model\", params, \"optimizer\", state)");
  return detail::together_of(std::forward_as_tuple(name, std::forward<NamesAndTrees>(trees)...),
                             std::make_index_sequence<(sizeof...(NamesAndTrees) + 1) / 2>{});
}

}  // namespace ostraka
