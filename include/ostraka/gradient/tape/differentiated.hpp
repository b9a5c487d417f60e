// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Whether a value is one that derivatives are taken of: an os::variable. Only headers of gradient/ ask;
/// others hand their operands to detail::operate.

namespace ostraka {

/// Is it an os::variable?
template <class T>
inline constexpr bool is_variable = false;

/// Is it an os::abstract: a tensor's type without elements (foretell.hpp)? It goes where variables go.
template <class T>
inline constexpr bool is_abstract = false;

/// A tensor whose derivative is wanted.
template <class T>
concept Variable = is_variable<T>;

/// Is one of them?
template <class... Ts>
inline constexpr bool any_variable = (is_variable<Ts> || ...);

}  // namespace ostraka
