// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 1. A reason is a type that says why a call or a type is wrong. It is named after the violated rule and has the
/// culprits as arguments. It prints its sentence (*operation: rule; remedy*) when it is completed. So a check can
/// return it, and a query can name it, without an error. docs/design/reasons.md explains the idiom.

namespace ostraka {

namespace detail {

/// The result of a check: the reason that it found, not completed, so that a query can test for it.
template <class Reason>
struct found {
  using type = Reason;
};

}  // namespace detail

/// A tensor has at most this many axes (the rank of a Kokkos::View).
inline constexpr int max_rank = 8;

namespace reason {

/// The verdict that nothing is wrong.
struct ok {};

/// Completes `Reason`, which prints its sentence. An alias does this, because for an expression clang would also report
/// that it is not constant.
template <class Reason>
constexpr void raise() {
  using completed [[maybe_unused]] = char[sizeof(Reason)];
}

/// True if nothing is wrong. Otherwise the reason prints its sentence, and the operation continues with a harmless
/// result: `if constexpr (reason::ok_or_raise<verdict>())`.
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
