// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. A reason is a type that says why something is wrong: named after the rule, with the culprits as arguments.
/// It says its sentence (*operation: rule; remedy*) when it is completed, so that a check can hand it on and a query
/// name it without failing. docs/design/reasons.md has the idiom.

namespace ostraka {

namespace detail {

/// What a check returns: the reason that it found, not completed, so that a query may look at it.
template <class Reason>
struct found {
  using type = Reason;
};

}  // namespace detail

/// A tensor has at most this many axes (the rank of a Kokkos::View).
inline constexpr int max_rank = 8;

namespace reason {

/// Nothing is wrong.
struct ok {};

/// Completes `Reason`, which prints its sentence. In an alias rather than an expression, for which clang would complain
/// again, about an expression that is not constant.
template <class Reason>
constexpr void raise() {
  using completed [[maybe_unused]] = char[sizeof(Reason)];
}

/// Is nothing wrong? Else the reason prints its sentence, and an operation goes on with something harmless:
/// `if constexpr (reason::ok_or_raise<verdict>())`.
template <class Verdict>
constexpr bool ok_or_raise() {
  raise<Verdict>();
  return false;
}
template <>
constexpr bool ok_or_raise<ok>() {
  return true;
}

template <class... Culprits>
inline constexpr bool never = false;

}  // namespace reason
}  // namespace ostraka
