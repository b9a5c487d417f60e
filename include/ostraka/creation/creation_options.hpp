// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Options among the extents of a call that makes a tensor, in any order, each for the calls that read it:
/// os::seed(1), os::between(-1, 1), os::around(0, 0.02), os::probability(0.9), os::from(1), os::by(2), os::diagonal(1).

#include <cstdint>
#include <type_traits>

#include <ostraka/blocks/create.hpp>
#include <ostraka/creation/random.hpp>

namespace ostraka {

/// A range of numbers, from the first up to the second, which is excluded.
template <class N>
struct between {
  N low;
  N high;
  constexpr between(N l, N h) : low(l), high(h) {}
};
template <class L, class H>
between(L, H) -> between<std::common_type_t<L, H>>;

/// A mean and a standard deviation.
struct around {
  double mean;
  double deviation;
  explicit constexpr around(double m, double d = 1) : mean(m), deviation(d) {}
};

/// The probability of true.
struct probability {
  double value;
  explicit constexpr probability(double p) : value(p) {}
};

/// The first number of os::iota.
template <class N>
struct from {
  N value;
  explicit constexpr from(N n) : value(n) {}
};

/// The distance between the numbers of os::iota.
template <class N>
struct by {
  N value;
  explicit constexpr by(N n) : value(n) {}
};

/// The diagonal that bounds a triangle: 0 for the main one, 1 for the one above it (a column further), −1 for the one
/// below.
struct diagonal {
  std::int64_t value;
  explicit constexpr diagonal(std::int64_t d) : value(d) {}
};

namespace detail {

/// True for one of these options. Other options specialise it beside their definitions.
template <class T>
inline constexpr bool is_option = is_one_of<T, seed, around, probability, diagonal>;
template <class N>
inline constexpr bool is_option<between<N>> = true;
template <class N>
inline constexpr bool is_option<from<N>> = true;
template <class N>
inline constexpr bool is_option<by<N>> = true;

template <class A, class B>
inline constexpr bool same_option = std::is_same_v<A, B>;
template <template <class...> class Option, class... As, class... Bs>
inline constexpr bool same_option<Option<As...>, Option<Bs...>> = true;

template <class Operation, class Given, class... Read>
consteval auto check_option() {
  if constexpr (!is_option<Given> || (same_option<Given, Read> || ...))
    return found<reason::ok>{};
  else
    return found<reason::not_an_option<Given, Operation>>{};
}

/// `reason::ok` if the operation reads all options that are given.
template <class Operation, class Read, class... Given>
struct options_given;
template <class Operation, class... Read, class... Given>
struct options_given<Operation, type_list<Read...>, Given...> {
  using verdict = first_fault<typename decltype(check_option<Operation, Given, Read...>())::type...>;
};

template <class T, class N>
constexpr void read_option(from<T>& found, from<N> const& given) {
  found = from<T>(static_cast<T>(given.value));
}
template <class T, class N>
constexpr void read_option(by<T>& found, by<N> const& given) {
  found = by<T>(static_cast<T>(given.value));
}
template <class T, class N>
constexpr void read_option(between<T>& found, between<N> const& given) {
  found = between<T>(static_cast<T>(given.low), static_cast<T>(given.high));
}

/// The last option of this kind, its numbers converted to the type of those in `found`; `found` if there is none.
template <class Option, class... Given>
constexpr Option numbers_among(Option found, [[maybe_unused]] Given const&... given) {
  [[maybe_unused]] auto const look = [&](auto const& one) {
    if constexpr (requires { read_option(found, one); }) read_option(found, one);
  };
  (look(given), ...);
  return found;
}

}  // namespace detail

}  // namespace ostraka
