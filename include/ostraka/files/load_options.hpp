// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The options of os::load: `os::ignore_others`, `os::cast_to<float>`, and the leaves' names in the file,
/// given as os::stored_as or as a function from the file's names to those of the tree.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <ostraka/engine/files/file_block.hpp>
#include <ostraka/engine/files/load_tensors.hpp>
#include <ostraka/files/stored_as.hpp>
#include <ostraka/files/tensors_in_files.hpp>

namespace ostraka {

/// An option of os::load: the file may have further tensors.
struct others_ignored {};
inline constexpr others_ignored ignore_others{};

/// The type of os::cast_to<U>.
template <class U>
struct elements_cast {
  using type = typename detail::element<U>::type;
};

/// An option of os::load: for leaves with elements of U, converts the file's floating-point numbers of 8 to 64 bits to
/// the nearest values of U. Other leaves are loaded without a conversion.
template <class U>
inline constexpr elements_cast<U> cast_to{};

namespace detail {

template <class T>
inline constexpr bool is_ignore_others = std::is_same_v<T, others_ignored>;
template <class T>
inline constexpr bool is_cast_to = false;
template <class U>
inline constexpr bool is_cast_to<elements_cast<U>> = true;

/// A function from a tensor's name in a file to its name in the tree.
template <class F>
concept NamesTensors = requires(F const& f, std::string_view name) {
  { f(name) } -> std::convertible_to<std::string>;
};

template <class T>
inline constexpr bool is_load_option =
    is_ignore_others<T> || is_cast_to<T> || std::is_same_v<T, stored_as> || NamesTensors<T>;

/// Sets the names of the leaves in a file. `rules` have to outlive `names`.
template <class = void>
[[gnu::cold]] void set_names(engine::tensor_names& names, stored_as const& rules) {
  names.in_tree = [&rules](std::string const& name) { return rules.rules().in_tree(name); };
  names.in_file = [&rules](std::string const& name) { return rules.in_file(name); };
}

struct load_options {
  bool only = true;         ///< other tensors are an error
  std::uint32_t casts = 0;  ///< the element types to convert to, one bit each
  engine::tensor_names names{};

  void add(others_ignored) { only = false; }
  template <class U>
  void add(elements_cast<U> const&) {
    casts |= 1u << static_cast<unsigned>(engine::file_element_of<typename elements_cast<U>::type>);
  }
  void add(stored_as const& rules) { set_names(names, rules); }
  template <NamesTensors F>
  void add(F const& f) {
    names.in_tree = [&f](std::string const& name) {
      return std::vector<engine::leaf_in_file>{{std::string(f(std::string_view(name))), {}}};
    };
  }
  [[nodiscard]] bool casts_to(engine::file_element e) const { return (casts >> static_cast<unsigned>(e) & 1u) != 0; }
};

/// Returns the load options among the arguments, which must outlive the result.
template <class... Given>
load_options load_options_in([[maybe_unused]] Given const&... given) {
  load_options options;
  [[maybe_unused]] auto const add = [&]<class One>(One const& one) {
    if constexpr (is_load_option<One>) options.add(one);
  };
  (add(given), ...);
  return options;
}

template <class T>
consteval auto check_load_option() {
  if constexpr (is_cast_to<T>) {
    using to = typename T::type;
    if constexpr (!engine::converts(engine::file_element::f64, engine::file_element_of<to>))
      return found<reason::cast_to_a_non_real_type<to>>{};
    else
      return found<reason::ok>{};
  } else {
    return found<reason::ok>{};
  }
}

/// `reason::ok`, or the fault of an option.
template <class... Given>
using load_options_verdict = first_fault<typename decltype(check_load_option<Given>())::type..., reason::ok>;

}  // namespace detail

}  // namespace ostraka
